"""The device list says what there is and why the rest is not."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch

from attn_gui.compute.devices import Device, devices, unsupported
from attn_gui.model.precision import Precision


def by_kind() -> dict[str, list[Device]]:
    found: dict[str, list[Device]] = {}
    for device in devices():
        found.setdefault(device.name.partition(":")[0], []).append(device)
    return found


def test_the_cpu_is_always_there_and_first() -> None:
    assert devices()[0] == Device("cpu", "CPU")


def test_a_torch_for_the_cpu_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.version, "cuda", None)
    (cuda,) = by_kind()["cuda"]
    assert cuda.reason == f"this torch ({torch.__version__}) is built for the CPU only"


def test_a_missing_driver_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise RuntimeError("Found no NVIDIA driver on your system.\nPlease check ...")

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    monkeypatch.setattr(torch.cuda, "init", fail)
    (cuda,) = by_kind()["cuda"]
    assert cuda.reason == "Found no NVIDIA driver on your system."


def test_each_cuda_device_is_listed_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda index: SimpleNamespace(name=f"Card {index}"))
    assert by_kind()["cuda"] == [Device("cuda:0", "CUDA 0: Card 0"), Device("cuda:1", "CUDA 1: Card 1")]


@pytest.mark.parametrize(
    ("available", "built", "expected"),
    [
        (True, True, [Device("mps", "Apple GPU (MPS)")]),
        (False, True, [Device("mps", "Apple GPU (MPS)", "needs macOS 12.3 or later on an Apple GPU")]),
        (False, False, []),
    ],
)
def test_mps(monkeypatch: pytest.MonkeyPatch, available: bool, built: bool, expected: list[Device]) -> None:
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: available)
    monkeypatch.setattr(torch.backends.mps, "is_built", lambda: built)
    assert by_kind().get("mps", []) == expected


def test_what_a_device_cannot_compute() -> None:
    assert unsupported("mps", Precision.FLOAT64) == "MPS has no float64: choose float32 or the CPU"
    assert unsupported("mps", Precision.FLOAT32) is None
    assert unsupported("cpu", Precision.FLOAT64) is None
