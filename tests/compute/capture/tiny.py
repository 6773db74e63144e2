"""Small random models of transformers, made and saved by the tests: one of each way to attend."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

SENTENCES = (
    "The animal didn't cross the street because it was too tired",
    "The cat that chased the mouse was hungry",
    "It's so sunny outside! A café 🙂",
)
SIZES = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 3}
HEADS = {"num_attention_heads": 4, "head_dim": 8}
EXPERTS = {"num_local_experts": 2, "num_experts_per_tok": 1}


@dataclass(frozen=True)
class Tiny:
    """A kind of model: its class, its config's class and what that is given; ``dtype`` of its numbers."""

    kind: str
    config: str
    settings: dict[str, Any]
    dtype: torch.dtype = torch.float32


TINY = {
    "bert": Tiny("BertModel", "BertConfig", SIZES | {"num_attention_heads": 4}),
    # Conv1D, and one projection for Q, K and V
    "gpt2": Tiny("GPT2LMHeadModel", "GPT2Config", {"n_embd": 32, "n_layer": 3, "n_head": 4, "n_positions": 64}),
    # fused and rotary in part
    "gpt_neox": Tiny("GPTNeoXForCausalLM", "GPTNeoXConfig", SIZES | {"num_attention_heads": 4}),
    # grouped-query, and a window of 4 keys
    "mistral": Tiny(
        "MistralForCausalLM", "MistralConfig", SIZES | HEADS | {"num_key_value_heads": 2, "sliding_window": 4}
    ),
    # softcap, and windows in every second layer
    "gemma2": Tiny(
        "Gemma2ForCausalLM",
        "Gemma2Config",
        SIZES | HEADS | {"num_key_value_heads": 1, "sliding_window": 4, "attn_logit_softcapping": 0.05},
    ),
    # sinks
    "gpt_oss": Tiny(
        "GptOssForCausalLM",
        "GptOssConfig",
        SIZES
        | HEADS
        | {"num_key_value_heads": 2, "sliding_window": 4, "num_local_experts": 2, "num_experts_per_tok": 1},
    ),
    # windows to both sides
    "modernbert": Tiny(
        "ModernBertModel",
        "ModernBertConfig",
        SIZES | {"num_attention_heads": 4, "local_attention": 4, "global_attn_every_n_layers": 2, "cls_token_id": 1},
    ),
    # one layer that runs three times
    "albert": Tiny("AlbertModel", "AlbertConfig", SIZES | {"num_attention_heads": 4, "embedding_size": 16}),
    # position_bias, shared by the layers; no scale
    "t5": Tiny(
        "T5ForConditionalGeneration",
        "T5Config",
        {"d_model": 32, "d_kv": 8, "d_ff": 48, "num_layers": 2, "num_heads": 4, "relative_attention_num_buckets": 8},
    ),
    "bart": Tiny(
        "BartForConditionalGeneration",
        "BartConfig",
        {
            "d_model": 32,
            "encoder_layers": 2,
            "decoder_layers": 3,
            "encoder_attention_heads": 4,
            "decoder_attention_heads": 2,
            "encoder_ffn_dim": 48,
            "decoder_ffn_dim": 48,
            "max_position_embeddings": 64,
        },
    ),
}
HALF = {
    name: Tiny("LlamaForCausalLM", "LlamaConfig", SIZES | HEADS | {"num_key_value_heads": 2}, getattr(torch, name))
    for name in ("bfloat16", "float16")
}


def save(tiny: Tiny, folder: Path) -> Path:
    """Make the model with its tokenizer in ``folder``, the same numbers every time."""
    tokenizer = byte_level_tokenizer()
    tokenizer.save_pretrained(folder)
    special = {f"{name}_token_id": getattr(tokenizer, f"{name}_token_id") for name in ("bos", "eos", "pad")}
    settings = {"vocab_size": len(tokenizer), "decoder_start_token_id": tokenizer.bos_token_id} | special
    config = getattr(transformers, tiny.config)(**(settings | tiny.settings))
    torch.manual_seed(7)
    model = getattr(transformers, tiny.kind)(config).to(tiny.dtype)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "norm" not in name.lower():
                # larger than models begin with, so that weights are far from even
                parameter.normal_(0.0, 0.3)
    model.save_pretrained(folder)
    return folder


def byte_level_tokenizer() -> Any:
    """As GPT-2's, with <s> and </s> around each text."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    special = ["<s>", "</s>", "<pad>"]
    trainer = trainers.BpeTrainer(
        vocab_size=330,
        special_tokens=special,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(SENTENCES, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 1)]
    )
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", pad_token="<pad>"
    )
