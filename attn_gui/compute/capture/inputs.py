"""What a model is called with, and which tokens its attentions are between."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from attn_gui.compute.capture.errors import CaptureError
from attn_gui.compute.capture.naming import Stack
from attn_gui.compute.capture.texts import Encoded, encoded, texts_in
from attn_gui.model.tokens import TokenSequence


@dataclass(frozen=True, eq=False)
class Inputs:
    """Texts as a model reads them.

    source: what the model reads, the encoder of an encoder-decoder; target: what its decoder reads, else None.
    arguments: what the model is called with. expected: how many attentions a pass should have, for progress.
    encoder: the names of the modules inside the encoder of an encoder-decoder.
    """

    source: Encoded
    target: Encoded | None
    arguments: dict[str, Any]
    expected: int
    encoder: frozenset[str]

    def stack(self, module: str, cross: bool) -> Stack:
        """Which of the model's stacks of layers an attention belongs to."""
        if self.target is None:
            return "alone"
        if cross:
            return "cross"
        return "encoder" if module in self.encoder else "decoder"

    def tokens(self, stack: Stack) -> tuple[Sequence[TokenSequence], Sequence[TokenSequence] | None]:
        """The tokens of a stack's queries, and those of its keys where they are others."""
        if self.target is None or stack == "encoder":
            return self.source.sequences, None
        return self.target.sequences, self.source.sequences if stack == "cross" else None


def inputs_of(model: Any, tokenizer: Any, text: str | Sequence[str], target: str | Sequence[str] | None) -> Inputs:
    """``text``, and ``target`` for a decoder, as ``model`` reads them.

    Without a target a decoder reads the text itself; either way one place to the right, after the token that it starts
    with. Raises CaptureError where the model reads no text, has no decoder for a target, or the texts do not do.
    """
    if model.main_input_name != "input_ids":
        raise CaptureError(f"{type(model).__name__} reads {model.main_input_name} and no text")
    config, device = model.config.get_text_config(), model.device
    limit = getattr(config, "max_position_embeddings", None)
    source = encoded(tokenizer, text, device, limit)
    arguments: dict[str, Any] = {"input_ids": source.ids, "attention_mask": source.attended}
    if "use_cache" in inspect.signature(model.forward).parameters:
        arguments["use_cache"] = False
    layers = int(config.num_hidden_layers)
    if not getattr(model.config, "is_encoder_decoder", False):
        if target is not None:
            raise CaptureError(f"{type(model).__name__} has no decoder that could read a target text")
        return Inputs(source, None, arguments, layers, frozenset())
    read = _read_by_decoder(model, tokenizer, source, target, device, limit)
    arguments |= {"decoder_input_ids": read.ids, "decoder_attention_mask": read.attended}
    inside = {module for _, module in model.get_encoder().named_modules()}
    encoder = frozenset(name for name, module in model.named_modules() if module in inside)
    decoder_layers = next(
        (int(getattr(config, name)) for name in ("decoder_layers", "num_decoder_layers") if hasattr(config, name)),
        layers,
    )
    return Inputs(source, read, arguments, layers + 2 * decoder_layers, encoder)


def _read_by_decoder(
    model: Any,
    tokenizer: Any,
    source: Encoded,
    target: str | Sequence[str] | None,
    device: torch.device,
    limit: int | None,
) -> Encoded:
    if target is None:
        written = source
    else:
        batch = texts_in(target)
        if len(batch) != len(source.texts):
            raise CaptureError(f"There are {len(source.texts)} texts and {len(batch)} target texts: each needs one")
        written = encoded(tokenizer, batch, device, limit)
    start = _started_with(model)
    if start is None:
        raise CaptureError(f"{type(model).__name__} does not say which token its decoder starts with")
    return written.shifted(start, str(tokenizer.convert_ids_to_tokens(start)))


def _started_with(model: Any) -> int | None:
    """The token that a decoder starts with; None where nothing says.

    A config has the marks that its architecture knows of: T5's has no bos_token_id.
    """
    said = (model.config, getattr(model, "generation_config", None))
    names = ("decoder_start_token_id", "bos_token_id", "pad_token_id")
    marks = (getattr(where, name, None) for name in names for where in said)
    return next((int(mark) for mark in marks if mark is not None), None)
