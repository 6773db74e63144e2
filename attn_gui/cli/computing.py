"""Computing for a command, on a device that is there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from attn_gui.cli.errors import Failure
from attn_gui.model.session import NamedExperiment
from attn_gui.model.trace import Trace


def traced(named: NamedExperiment, device: str) -> Trace:
    from attn_gui.compute.devices import unsupported
    from attn_gui.compute.trace import trace

    device = device_named(device)
    reason = unsupported(device, named.experiment.precision)
    if reason is not None:
        raise Failure(f"cannot compute on {device}: {reason}")
    with computing(device):
        return trace(named.experiment, device)


def device_named(device: str) -> str:
    """torch's name of ``device``; raises Failure where it is not there."""
    from attn_gui.compute.devices import devices

    known = {entry.name: entry.reason for entry in devices()}
    # torch's name for the first of its devices
    device = "cuda:0" if device == "cuda" and "cuda:0" in known else device
    there = ", ".join(name for name, missing in known.items() if missing is None)
    missing = known.get(device, known.get(device.partition(":")[0]) or "there is no such device")
    if missing:
        raise Failure(f"cannot compute on {device}: {missing}; there is {there}")
    return device


@contextmanager
def computing(device: str) -> Iterator[None]:
    try:
        yield
    except (RuntimeError, AssertionError) as error:  # torch: a device that fails, no memory left
        raise Failure(f"cannot compute on {device}: {str(error).splitlines()[0]}") from error
