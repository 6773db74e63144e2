"""Where the files of a model lie."""

from __future__ import annotations

import errno
from dataclasses import dataclass
from pathlib import Path

from attn_gui.compute.capture.errors import CaptureError
from attn_gui.model.model_files import ADAPTER, CONFIG, GGUF, WEIGHTS

_LONGEST = 300
_LOCAL = "Nothing is fetched: only files on this computer are opened."


@dataclass(frozen=True)
class ModelFiles:
    """The folder of a model, and the name of its GGUF file where it is one."""

    folder: Path
    gguf: str | None

    @property
    def path(self) -> Path:
        """What is opened: the folder, or the GGUF file."""
        return self.folder if self.gguf is None else self.folder / self.gguf

    @property
    def weight_bytes(self) -> int:
        """The size of the weights, in bytes, as they lie there."""
        if self.gguf is not None:
            return self.path.stat().st_size
        return max(sum(file.stat().st_size for file in self.folder.glob(f"*{ending}")) for ending in _ENDINGS)


_ENDINGS = (".safetensors", ".bin")


def model_files(path: Path) -> ModelFiles:
    """The model at ``path``: its folder, one of the files in it, or a GGUF file; raises CaptureError."""
    path = path.absolute()
    try:
        if path.is_dir():
            return _in_folder(path)
        if not path.is_file():
            raise CaptureError(f"{_named(path)} is neither a folder nor a file. {_LOCAL}")
        if path.suffix.casefold() == GGUF:
            return ModelFiles(path.parent, path.name)
        found = _in_folder(path.parent)
    except OSError as error:
        long = error.errno == errno.ENAMETOOLONG
        why = "its name is longer than any that there can be" if long else (error.strerror or "the system refuses it")
        raise CaptureError(f"{_named(path)} cannot be read: {why}") from error
    if path.suffix.casefold() in _ENDINGS and not _is_part(path.name):
        raise CaptureError(
            f"{path.name} is not what a model's weights are called ({WEIGHTS[0]} or {WEIGHTS[2]}), so the "
            f"{CONFIG} beside it may be another model's. Its tensors can be opened with Open tensors"
        )
    return found


def _named(path: Path) -> str:
    """``path`` as it can be shown: a path that is nowhere may be anything."""
    text = "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in str(path))
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _is_part(name: str) -> bool:
    """Whether a weight file is the whole model or one of several (model-00001-of-00002.safetensors)."""
    return name in WEIGHTS or (name.startswith(("model-", "pytorch_model-")) and "-of-" in name)


def _in_folder(folder: Path) -> ModelFiles:
    if (folder / CONFIG).is_file():
        if not any((folder / name).is_file() for name in WEIGHTS):
            raise CaptureError(f"{folder} has a {CONFIG} and no weights ({WEIGHTS[0]} or {WEIGHTS[2]}). {_LOCAL}")
        return ModelFiles(folder, None)
    files = sorted(folder.glob(f"*{GGUF}"))
    if len(files) == 1:
        return ModelFiles(folder, files[0].name)
    if files:
        raise CaptureError(f"{folder} has {len(files)} GGUF files: open one of them, such as {files[0].name}")
    if (folder / ADAPTER).is_file():
        raise CaptureError(
            f"{folder} is an adapter ({ADAPTER}) without the model that it changes: save both as one, as peft's "
            "merge_and_unload() makes them"
        )
    raise CaptureError(
        f"{folder} has no {CONFIG}: a model is a folder with {CONFIG}, weights ({WEIGHTS[0]} or {WEIGHTS[2]}) and "
        f"the files of its tokenizer, or a GGUF file. {_LOCAL}"
    )
