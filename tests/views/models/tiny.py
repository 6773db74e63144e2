"""Tiny random models with a tokenizer, saved as transformers saves them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

TEXT = "the cat sat on the mat"
WORDS = ("<end>", "[PAD]", "the", "cat", "sat", "on", "mat", "and", "dog", "ran", "to", "store", "red", "he", "home")
HEADS, LAYERS, WIDTH = 4, 2, 16


def save(kind: str, folder: Path, seed: int = 3) -> Path:
    """A GPT-2 with a language head, or a BERT without one, of random weights; its folder."""
    import transformers
    from tokenizers import Tokenizer, models, pre_tokenizers

    known = Tokenizer(models.WordLevel({word: place for place, word in enumerate(WORDS)}, unk_token="<end>"))
    known.pre_tokenizer = pre_tokenizers.Whitespace()
    special = {"unk_token": "<end>", "eos_token": "<end>", "bos_token": "<end>", "pad_token": "[PAD]"}
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=known, **special)
    torch.manual_seed(seed)
    model: Any
    if kind == "gpt2":
        sizes = {"n_embd": WIDTH, "n_head": HEADS, "n_layer": LAYERS, "n_positions": 32}
        marks = {"bos_token_id": 0, "eos_token_id": 0}
        model = transformers.GPT2LMHeadModel(transformers.GPT2Config(vocab_size=len(WORDS), **sizes, **marks))
    else:
        sizes = {"hidden_size": WIDTH, "num_attention_heads": HEADS, "num_hidden_layers": LAYERS}
        config = transformers.BertConfig(
            vocab_size=len(WORDS), intermediate_size=32, max_position_embeddings=32, **sizes
        )
        model = transformers.BertModel(config)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def probabilities(folder: Path, text: str, layer: int | None = None, head: int = 0) -> torch.Tensor:
    """Next-token probabilities of a saved GPT-2 at every place, [n, vocabulary], float64.

    layer: with the slice of its ``head`` set to zero before W_O.
    """
    import transformers

    model = transformers.GPT2LMHeadModel.from_pretrained(folder).eval()
    size = WIDTH // HEADS

    def zero(module: torch.nn.Module, args: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
        joined = args[0].clone()
        joined[..., head * size : (head + 1) * size] = 0
        return (joined, *args[1:])

    if layer is not None:
        model.transformer.h[layer].attn.c_proj.register_forward_pre_hook(zero)
    ids = torch.tensor([[WORDS.index(word) for word in text.split()]])
    with torch.no_grad():
        return torch.softmax(model(ids).logits[0].double(), dim=-1)
