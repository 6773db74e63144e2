"""What the files of a model are called, as transformers saves them, in one file or in several with a list of them."""

from __future__ import annotations

CONFIG, GGUF = "config.json", ".gguf"
# of an adapter (LoRA and the like), which peft saves apart from the model that it changes
ADAPTER = "adapter_config.json"
WEIGHTS = (
    "model.safetensors",
    "model.safetensors.index.json",
    "pytorch_model.bin",
    "pytorch_model.bin.index.json",
)
