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
    program = f"{data}/attn-gui-program/attn-gui".replace("$", "\\\\$").replace("%", "%%")
    assert desktop["Exec"] == f'"{program}" %f'
    assert desktop["MimeType"] == "application/x-attn-session;"
    for size in bundle_icons.SIZES:
        icon = data / "icons" / "hicolor" / f"{size}x{size}" / "apps" / "attn-gui.png"
        assert icon.read_bytes()[16:24] == struct.pack(">II", size, size)
        assert icon.parent.parent.joinpath("mimetypes", "application-x-attn-session.png").is_file()
    mime = ElementTree.parse(data / "mime" / "packages" / "attn-gui.xml")
    assert mime.getroot()[0].attrib == {"type": "application/x-attn-session"}

    done = sh(data / "attn-gui-program" / "uninstall.sh", home)
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
    assert (home / ".local" / "share" / "attn-gui-program" / "attn-gui").is_file()


@linux
def test_a_command_of_the_same_name_is_not_taken_away(unpacked: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    assert sh(unpacked / "install.sh", home).returncode == 0
    command = home / ".local" / "bin" / "attn-gui"
    command.unlink()
    command.write_text("mine", "utf-8")
    assert sh(home / ".local" / "share" / "attn-gui-program" / "uninstall.sh", home).returncode == 0
    assert command.read_text("utf-8") == "mine"


@linux
def test_data_may_lie_elsewhere(unpacked: Path, tmp_path: Path) -> None:
    home, data = tmp_path / "home", tmp_path / "data"
    home.mkdir()
    assert sh(unpacked / "install.sh", home, XDG_DATA_HOME=str(data)).returncode == 0
    assert (data / "attn-gui-program" / "attn-gui").is_file()
    assert not (home / ".local" / "share").exists()


@linux
@pytest.mark.parametrize("elsewhere", [False, True])
def test_settings_and_unsaved_work_stay(unpacked: Path, tmp_path: Path, elsewhere: bool) -> None:
    home, data = tmp_path / "home", tmp_path / "data"
    home.mkdir()
    more = {"XDG_DATA_HOME": str(data)} if elsewhere else {}
    place = data if elsewhere else home / ".local" / "share"
    told = "from attn_gui.control.settings import profile_directory; print(profile_directory())"
    variables = {**os.environ, "HOME": str(home), "PYTHONPATH": str(ROOT), **more}
    for name in ("ATTN_GUI_PROFILE", *(() if elsewhere else ("XDG_DATA_HOME",))):
        variables.pop(name, None)
    found = subprocess.run([sys.executable, "-c", told], env=variables, capture_output=True, text=True, check=True)
    profile = Path(found.stdout.strip())
    assert place in profile.parents
    kept = [profile / "settings.ini", profile / "recovery" / "1" / "unsaved.attn", place / "another" / "notes.txt"]
    for path in kept:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("mine", "utf-8")
    for _ in range(2):
        assert sh(unpacked / "install.sh", home, **more).returncode == 0
    # it knows where it lies, whatever the environment says by now
    assert sh(place / "attn-gui-program" / "uninstall.sh", home).returncode == 0
    assert [path.read_text("utf-8") for path in kept] == ["mine"] * 3
    assert not (place / "attn-gui-program").exists() and not (home / ".local" / "bin" / "attn-gui").is_symlink()
    again = sh(unpacked / "uninstall.sh", home, **more)
    assert (again.returncode, again.stdout) == (1, "") and "nothing was taken away" in again.stderr


@linux
def test_nothing_of_others_is_replaced(unpacked: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    command, target = home / ".local" / "bin" / "attn-gui", home / ".local" / "share" / "attn-gui-program"
    command.parent.mkdir(parents=True)
    command.write_text("mine", "utf-8")
    done = sh(unpacked / "install.sh", home)
    assert (done.returncode, done.stderr) == (0, "") and "was left as it is" in done.stdout
    assert command.read_text("utf-8") == "mine"
    shutil.rmtree(target)
    target.mkdir()
    (target / "notes.txt").write_text("mine", "utf-8")
    done = sh(unpacked / "install.sh", home)
    assert done.returncode == 1 and "holds something else" in done.stderr
    assert (target / "notes.txt").read_text("utf-8") == "mine"


@linux
def test_an_open_program_is_neither_replaced_nor_taken_away(unpacked: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    program = unpacked / "attn_gui" / "attn-gui"
    shutil.copy2(shutil.which("sleep") or "", program)
    assert sh(unpacked / "install.sh", home).returncode == 0
    target = home / ".local" / "share" / "attn-gui-program"
    with subprocess.Popen([str(target / "attn-gui"), "60"]) as running:
        for script in (unpacked / "install.sh", target / "uninstall.sh"):
            done = sh(script, home)
            assert (done.returncode, done.stdout) == (1, "") and "close it" in done.stderr
        running.kill()
    assert sh(target / "uninstall.sh", home).returncode == 0


@linux
@pytest.mark.parametrize("data", ["", "relative/data"])
def test_a_place_that_is_none_is_not_taken(unpacked: Path, tmp_path: Path, data: str) -> None:
    home = tmp_path / "home"
    home.mkdir()
    assert sh(unpacked / "install.sh", home, XDG_DATA_HOME=data).returncode == 0
    assert (home / ".local" / "share" / "attn-gui-program" / "attn-gui").is_file()
    for none in ("", str(tmp_path / "nowhere")):
        done = sh(unpacked / "install.sh", home, HOME=none)
        assert done.returncode == 1 and "HOME names no folder" in done.stderr
    broken = tmp_path / "a\nb"
    broken.mkdir()
    assert "line break" in sh(unpacked / "install.sh", broken).stderr
    assert list(broken.iterdir()) == []


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
