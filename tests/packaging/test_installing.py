"""The scripts beside the program, run on a home of their own; the icons and files that they hand out."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from configparser import RawConfigParser
from pathlib import Path

import bundle
import bundle_icons
import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGING = ROOT / "packaging"
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="scripts of Linux")


@pytest.fixture(scope="module")
def icons(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("icons")
    bundle_icons.main(folder, ROOT / "resources" / "icons" / "attn-gui.svg")
    return folder


@pytest.fixture
def unpacked(tmp_path: Path, icons: Path) -> Path:
    """An archive as dev.py bundle makes it, with a stand-in for the program, in an awkward folder."""
    folder = tmp_path / "Meine Downloads & more" / "attn_gui-1-linux"
    (folder / "attn_gui" / "_internal").mkdir(parents=True)
    program = folder / "attn_gui" / "attn-gui"
    program.write_text("#!/bin/sh\necho one\n", "utf-8")
    program.chmod(0o755)
    for file in bundle.LINUX_FILES:
        shutil.copy2(PACKAGING / "linux" / file, folder)
    shutil.copytree(icons, folder / "icons")
    return folder


def sh(script: Path, home: Path, **more: str) -> subprocess.CompletedProcess[str]:
    variables = {"HOME": str(home), "PATH": os.environ["PATH"], **more}
    return subprocess.run(["sh", str(script)], env=variables, capture_output=True, text=True, check=False)


@linux
@pytest.mark.parametrize("script", ["install.sh", "uninstall.sh", "fresh.sh"])
def test_scripts_parse(script: str) -> None:
    path = PACKAGING / "linux" / script
    done = subprocess.run(["sh", "-n", str(path)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@linux
def test_what_is_installed_is_found_and_goes_again(unpacked: Path, tmp_path: Path) -> None:
    home = tmp_path / "home of $one & 100%"
    data = home / ".local" / "share"
    home.mkdir()
    own = home / "session.attn"
    own.touch()
    for _ in range(2):  # over itself
        done = sh(unpacked / "install.sh", home)
        assert (done.returncode, done.stderr) == (0, "")
    program = home / ".local" / "bin" / "attn-gui"
    assert subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout == "one\n"
    entry = RawConfigParser()
    entry.optionxform = str  # type: ignore[assignment, method-assign]
    entry.read(data / "applications" / "attn-gui.desktop", "utf-8")
    desktop = entry["Desktop Entry"]
    # in a .desktop file a dollar inside quotes takes two backslashes, and a percent sign another
    program = f"{data}/attn_gui/attn-gui".replace("$", "\\\\$").replace("%", "%%")
    assert desktop["Exec"] == f'"{program}" %f'
    assert desktop["MimeType"] == "application/x-attn-session;"
    for size in bundle_icons.SIZES:
        icon = data / "icons" / "hicolor" / f"{size}x{size}" / "apps" / "attn-gui.png"
        assert icon.read_bytes()[16:24] == struct.pack(">II", size, size)
        assert icon.parent.parent.joinpath("mimetypes", "application-x-attn-session.png").is_file()
    mime = ElementTree.parse(data / "mime" / "packages" / "attn-gui.xml")
    assert mime.getroot()[0].attrib == {"type": "application/x-attn-session"}

    done = sh(data / "attn_gui" / "uninstall.sh", home)
    assert (done.returncode, done.stderr) == (0, "")
    left = [path for path in home.rglob("*") if not path.is_dir() and "attn" in path.name]
    assert left == [own]


@linux
def test_the_old_program_stays_where_the_new_is_not_whole(unpacked: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    assert sh(unpacked / "install.sh", home).returncode == 0
    (unpacked / "attn_gui" / "attn-gui").unlink()
    done = sh(unpacked / "install.sh", home)
    assert done.returncode == 1
    assert "unpack the archive again" in done.stderr
    assert (home / ".local" / "share" / "attn_gui" / "attn-gui").is_file()


@linux
def test_a_command_of_the_same_name_is_not_taken_away(unpacked: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    assert sh(unpacked / "install.sh", home).returncode == 0
    command = home / ".local" / "bin" / "attn-gui"
    command.unlink()
    command.write_text("mine", "utf-8")
    assert sh(home / ".local" / "share" / "attn_gui" / "uninstall.sh", home).returncode == 0
    assert command.read_text("utf-8") == "mine"


@linux
def test_data_may_lie_elsewhere(unpacked: Path, tmp_path: Path) -> None:
    home, data = tmp_path / "home", tmp_path / "data"
    home.mkdir()
    assert sh(unpacked / "install.sh", home, XDG_DATA_HOME=str(data)).returncode == 0
    assert (data / "attn_gui" / "attn-gui").is_file()
    assert not (home / ".local" / "share").exists()


def test_windows_and_macos_icons_hold_every_size(icons: Path) -> None:
    ico = (icons / "attn-gui.ico").read_bytes()
    assert struct.unpack("<HHH", ico[:6]) == (0, 1, 7)
    for number in range(7):
        width, _, _, _, _, depth, size, place = struct.unpack_from("<BBBBHHII", ico, 6 + 16 * number)
        picture = ico[place : place + size]
        assert picture.startswith(b"\x89PNG") and depth == 32
        assert struct.unpack(">I", picture[16:20])[0] % 256 == width
    icns = (icons / "attn-gui.icns").read_bytes()
    assert icns[:8] == b"icns" + struct.pack(">I", len(icns))
    place, names = 8, []
    while place < len(icns):
        name, size = struct.unpack_from(">4sI", icns, place)
        assert icns[place + 8 : place + 12] == b"\x89PNG"
        names.append(name)
        place += size
    assert names == list(bundle_icons.ICNS.values())


def test_what_never_ran_says_so() -> None:
    for script in ("install.ps1", "uninstall.ps1"):
        assert "NOT YET RUN" in (PACKAGING / "windows" / script).read_text("utf-8")
    assert "has been run on a Mac yet" in (PACKAGING / "macos" / "NOTARISING.md").read_text("utf-8")
    assert "has not run yet" in (ROOT / ".github" / "workflows" / "bundle.yml").read_text("utf-8")


def test_the_version_of_the_windows_program(tmp_path: Path) -> None:
    bundle.write_version(tmp_path / "version.txt", "1.2.3")
    text = (tmp_path / "version.txt").read_text("utf-8")
    compile(text, "version.txt", "eval")  # PyInstaller evaluates it
    assert "filevers=(1, 2, 3, 0)" in text and "StringStruct('ProductVersion', '1.2.3')" in text
