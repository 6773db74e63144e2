"""How much memory a computation may take, and whether it would fit."""

from __future__ import annotations

import os
import sys

import torch

from attn_gui.model.errors import TooLarge
from attn_gui.model.experiment import Experiment
from attn_gui.model.mapped import is_mapped
from attn_gui.model.sources import FromTokens

# what else is running may need the rest
SHARE = 0.5
# a second or so of computing: what is larger is shown sooner block by block
MOST = 1 << 29
# bytes that there always are, so that a small experiment need not ask the system
TRIFLE = 1 << 22
# bytes of given scores or weights that are read from their file at once
SMALL_FILE = 1 << 24


def available(device: torch.device) -> int:
    """Bytes that a computation on ``device`` may take: half of what is free."""
    if device.type == "cuda":
        free, _ = torch.cuda.mem_get_info(device)
        return int(free * SHARE)
    return int(_free_memory() * SHARE)


def needed(experiment: Experiment) -> int:
    """Bytes that the kept stages of ``experiment`` take: Q, K, V, A, N and the outputs, and cells that were given."""
    e = experiment
    cells = _square_cells(e)
    cells += e.heads * (e.n_q * (e.d_k + 2 * e.d_v) + e.n_k * (e.d_k + e.d_v))
    if e.scoring.qk_norm is not None or e.scoring.rotary is not None:
        cells += (e.heads * e.n_q + e.kv_heads * (e.n_k - len(e.appended))) * e.d_k
    given = sum(array.nbytes for array in e.rule.arrays())
    width = max(e.precision.bytes, 4)  # of the type that sums run in
    given += sum(array.size * width for bias in e.scoring.biases for array in bias.arrays())
    return cells * e.precision.bytes + given


def holds(experiment: Experiment, device: torch.device, memory: int | None = None) -> bool:
    """Whether A and N are to be held whole: in ``memory`` bytes, or else a quarter of what is free up to MOST.

    Not where they were given in a mapped file that is larger than SMALL_FILE: they are read as they are asked for.
    Raises TooLarge, with both figures, where not even the rest would fit.
    """
    need = needed(experiment)
    if need <= TRIFLE:
        return True
    have = available(device)
    if need <= (min(have // 2, MOST) if memory is None else memory) and not _stays_in_file(experiment):
        return True
    rest = need - _square_cells(experiment) * experiment.precision.bytes
    if rest > have:
        e = experiment
        raise TooLarge(
            f"Holding {'Q, K and V' if e.has_queries else 'V'} of {e.heads} heads and {e.n_q} x {e.n_k} tokens",
            rest,
            have,
        )
    return False


def _square_cells(e: Experiment) -> int:
    """Cells of A and N, or of N alone."""
    return (1 + e.has_scores) * e.heads * e.n_q * e.n_k


def _stays_in_file(e: Experiment) -> bool:
    if e.has_queries or isinstance(e.source, FromTokens):
        return False
    parts = e.source.parts()
    cells = parts["A"] if "A" in parts else parts["N"]
    return is_mapped(cells) and cells.nbytes > SMALL_FILE


def check(experiment: Experiment, device: torch.device) -> None:
    """Raise TooLarge, with both figures, where the stages would not fit whole."""
    need = needed(experiment)
    if need > TRIFLE and need > (have := available(device)):
        e = experiment
        raise TooLarge(f"Holding A and N of {e.heads} x {e.n_q} x {e.n_k} cells in {e.precision}", need, have)


def _free_memory() -> int:
    if sys.platform == "linux":
        with open("/proc/meminfo") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    if sys.platform == "win32":
        return _free_memory_windows()
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2


def _free_memory_windows() -> int:
    import ctypes

    class Status(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ulong), ("load", ctypes.c_ulong)] + [
            (name, ctypes.c_ulonglong)
            for name in (
                "total",
                "free",
                "page_total",
                "page_free",
                "virtual_total",
                "virtual_free",
                "extended",
            )
        ]

    status = Status(length=ctypes.sizeof(Status))
    ctypes.windll.kernel32.GlobalMemoryStatusEx(ctypes.byref(status))  # type: ignore[attr-defined,unused-ignore]
    return int(status.free)
