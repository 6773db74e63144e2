"""The shared libraries and the font that Qt takes from a Linux system, looked for and, as root, put in."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path

from environment import STDERR, SetupError, say

# The files of PySide6 whose needs decide: both platform plugins and the modules that the program imports.
LOADED = (
    "Qt/plugins/platforms/libqxcb.so",
    "Qt/plugins/platforms/libqoffscreen.so",
    "Qt/plugins/imageformats/libqsvg.so",
    "QtCore.abi3.so",
    "QtGui.abi3.so",
    "QtSvg.abi3.so",
    "QtTest.abi3.so",
    "QtWidgets.abi3.so",
)

DEBIAN_PACKAGES = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libX11-xcb.so.1": "libx11-xcb1",
    "libX11.so.6": "libx11-6",
    "libdbus-1.so.3": "libdbus-1-3",
    "libfontconfig.so.1": "libfontconfig1",
    "libfreetype.so.6": "libfreetype6",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libgthread-2.0.so.0": "libglib2.0-0",
    "libstdc++.so.6": "libstdc++6",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-randr.so.0": "libxcb-randr0",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-render.so.0": "libxcb-render0",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxcb-shm.so.0": "libxcb-shm0",
    "libxcb-sync.so.1": "libxcb-sync1",
    "libxcb-util.so.1": "libxcb-util1",
    "libxcb-xfixes.so.0": "libxcb-xfixes0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
    "libxcb.so.1": "libxcb1",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libz.so.1": "zlib1g",
    "libzstd.so.1": "libzstd1",
}
FONT_PACKAGE = "fonts-dejavu-core"
FONT_FOLDERS = ("/usr/share/fonts", "/usr/local/share/fonts", "~/.local/share/fonts", "~/.fonts")


def ensure(pyside: Path) -> None:
    """See to it that Qt finds its libraries and a font; `pyside` is the installed PySide6 package.

    As root with apt-get it installs what is missing, otherwise SetupError names the one command to run.
    """
    libraries = missing_libraries(pyside)
    has_apt = shutil.which("apt-get") is not None
    packages = {DEBIAN_PACKAGES[name] for name in libraries if name in DEBIAN_PACKAGES}
    if has_apt and not has_font():
        packages.add(FONT_PACKAGE)
    unknown = [name for name in libraries if name not in DEBIAN_PACKAGES]
    if libraries and (unknown or not has_apt):
        names = " ".join(libraries)
        raise SetupError(f"Qt needs these shared libraries, which this system lacks: {names}. Install them.")
    if not packages:
        return
    command = install_command(sorted(packages))
    if os.geteuid() != 0:
        raise SetupError(f"Qt needs a few system packages. Run this once, then start again:\n{command}")
    say(f"installing what Qt needs: {' '.join(sorted(packages))}")
    unasked = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    failed = subprocess.run(["sh", "-c", command], stdout=STDERR, env=unasked, check=False).returncode
    still = missing_libraries(pyside)
    if failed or still:
        raise SetupError(f"Qt still lacks {' '.join(still) or 'a font'} after this command:\n{command}")


def missing_libraries(pyside: Path) -> list[str]:
    """Names of the shared libraries that PySide6's files ask for and the loader does not find."""
    ldd = shutil.which("ldd")
    files = [str(pyside / name) for name in LOADED if (pyside / name).exists()]
    if not files:
        raise SetupError(f"{pyside} holds no Qt; delete the folder .venv and run again")
    if ldd is None:
        return []
    plain = {**os.environ, "LC_ALL": "C"}
    listing = subprocess.run([ldd, *files], capture_output=True, text=True, env=plain, check=False).stdout
    return sorted({line.split()[0] for line in listing.splitlines() if line.endswith("=> not found")})


def has_font() -> bool:
    """Whether there is any font at all; without one Qt draws empty boxes."""
    lister = shutil.which("fc-list")
    if lister is not None:
        return bool(subprocess.run([lister], capture_output=True, check=False).stdout.strip())
    folders = (Path(folder).expanduser() for folder in FONT_FOLDERS)
    return any(next(folder.rglob("*.[ot]t[cf]"), None) for folder in folders)


def install_command(packages: list[str]) -> str:
    """The one shell command that installs `packages`, ready to paste for whoever is not root."""
    install = "apt-get install -y --no-install-recommends -o DPkg::Lock::Timeout=120"
    command = f"apt-get update && {install} {' '.join(packages)}"
    if os.geteuid() == 0:
        return command
    become_root = "sudo sh -c" if shutil.which("sudo") else "su -c"
    return f"{become_root} {shlex.quote(command)}"
