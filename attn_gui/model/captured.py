"""CapturedModel: the model that the experiments of a session were captured from, and what it was given to read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from attn_gui.model.errors import ExperimentError


@dataclass(frozen=True)
class CapturedModel:
    """Plain values, kept in sessions.

    path: of the model's folder or file, absolute; what else it is called where a script handed it over, perhaps "".
    architecture: the name of its class. implementation: which of transformers' attentions ran, "sdpa" or "eager".
    texts: what it read, one or a batch of them. targets: what the decoder of an encoder-decoder read, else empty.
    ids, target_ids: their token ids with padding, one row a text. special, target_special: which of these are special
    tokens (of the tokenizer: [CLS], [PAD], <s>). pad, target_pad: which are padding, that no token attends to.
    """

    path: str
    architecture: str
    implementation: str = ""
    texts: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    ids: tuple[tuple[int, ...], ...] = ()
    special: tuple[tuple[bool, ...], ...] = ()
    pad: tuple[tuple[bool, ...], ...] = ()
    target_ids: tuple[tuple[int, ...], ...] = ()
    target_special: tuple[tuple[bool, ...], ...] = ()
    target_pad: tuple[tuple[bool, ...], ...] = ()

    def to_plain(self) -> dict[str, Any]:
        """As values that JSON has."""
        return asdict(self)

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> CapturedModel:
        """Back from :meth:`to_plain`, read from a file; raises ExperimentError, naming the field."""
        if unknown := set(plain) - {field.name for field in fields(cls)}:
            raise ExperimentError("model", "the fields of a captured model", ", ".join(sorted(unknown)))
        values: dict[str, Any] = {}
        for name, value in plain.items():
            if name in _TEXTS:
                values[name] = _checked(name, value, str)
            elif name in _ROWS:
                kind = int if name.endswith("ids") else bool
                values[name] = tuple(_checked(name, row, kind) for row in _checked(name, value, list))
            else:
                values[name] = _checked(name, [value], str)[0]
        missing = {"path", "architecture"} - set(values)
        if missing:
            raise ExperimentError("model", "a path and an architecture", f"no {min(missing)}")
        return cls(**values)


_TEXTS = ("texts", "targets")
_ROWS = ("ids", "special", "pad", "target_ids", "target_special", "target_pad")


def _checked(name: str, values: Any, kind: type) -> tuple[Any, ...]:
    if not isinstance(values, list | tuple):
        raise ExperimentError(f"model {name}", "a list", type(values).__name__)
    for value in values:
        if not (isinstance(value, list | tuple) if kind is list else type(value) is kind):
            raise ExperimentError(f"model {name}", f"{_NAMES[kind]} throughout", repr(value)[:100])
    return tuple(values)


_NAMES = {str: "text", int: "whole numbers", bool: "true or false", list: "lists"}
