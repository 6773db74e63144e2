"""The virtual environments that dev.py works in: made once, then reused while their inputs stay the same."""

from __future__ import annotations

import hashlib
import platform
import subprocess
import sys
from pathlib import Path

# folders of the environments: of the tests, and of the program that is built; what of pyproject.toml each holds
TESTS, BUNDLE = ".venv", ".venv-bundle"
EXTRAS = {TESTS: "test", BUNDLE: "bundle"}
# what Linux is offered otherwise comes with several gigabytes of CUDA
CPU_WHEELS = "https://download.pytorch.org/whl/cpu"
STDERR = 2  # set-up talk goes to stderr, so that stdout is the program's own


class SetupError(Exception):
    """Set-up cannot go on; the message says why and what to do."""


INTEL_MAC = (
    "PyTorch makes nothing newer than 2.2 for Intel Macs, and attn_gui needs 2.9 or later. On a Mac with a chip of "
    "Apple's, start this with a Python for arm64; for one of Intel's, README.md says under “Intel Macs” what there is"
)


def say(text: str) -> None:
    print(f"set-up: {text}", file=sys.stderr, flush=True)


def fingerprint(root: Path) -> str:
    """What the environment of `root` depends on, as one hash: the pins, this Python and the place itself."""
    digest = hashlib.sha256()
    for path in (root / "pyproject.toml", root / "packaging" / "constraints.txt", root / "packaging" / "models.txt"):
        digest.update(path.read_bytes() + b"\0")
    digest.update("\0".join((sys.version, platform.machine(), str(root))).encode())
    return digest.hexdigest()


def interpreter(root: Path, folder: str = TESTS) -> Path:
    """The environment's Python, whether or not it exists yet."""
    return root / folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")


def stamp(root: Path, folder: str = TESTS) -> Path:
    """The file that holds the fingerprint of a finished set-up."""
    return root / folder / "attn-gui-stamp"


def prepare(root: Path, folder: str = TESTS) -> Path:
    """Make or renew the environment if its fingerprint has changed, and return its Python.

    Raises SetupError if the environment cannot be made or filled, as on Macs that there is no torch for.
    """
    python, wanted = interpreter(root, folder), fingerprint(root)
    done = stamp(root, folder)
    if python.exists() and done.is_file() and done.read_bytes() == wanted.encode():
        return python
    done.unlink(missing_ok=True)
    if sys.platform == "darwin" and platform.machine() == "x86_64":
        raise SetupError(INTEL_MAC)
    if not _is_usable(python):
        _create(root / folder)
    _install(root, python, folder)
    done.write_bytes(wanted.encode())
    return python


def site_packages(root: Path, folder: str = TESTS) -> Path:
    """Where the environment keeps its packages."""
    scheme = "Lib/site-packages" if sys.platform == "win32" else "lib/python*/site-packages"
    found = next((root / folder).glob(scheme), None)
    if found is None:
        raise SetupError(f"{root / folder} holds no site-packages; delete that folder and run again")
    return found


def _is_usable(python: Path) -> bool:
    """Whether a Python of this very version, with pip, is already there; half-made environments are not."""
    if not python.exists():
        return False
    probe = [str(python), "-c", "import pip, sys; sys.stdout.write(sys.version)"]
    try:
        answer = subprocess.run(probe, capture_output=True, text=True, check=False)
    except OSError:
        return False
    return answer.returncode == 0 and answer.stdout == sys.version


def _create(folder: Path) -> None:
    say(f"making {folder} with Python {platform.python_version()}")
    # the base interpreter: clearing an environment from within itself would pull the rug away
    base = getattr(sys, "_base_executable", None) or sys.executable
    if subprocess.run([base, "-m", "venv", "--clear", str(folder)], stdout=STDERR, check=False).returncode:
        raise SetupError(
            f"{folder} could not be made (see above); Debian and Ubuntu need the package python3-venv for it"
        )


def _install(root: Path, python: Path, folder: str) -> None:
    say("installing attn_gui and what it needs (a few minutes the first time)")
    constraints = ["--constraint", str(root / "packaging" / "constraints.txt")]
    pip = [str(python), "-m", "pip", "install", "--disable-pip-version-check", "--no-input"]
    wanted = [[*constraints, "--editable", f"{root}[{EXTRAS[folder]}]"]]
    if folder == TESTS:
        # for their files alone, where no import finds them: some hold more than they say, and all need much more
        models = ["--no-deps", "--upgrade", "--target", str(root / folder / "models")]
        wanted.append([*models, "--requirement", str(root / "packaging" / "models.txt")])
    elif sys.platform.startswith("linux"):
        wanted.insert(0, [*constraints, "--no-deps", "--extra-index-url", CPU_WHEELS, "torch"])
    for words in wanted:
        if subprocess.run([*pip, *words], stdout=STDERR, check=False).returncode:
            raise SetupError("pip could not install attn_gui (see above); run the same command again to retry")
