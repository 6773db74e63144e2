"""What a session is called where its experiments are called after the layers of a model, which every model has."""

from __future__ import annotations

import re
from pathlib import PurePosixPath, PureWindowsPath

from attn_gui.model.captured import CapturedModel
from attn_gui.model.session import Session
from attn_gui.model.text import title_of

# files of a model's folder, which every folder calls alike
_EVERY_MODEL = re.compile(r"(pytorch_)?model(-\d+-of-\d+)?\.(safetensors|bin)(\.index\.json)?|config\.json|model")
# characters of a text, of which there may be very many
READ = 400


def session_title(session: Session) -> str:
    """The model and the text that it read, the file that several experiments come from, or the experiment's own name.

    Of several texts it is the one whose attention is in sight.
    """
    named, model = session.named, session.model
    if model is not None and named.place is not None:
        batch = named.place.batch or 0
        text = title_of(model.texts[batch][:READ]) if batch < len(model.texts) else ""
        return f"{model_name(model)} · {text}" if text else model_name(model)
    if len(session.experiments) > 1 and named.origin is not None:
        return _last(named.origin.path)
    return named.name


def model_name(model: CapturedModel) -> str:
    """What a person calls the model: the end of its path, without what every model file or store of models has."""
    path = model.path.replace("\\", "/").rstrip("/")
    # a store of models keeps them as models--owner--name/snapshots/digest
    stored = re.search(r"(?:^|/)models--([^/]+)/snapshots/[^/]+", path)
    name = stored[1].rpartition("--")[2] if stored else _last(path)
    if _EVERY_MODEL.fullmatch(name):
        name = _last(path.rpartition("/")[0])
    return re.sub(r"\.(safetensors|gguf|bin)$", "", name) or model.architecture


def _last(path: str) -> str:
    """The last part of a path of whichever system."""
    return (PureWindowsPath(path) if "\\" in path else PurePosixPath(path)).name
