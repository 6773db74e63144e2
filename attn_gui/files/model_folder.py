"""Whether a folder or a file is a whole model, which attends to a text, by the names of what lies there."""

from __future__ import annotations

from pathlib import Path

from attn_gui.files.regular import is_folder
from attn_gui.model.model_files import CONFIG, GGUF, WEIGHTS


def is_model(path: Path) -> bool:
    """Whether ``path`` is the folder of a model (config.json and weights, or one GGUF file), its config, or a GGUF
    file; False for whatever cannot be looked at.
    """
    try:
        if is_folder(path):
            return _in_folder(path)
        if path.suffix.casefold() == GGUF:
            return path.is_file()
        return path.name == CONFIG and path.is_file() and _in_folder(path.parent)
    except OSError:
        return False


def _in_folder(folder: Path) -> bool:
    if (folder / CONFIG).is_file():
        return any((folder / name).is_file() for name in WEIGHTS)
    return len(list(folder.glob(f"*{GGUF}"))) == 1
