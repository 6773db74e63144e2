"""Models on this computer, opened by transformers: a folder or a file, and nothing that is not there."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch

from attn_gui.compute import budget
from attn_gui.compute.capture.declaring import beating, check_declared
from attn_gui.compute.capture.errors import CaptureError
from attn_gui.compute.capture.gguf_reading import read_once
from attn_gui.compute.capture.interface import KNOWN, check_architecture, refusal
from attn_gui.compute.capture.left_out import layers_left_out
from attn_gui.compute.capture.library import library
from attn_gui.compute.capture.loading import heard
from attn_gui.compute.capture.places import ModelFiles, model_files
from attn_gui.compute.capture.reasons import misfit, reason
from attn_gui.compute.capture.stepping import in_steps
from attn_gui.model.errors import TooLarge
from attn_gui.model.model_files import ADAPTER

# the parts done when transformers is there, and when the tokenizer is
_IMPORTED, _READ = 0.1, 0.3
# a number of a GGUF file takes 4 to 8 bits there, and 32 once it is opened
_GGUF_GROWTH = 6
# what a pooler makes of the last layer's output no attention reads
_NEEDLESS = "pooler"
_TOKENIZER = "tokenizer.json"
_SUMMED = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


@dataclass(frozen=True, eq=False)
class OpenedModel:
    """A model of transformers, ready to run, and its tokenizer.

    path: its folder, or the GGUF file, absolute. architecture: the name of its class.
    is_encoder_decoder: whether its decoder reads a text of its own (the target). has_guesses: whether it has a
    language head, so that its output is logits over the vocabulary. left_out: sentences on layers whose weights were
    not used, and on an adapter; "" where there are none.
    """

    model: Any
    tokenizer: Any
    path: Path
    architecture: str
    is_encoder_decoder: bool
    has_guesses: bool
    left_out: str = ""


def open_model(path: str | Path, report: Callable[[float], None] = lambda part: None) -> OpenedModel:
    """Open the model at ``path``: a folder with config.json and weights (safetensors, or pytorch_model.bin, which is
    read by weights_only and runs no code), one of the files in it, or a GGUF file.

    ``report`` is told the part done, 0 to 1, and may raise to stop. Nothing is fetched: files on this computer only.
    Raises CaptureError, which says what is missing, also for an architecture whose attentions cannot be captured;
    TooLarge where the weights would not fit in memory.
    """
    files = model_files(Path(path))
    library()
    report(_IMPORTED)
    if files.gguf is None:
        return _opened(files, {}, report)
    _check_gguf(files)
    with read_once(lambda: report(_IMPORTED)):
        return _opened(files, {"gguf_file": files.gguf}, report)


def open_steps(path: str | Path) -> Generator[float, None, OpenedModel]:
    """As :func:`open_model`, in short steps: yields the part done, 0 to 1. Closing it stops at the next weight."""
    return in_steps(lambda report: open_model(path, report))


def _opened(files: ModelFiles, where: dict[str, str], report: Callable[[float], None]) -> OpenedModel:
    transformers = library()
    local: dict[str, Any] = {"local_files_only": True, **where}
    read_config = partial(transformers.AutoConfig.from_pretrained, files.folder, trust_remote_code=False, **local)
    read_tokenizer = partial(transformers.AutoTokenizer.from_pretrained, files.folder, trust_remote_code=False, **local)
    config = _read(files, "its config", read_config)
    if config._attn_implementation not in (None, *KNOWN):
        config._attn_implementation = None  # flash attention, which some folders ask for, is not needed to look
    kind = _class_of(config)
    if (refused := refusal(kind)) is not None:
        raise CaptureError(refused)
    _check_memory(files)
    _read(files, "its weights", lambda: check_declared(kind, config, files, lambda: report(_IMPORTED)))
    tokenizer = _read(files, "its tokenizer", read_tokenizer)
    _check_vocabulary(files, tokenizer)
    report(_READ)
    done = _READ

    def on_loading(part: float) -> None:
        nonlocal done
        done = _READ + (1 - _READ) * part
        report(done)

    with heard(on_loading), beating(lambda: report(done)):
        load = partial(
            kind.from_pretrained,
            files.folder,
            config=config,
            weights_only=True,
            output_loading_info=True,
            ignore_mismatched_sizes=True,  # they are refused below, in words
            **local,
        )
        model, info = _read(files, "its weights", load)
    if info["mismatched_keys"]:
        raise CaptureError(
            f"{files.path} cannot be opened as a model: its weights do not fit its config. "
            f"{misfit(info['mismatched_keys'])}"
        )
    missing = sorted(name for name in info["missing_keys"] if _NEEDLESS not in name)
    if missing:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise CaptureError(f"{files.path} lacks weights of {kind.__name__}: {missing[0]}{more}")
    check_architecture(model)
    _check_numbers(files, model, lambda: report(done))
    model.eval()
    model.name_or_path = str(files.path)
    left_out = (
        layers_left_out(info["unexpected_keys"], (name for name, _ in model.named_parameters())),
        _adapter_left_out(files, model),
    )
    return OpenedModel(
        model,
        tokenizer,
        files.path,
        type(model).__name__,
        bool(getattr(model.config, "is_encoder_decoder", False)),
        model.get_output_embeddings() is not None,
        ". ".join(filter(None, left_out)),
    )


def _adapter_left_out(files: ModelFiles, model: Any) -> str:
    """A sentence on an adapter in the folder, which transformers takes in where peft is there; "" for none."""
    there = files.gguf is None and (files.folder / ADAPTER).is_file()
    if not there or getattr(model, "_hf_peft_config_loaded", False):
        return ""
    return f"The adapter beside it ({ADAPTER}) was not used: save both as one, as peft's merge_and_unload() makes them"


def _read(files: ModelFiles, what: str, read: Callable[[], Any]) -> Any:
    """What ``read`` gives; raises CaptureError in place of whatever it raises."""
    try:
        return read()
    except (CaptureError, MemoryError):
        raise
    except Exception as error:  # the library and the formats below it raise all kinds
        why = reason(what, error, gguf=files.gguf is not None)
        raise CaptureError(f"{files.path} cannot be opened as a model: {what} cannot be read. {why}") from error


def _class_of(config: Any) -> Any:
    """The class that the config names, as far as it is one of transformers' own; else what its kind of model has."""
    transformers = library()
    for name in getattr(config, "architectures", None) or ():
        kind = getattr(transformers, name, None) if isinstance(name, str) else None
        if isinstance(kind, type) and issubclass(kind, transformers.PreTrainedModel):
            return kind
    # GGUF files name no class, and are of models that go on with a text
    for mapped in (transformers.MODEL_FOR_CAUSAL_LM_MAPPING, transformers.MODEL_MAPPING):
        if type(config) in mapped and (mapped is transformers.MODEL_MAPPING or not config.architectures):
            kind = mapped[type(config)]
            return kind[0] if isinstance(kind, tuple) else kind
    raise CaptureError(f"{config.model_type} is no model that reads text, or one that transformers does not know")


def _check_numbers(files: ModelFiles, model: Any, beat: Callable[[], None]) -> None:
    """Raise CaptureError for weights that are NaN, of which nothing can be shown."""
    for name, weight in model.named_parameters():
        beat()
        if weight.dtype in _SUMMED and math.isnan(_sum(weight.detach())) and bool(weight.isnan().any()):
            raise CaptureError(f"{files.path} cannot be opened as a model: its weights hold NaN, in {name}")


def _sum(weight: torch.Tensor) -> float:
    """NaN where any number is; takes no memory beside it."""
    if weight.dtype is torch.bfloat16:
        return float(weight.sum(dtype=torch.float32))
    # torch has its threads wait for one another at each of many small weights
    with np.errstate(over="ignore", invalid="ignore"):
        return float(np.add.reduce(weight.numpy(), axis=None, dtype=np.float32))


def _check_vocabulary(files: ModelFiles, tokenizer: Any) -> None:
    """transformers makes a tokenizer that knows no word where the files of one are missing."""
    names = {*tokenizer.vocab_files_names.values()}
    if files.gguf is None and names and not any((files.folder / name).is_file() for name in (*names, _TOKENIZER)):
        raise CaptureError(
            f"{files.folder} lacks the files of its tokenizer ({_TOKENIZER}, {', '.join(sorted(names))})"
        )


def _check_gguf(files: ModelFiles) -> None:
    if find_spec("gguf") is None:
        raise CaptureError(
            f"Opening {files.gguf} needs the package gguf, which is not installed: pip install 'attn_gui[models]'"
        )
    with files.path.open("rb") as file:
        if file.read(4) != b"GGUF":
            raise CaptureError(f"{files.path} is not a GGUF file: it does not begin with GGUF")


def _check_memory(files: ModelFiles) -> None:
    need = files.weight_bytes * (1 if files.gguf is None else _GGUF_GROWTH)
    have = int(budget.available(torch.device("cpu")) / budget.SHARE)
    if need > have:
        raise TooLarge(f"Opening {files.path.name}", need, have)
