"""The wheel: built, and looked at as a package index and a person who installs it would."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import environment

PATTERN = "attn_gui-*.whl"


def build(python: Path, root: Path, folder: Path) -> Path:
    """Build the wheel of ``root`` into ``folder``, in place of older ones; raises SetupError.

    It is built with the hatchling of ``python``: nothing is fetched.
    """
    for old in folder.glob(PATTERN):
        old.unlink()
    options = ["--disable-pip-version-check", "--no-deps", "--no-build-isolation", "--quiet"]
    command = [str(python), "-m", "pip", "wheel", *options, "--wheel-dir", str(folder), str(root)]
    made = [] if subprocess.run(command, check=False).returncode else list(folder.glob(PATTERN))
    if len(made) != 1:
        raise environment.SetupError("the wheel could not be built (see above)")
    return made[0]


def faults(python: Path, wheel: Path) -> list[str]:
    """Names of the tools that object to ``wheel``, after they have said why."""
    suffix = ".exe" if sys.platform == "win32" else ""
    tools = {"twine": ["check", "--strict"], "check-wheel-contents": []}
    commands = {name: [str(python.with_name(name + suffix)), *words, str(wheel)] for name, words in tools.items()}
    return [name for name, command in commands.items() if subprocess.run(command, check=False).returncode]


def described(wheel: Path) -> str:
    """Where the wheel is, its size, and its checksum as sha256sum prints it."""
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    return f"{wheel} ({wheel.stat().st_size / 1e6:.1f} MB)\n{digest}  {wheel.name}"
