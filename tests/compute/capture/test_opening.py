"""Models are opened from folders and files on this computer; whatever is wrong with these is said in words."""

from __future__ import annotations

import json
import os
import pickle  # noqa: TID251 - to write what must not be unpickled
import shutil
import threading
import time
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.torch
import torch
import transformers

from attn_gui import CaptureError, capture, trace
from attn_gui.compute.capture import declaring, opening
from attn_gui.compute.capture.left_out import layers_left_out
from attn_gui.compute.capture.opening import OpenedModel, open_model, open_steps
from attn_gui.control.modelling import described
from attn_gui.model.counted import counted
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
        (reconfigured(n_embd=64), "do not fit its config|does not belong to its weights"),
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


LARGE = 10**9


@pytest.mark.parametrize(
    "values",
    [{"n_layer": LARGE}, {"n_embd": 16_000}, {"n_inner": 10**8}, {"vocab_size": LARGE}, {"n_positions": LARGE}],
    ids=lambda values: next(iter(values)),
)
def test_a_config_that_declares_more_than_there_is_is_refused_before_anything_is_made(
    folder: Path, values: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    reconfigured(**values)(folder)
    whole = transformers.GPT2LMHeadModel.from_pretrained
    monkeypatch.setattr(
        transformers.GPT2LMHeadModel, "from_pretrained", lambda *given, **options: pytest.fail("made the model")
    )
    with pytest.raises(CaptureError, match=r"its config does not belong to its weights\. It declares [\d,]{5,}"):
        open_model(folder)
    monkeypatch.setattr(transformers.GPT2LMHeadModel, "from_pretrained", whole)


def test_the_numbers_of_pickled_weights_are_held_against_the_config_as_well(folder: Path) -> None:
    model = transformers.GPT2LMHeadModel.from_pretrained(folder)
    (folder / "model.safetensors").unlink()
    torch.save(model.state_dict(), folder / "pytorch_model.bin")
    assert open_model(folder).architecture == "GPT2LMHeadModel"
    reconfigured(n_layer=LARGE)(folder)
    with pytest.raises(CaptureError, match="its config does not belong to its weights"):
        open_model(folder)


def test_making_a_model_of_many_layers_stops_when_it_is_told_to(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(declaring, "_TIMES", LARGE)
    reconfigured(n_layer=LARGE)(folder)

    class Enough(BaseException):
        pass

    told = 0

    def report(part: float) -> None:
        nonlocal told
        told += 1
        if told == 200:
            raise Enough

    with pytest.raises(Enough):
        open_model(folder, report)
    monkeypatch.undo()
    reconfigured(n_layer=3)(folder)
    assert first_weights(open_model(folder)).size


def test_a_shape_that_does_not_fit_is_named(folder: Path) -> None:
    name = "transformer.h.0.attn.c_attn.weight"
    weights = safetensors.torch.load_file(folder / "model.safetensors")
    weights[name] = weights[name].t().contiguous()
    safetensors.torch.save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(CaptureError, match=rf"{name} is 96 × 32 in the file and 32 × 96 by config\.json"):
        open_model(folder)


@pytest.mark.parametrize("ending", ["safetensors", "bin"])
def test_layers_that_a_config_leaves_out_are_told(folder: Path, ending: str) -> None:
    assert open_model(folder).left_out == ""
    if ending == "bin":
        model = transformers.GPT2LMHeadModel.from_pretrained(folder)
        (folder / "model.safetensors").unlink()
        torch.save(model.state_dict(), folder / "pytorch_model.bin")
    for count, said in (
        (2, "The weights of layer 3 were not used: config.json says 2 layers"),
        (1, "The weights of layers 2 and 3 were not used: config.json says 1 layer"),
    ):
        config = json.loads((folder / "config.json").read_text()) | {"n_layer": count}
        (folder / "config.json").write_text(json.dumps(config))
        opened = open_model(folder)
        assert opened.left_out == said
        assert described(opened) == f"GPT2LMHeadModel: {counted(count, 'layer')} × 4 heads. {said}"
        assert len(capture(opened.model, opened.tokenizer, "The cat").experiments) == count


def test_an_adapter_beside_a_model_is_told_of_and_alone_is_none(folder: Path) -> None:
    expected = first_weights(open_model(folder))
    (folder / "adapter_config.json").write_text(json.dumps({"peft_type": "LORA", "base_model_name_or_path": "gpt2"}))
    (folder / "adapter_model.safetensors").write_bytes(safetensors.torch.save({"lora_A": torch.ones(2, 2)}))
    opened = open_model(folder)
    assert opened.left_out.startswith("The adapter beside it (adapter_config.json) was not used")
    assert "adapter" in described(opened) and np.array_equal(first_weights(opened), expected)
    (folder / "config.json").unlink()
    with pytest.raises(CaptureError, match=r"is an adapter \(adapter_config\.json\) without the model that it changes"):
        open_model(folder)


def test_what_a_file_has_besides_layers_is_not_told() -> None:
    own = [f"transformer.h.{k}.attn.weight" for k in range(2)]
    assert layers_left_out(["h.0.attn.bias", "h.1.attn.masked_bias", "cls.0.weight", "lm_head.weight"], own) == ""
    assert "layer 3 were" in layers_left_out(["h.2.attn.bias", "h.2.attn.weight"], own)
    many = layers_left_out([f"h.{k}.attn.weight" for k in range(2, 30)], own)
    assert many == "The weights of layers 3, 4, 5, 6, 7, 8, 9, 10 and 20 more were not used: config.json says 2 layers"


def test_weights_that_are_nan_are_said_to_be(folder: Path) -> None:
    weights = safetensors.torch.load_file(folder / "model.safetensors")
    weights["transformer.h.1.mlp.c_fc.weight"][0, 0] = torch.nan
    safetensors.torch.save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(CaptureError, match=r"its weights hold NaN, in transformer\.h\.1\.mlp\.c_fc\.weight"):
        open_model(folder)


def test_numbers_that_become_too_large_are_said_to_be(gpt2_folder: Path) -> None:
    opened = open_model(gpt2_folder)
    with torch.no_grad():
        opened.model.transformer.h[1].attn.c_attn.weight.fill_(torch.finfo(torch.float32).max)
    with pytest.raises(CaptureError, match=r"The queries of transformer\.h\.1\.attn hold (NaN|infinity)"):
        capture(opened.model, opened.tokenizer, "The cat")


def pickled(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    torch.save({"x": Trap(folder / "ran")}, folder / "pytorch_model.bin")


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (pickled, "hold more than tensors"),
        (reconfigured(model_type="own", auto_map={"AutoConfig": "own.Config"}), "code of its own, which is not run"),
        (spoil("tokenizer.json", lambda old: b"{}"), "The files of the tokenizer are damaged"),
        (spoil("tokenizer_config.json", lambda old: b"null"), "The files of the tokenizer are damaged"),
        (spoil("tokenizer.json", lambda old: b"[" * 300_000), "tokenizer cannot be read"),
        (spoil("config.json", lambda old: b"null"), "config.json is damaged"),
        (reconfigured(n_layer="2"), "n_layer in config.json must be int, and is str"),
        (reconfigured(n_head=0), "do not fit together"),
        (reconfigured(n_head=5), "do not fit together"),
        (reconfigured(quantization_config={"quant_method": "torchao", "quant_type": "int4"}), "needs the package"),
    ],
)
def test_what_is_wrong_is_said_in_words_of_our_own(folder: Path, damage: Callable[[Path], None], said: str) -> None:
    damage(folder)
    with pytest.raises(CaptureError, match=said) as caught:
        open_model(folder)
    foreign = ("weights_only", "trust_remote_code", "ignore_mismatched", "NoneType", "added_tokens", "pip install -U")
    assert not any(word in str(caught.value) for word in foreign)


def test_flash_attention_is_not_needed(folder: Path) -> None:
    reconfigured(_attn_implementation="flash_attention_2")(folder)
    assert open_model(folder).model.config._attn_implementation == "sdpa"


def test_a_class_that_is_no_name_is_passed_over(folder: Path) -> None:
    reconfigured(architectures=[5])(folder)
    assert open_model(folder).architecture == "GPT2Model"


@pytest.mark.parametrize("name", ["n" * 5000, "/".join(["n" * 200] * 30), "a\0b", "~nobodyx/foo"])
def test_names_that_no_file_can_have_are_refused_in_words(name: str) -> None:
    with pytest.raises(CaptureError, match=r"is neither a folder nor a file|its name is longer") as caught:
        open_model(Path(name))
    assert "\0" not in str(caught.value) and len(str(caught.value)) < 500


def test_a_model_that_was_given_up_makes_way_for_the_next(
    folder: Path, gpt2_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = threading.Event()
    check = declaring.beating

    def watched(beat: Callable[[], None], *on_tensor: declaring.OnTensor) -> Any:
        made.set()
        return check(beat, *on_tensor)

    monkeypatch.setattr(declaring, "beating", watched)
    monkeypatch.setattr(declaring, "_TIMES", LARGE)
    reconfigured(n_layer=LARGE)(folder)
    steps = open_steps(folder)
    while not made.is_set():
        next(steps)
    steps.close()
    begun = time.monotonic()
    for _ in open_steps(gpt2_folder):
        assert time.monotonic() - begun < 30, "the one before goes on"
