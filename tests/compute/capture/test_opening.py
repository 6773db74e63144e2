"""Models are opened from folders and files on this computer; whatever is wrong with these is said in words."""

from __future__ import annotations

import json
import os
import pickle  # noqa: TID251 - to write what must not be unpickled
import shutil
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from attn_gui import CaptureError, capture, trace
from attn_gui.compute.capture import opening
from attn_gui.compute.capture.opening import OpenedModel, open_model, open_steps
from attn_gui.model.errors import TooLarge
from tests.compute.capture.agreeing import finished


@pytest.fixture
def folder(gpt2_folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(gpt2_folder, tmp_path / "model"))


def first_weights(opened: OpenedModel) -> np.ndarray[Any, Any]:
    return trace(capture(opened.model, opened.tokenizer, "The cat").experiments[0].experiment).stage("N")


def test_a_folder_and_any_file_of_it_are_the_same_model(folder: Path) -> None:
    expected = first_weights(open_model(folder))
    for name in ("model.safetensors", "config.json", "tokenizer.json"):
        opened = open_model(folder / name)
        assert opened.path == folder
        assert np.array_equal(first_weights(opened), expected)
    assert (opened.architecture, opened.has_guesses, opened.is_encoder_decoder) == ("GPT2LMHeadModel", True, False)
    assert not opened.model.training


def test_pytorch_model_bin_is_the_same_model(folder: Path) -> None:
    expected = first_weights(open_model(folder))
    model = transformers.GPT2LMHeadModel.from_pretrained(folder)
    (folder / "model.safetensors").unlink()
    torch.save(model.state_dict(), folder / "pytorch_model.bin")
    assert np.array_equal(first_weights(open_model(folder / "pytorch_model.bin")), expected)


class Trap:
    """Whoever unpickles it makes a file."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.mark),)


def test_code_in_a_pickle_is_not_run(folder: Path, tmp_path: Path) -> None:
    (folder / "model.safetensors").unlink()
    trap = Trap(tmp_path / "ran")
    with zipfile.ZipFile(folder / "pytorch_model.bin", "w") as file:
        file.writestr("archive/data.pkl", pickle.dumps({"transformer.wte.weight": trap}))
        file.writestr("archive/version", "3")
    with pytest.raises(CaptureError, match="its weights cannot be read"):
        open_model(folder)
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps({"transformer.wte.weight": trap}))
    with pytest.raises(CaptureError, match="its weights cannot be read"):
        open_model(folder)
    assert not trap.mark.exists()


def test_code_beside_a_model_is_not_run(folder: Path, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    (folder / "own.py").write_text(f"import os\nos.mkdir({str(mark)!r})\nclass Own: pass\nclass OwnConfig: pass\n")
    for kind in ("gpt2", "own_kind"):
        config = json.loads((folder / "config.json").read_text())
        auto = {"AutoConfig": "own.OwnConfig", "AutoModel": "own.Own", "AutoModelForCausalLM": "own.Own"}
        (folder / "config.json").write_text(json.dumps(config | {"model_type": kind, "auto_map": auto}))
        with suppress(CaptureError):
            open_model(folder)
        assert not mark.exists()


def spoil(name: str, change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    return lambda folder: (folder / name).write_bytes(change((folder / name).read_bytes())) and None


def without(*names: str) -> Callable[[Path], None]:
    def remove(folder: Path) -> None:
        for name in names:
            (folder / name).unlink()

    return remove


def reconfigured(**values: Any) -> Callable[[Path], None]:
    return spoil("config.json", lambda old: json.dumps(json.loads(old) | values).encode())


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (without("config.json"), "has no config.json"),
        (without("model.safetensors"), "has a config.json and no weights"),
        (without("tokenizer.json", "tokenizer_config.json"), "lacks the files of its tokenizer"),
        (spoil("config.json", lambda old: old[:20]), "its config cannot be read"),
        (spoil("config.json", lambda old: b"[]"), "its config cannot be read"),
        (spoil("model.safetensors", lambda old: old[:-5000]), "its weights cannot be read"),
        (spoil("model.safetensors", lambda old: b"\xff" * 200), "its weights cannot be read"),
        (spoil("tokenizer.json", lambda old: old[:50]), "its tokenizer cannot be read"),
        (reconfigured(model_type="unheard_of", architectures=["Unheard"]), "its config cannot be read"),
        (reconfigured(n_layer=4), "lacks weights of GPT2LMHeadModel"),
        (reconfigured(n_embd=64), "its weights cannot be read"),
        (reconfigured(model_type="bloom", architectures=["BloomForCausalLM"]), "BloomForCausalLM computes its"),
    ],
)
def test_damaged_models_are_refused_in_words(folder: Path, damage: Callable[[Path], None], said: str) -> None:
    damage(folder)
    with pytest.raises(CaptureError, match=said):
        open_model(folder)


def test_classes_that_are_no_models_are_not_called(folder: Path) -> None:
    reconfigured(architectures=["pipeline", "GPT2Config"])(folder)
    assert open_model(folder).architecture == "GPT2Model"


@pytest.mark.parametrize("name", ["gone", "gone.gguf"])
def test_what_is_not_there_is_not_fetched(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("socket.socket.connect", lambda *given: pytest.fail("asked the network"))
    with pytest.raises(CaptureError, match=r"is neither a folder nor a file\. Nothing is fetched"):
        open_model(tmp_path / name)


def test_opening_asks_no_network(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("connect", "connect_ex"):
        monkeypatch.setattr(f"socket.socket.{name}", lambda *given: pytest.fail("asked the network"))
    monkeypatch.setattr("socket.getaddrinfo", lambda *given, **options: pytest.fail("asked the network"))
    opened = open_model(folder)
    assert capture(opened.model, opened.tokenizer, "The cat").experiments


def test_weights_by_another_name_are_not_taken_for_the_folders(folder: Path) -> None:
    shutil.copy(folder / "model.safetensors", folder / "other.safetensors")
    with pytest.raises(CaptureError, match=r"other\.safetensors is not what a model's weights are called"):
        open_model(folder / "other.safetensors")


def test_gguf_files_are_looked_at_first(tmp_path: Path) -> None:
    (tmp_path / "a.gguf").write_bytes(b"GGML" + bytes(100))
    with pytest.raises(CaptureError, match="does not begin with GGUF"):
        open_model(tmp_path)
    (tmp_path / "b.gguf").write_bytes(b"GGUF" + b"\xff" * 100)
    with pytest.raises(CaptureError, match="has 2 GGUF files: open one of them"):
        open_model(tmp_path)
    with pytest.raises(CaptureError, match="its config cannot be read"):
        open_model(tmp_path / "b.gguf")


def test_more_than_the_memory_is_refused_first(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening.budget, "available", lambda device: 1000)
    with pytest.raises(TooLarge, match="Opening model needs"):
        open_model(folder)


def test_opening_is_a_job(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parts: list[float] = []
    open_model(folder, parts.append)
    assert parts == sorted(parts) and parts[-1] == 1 and len(parts) > 20
    assert finished(open_steps(folder)).architecture == "GPT2LMHeadModel"

    def stop(part: float) -> None:
        if part > 0.5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        open_model(folder, stop)
