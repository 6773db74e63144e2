"""Opening a file as weights: what is in it, and then the numbers of one module."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from attn_gui.files.checkpoint import ENDINGS, safetensors_file, torch_file
from attn_gui.files.checkpoint.declared import HEADS, Contents
from attn_gui.files.checkpoint.modules import AttentionModule, modules_in, weights_from_state
from attn_gui.files.errors import FileError
from attn_gui.files.regular import size_of_file
from attn_gui.model.errors import ExperimentError
from attn_gui.model.opened_weights import OpenedWeights

CONFIG = "config.json"
MAX_CONFIG_BYTES = 1 << 20


@dataclass(frozen=True)
class Checkpoint:
    """A file that was looked at: its tensors, and the attention modules among them, at least one.

    said_heads: the number of heads that the file, or config.json beside it, gives; None where neither does.
    """

    path: Path
    contents: Contents
    modules: Sequence[AttentionModule]
    said_heads: int | None

    def heads_of(self, module: AttentionModule) -> int:
        """The number of heads to begin with: what was said if it fits, otherwise the smallest that does."""
        counts = module.heads
        return self.said_heads if self.said_heads in counts and self.said_heads is not None else counts[0]


def look(path: str | Path) -> Checkpoint:
    """What there is in ``path``; no number is read, and torch is not needed. Raises FileError."""
    path = Path(path)
    contents = (safetensors_file if _is_safetensors(path) else torch_file).look(path)
    try:
        modules, said_heads = modules_in(contents.tensors), contents.heads
    except ExperimentError as error:
        raise _refused(path, error) from error
    return Checkpoint(path, contents, modules, said_heads or _heads_of_config(path))


def load(checkpoint: Checkpoint, module: AttentionModule, heads: int) -> OpenedWeights:
    """The numbers of one of the modules; raises FileError."""
    path = checkpoint.path
    state = (safetensors_file if _is_safetensors(path) else torch_file).load(path, module.names)
    arrays = {name.removeprefix(module.prefix): tensor.array for name, tensor in state.items()}
    try:
        weights, appended = weights_from_state(arrays, heads)
    except ExperimentError as error:
        raise _refused(path, error) from error
    return OpenedWeights(weights, heads, appended)


def open_weights(path: str | Path, module: str | None = None, heads: int | None = None) -> OpenedWeights:
    """The attention weights of a state dict in ``path`` (``.pt``, ``.pth``, ``.safetensors``).

    module: its place in the model (``layers.3.self_attn``), where there are several. heads: where the file does not
    say; 1, or the smallest number that fits. Raises FileError.
    """
    checkpoint = look(path)
    if module is None and len(checkpoint.modules) > 1:
        names = ", ".join(each.name or "(the model itself)" for each in checkpoint.modules)
        raise FileError(path, "", f"one module to be named: {names}", "none")
    chosen = [each for each in checkpoint.modules if module is None or each.name == module.rstrip(".")]
    if not chosen:
        raise FileError(path, "", " or ".join(each.name for each in checkpoint.modules), f"{module!r}")
    return load(checkpoint, chosen[0], checkpoint.heads_of(chosen[0]) if heads is None else heads)


def _is_safetensors(path: Path) -> bool:
    return path.suffix.casefold() == ENDINGS[-1]


def _refused(path: Path, error: ExperimentError) -> FileError:
    where = "" if error.field == "tensors" else error.field
    return FileError(path, where, error.expected, error.received)


def _heads_of_config(path: Path) -> int | None:
    """``num_attention_heads`` of a config.json beside the file. One that is no such thing says nothing."""
    beside = path.parent / CONFIG
    with suppress(FileError, OSError, ValueError, RecursionError):
        if size_of_file(beside) <= MAX_CONFIG_BYTES:
            config = json.loads(beside.read_bytes())
            for name in HEADS:
                if isinstance(config, dict) and type(config.get(name)) is int:
                    return int(config[name])
    return None
