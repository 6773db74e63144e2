"""torch, or in one sentence why there is none and what to do about it.

Everything that computes comes through here first, so that the sentence is the same wherever it is met.
"""

from __future__ import annotations

import platform
import re
import sys
from functools import cache

from attn_gui.model.errors import NoTorch

# as in pyproject.toml
LEAST = (2, 9)
NEEDED = ".".join(map(str, LEAST))
INTEL_MAC = (
    f"PyTorch makes none newer than 2.2 for Intel Macs, and attn_gui needs {NEEDED} or later; on an Apple chip, use a "
    "Python for arm64; on an Intel one, conda-forge builds newer ones: conda install -c conda-forge pytorch"
)
REDISTRIBUTABLE = (
    " Often only Microsoft’s Visual C++ Redistributable is missing: https://aka.ms/vc14/vc_redist.x64.exe ."
)


def load() -> None:
    """Import torch; raises NoTorch where it is missing, older than attn_gui needs or cannot be loaded."""
    failure = _failure()
    if failure is not None:
        raise NoTorch(failure)


@cache  # what torch raises a second time, half loaded, is about that
def _failure() -> str | None:
    try:
        import torch
    except ModuleNotFoundError as error:
        if error.name == "torch":
            return f"torch is not installed. {_remedy()}"
        return f"torch cannot be loaded, since {error.name} is not installed. {_remedy('--force-reinstall ')}"
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a library that is missing, damaged or for another processor, or one that exits
        first = (str(error).strip() or "no reason given").splitlines()[0]
        also = REDISTRIBUTABLE if sys.platform == "win32" and isinstance(error, OSError) else ""
        return f"torch cannot be loaded ({type(error).__name__}: {first}).{also} {_remedy('--force-reinstall ')}"
    found = str(getattr(torch, "__version__", ""))
    numbers = tuple(int(part) for part in re.findall(r"\d+", found)[:2])
    if not numbers or (numbers >= LEAST and not hasattr(torch, "Tensor")):  # a folder left behind imports as well
        return f"torch cannot be loaded, since parts of it are missing. {_remedy('--force-reinstall ')}"
    if numbers < LEAST:
        return f"torch {found} is too old. {_remedy('--upgrade ')}"
    return None


def _remedy(how: str = "") -> str:
    if sys.platform == "darwin" and platform.machine() == "x86_64":
        return f"{INTEL_MAC}"
    if getattr(sys, "frozen", False):
        return "Unpack the program anew from its archive, all of it."
    return f'To install it: "{sys.executable}" -m pip install {how}"torch>={NEEDED}"'
