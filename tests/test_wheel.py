"""The wheel, installed by itself away from the source tree, starts and computes the Karina example."""

from __future__ import annotations

import ast
import configparser
import json
import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import environment
import numpy as np
import pytest
import wheels

from attn_gui import paths
from attn_gui.files.installation import licences

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return wheels.build(Path(sys.executable), ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def elsewhere(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a new environment that holds the wheel and borrows its dependencies from this one."""
    folder = tmp_path_factory.mktemp("elsewhere")
    venv.create(folder, with_pip=False, symlinks=sys.platform != "win32")
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    install = ["install", "--no-deps", "--no-index", "--no-warn-script-location", str(wheel)]
    run([sys.executable, "-m", "pip", "--python", str(python), *install], cwd=folder)
    # a folder that a .pth file names comes last, and its own .pth files, our editable install, stay unread
    borrowed = Path(sysconfig.get_path("purelib", vars={"base": str(folder)})) / "borrowed.pth"
    borrowed.write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    return python


def run(command: list[str], cwd: Path) -> str:
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, cwd=cwd, env=clean, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}"
    return done.stdout


def test_holds_the_package_and_its_resources_alone(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    packed = {name for name in names if not name.split("/")[0].endswith(".dist-info")}
    sources = {f"attn_gui/{path.relative_to(ROOT / 'attn_gui').as_posix()}" for path in source_files("attn_gui")}
    shipped = {f"attn_gui/{path.relative_to(ROOT).as_posix()}" for path in source_files("resources")}
    assert packed == sources | {name for name in shipped if "/screenshots/" not in name}
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)


def source_files(folder: str) -> list[Path]:
    return [path for path in (ROOT / folder).rglob("*") if path.is_file() and "__pycache__" not in path.parts]


def test_resources_come_from_the_wheel(elsewhere: Path, tmp_path: Path) -> None:
    code = "from attn_gui import paths; print(paths.resources(), *map(str, paths.example_files()), sep='\\n')"
    resources, *examples = run([str(elsewhere), "-c", code], cwd=tmp_path).splitlines()
    assert Path(resources).is_relative_to(elsewhere.parent.parent.resolve())
    assert [Path(path).name for path in examples] == [path.name for path in paths.example_files()]


def test_starts_and_computes(elsewhere: Path, tmp_path: Path) -> None:
    out = run([str(elsewhere), "-m", "attn_gui", "--smoke"], cwd=tmp_path)
    answer = json.loads(out.splitlines()[-1])
    assert 0 < answer["first_paint_ms"] < answer["first_result_ms"]
    x = np.array([[1, 0], [0, 1], [1, 1], [1, 1], [0.5, 1]])  # karina is to the store, all weights the identity
    weights = np.exp(x @ x.T / np.sqrt(2))  # [n_q, n_k]
    weights /= weights.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(answer["N"], weights, atol=1e-6)


def command(elsewhere: Path, name: str) -> str:
    return str(elsewhere.with_name(f"{name}.exe" if sys.platform == "win32" else name))


def test_installs_the_commands(elsewhere: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = ["export", "--example", "karina", "--stage", "N", "--out", str(out)]
    run([command(elsewhere, "attn-gui-cli"), *words], cwd=tmp_path)
    assert any(out.iterdir())
    answer = json.loads(run([command(elsewhere, "attn-gui"), "--smoke"], cwd=tmp_path).splitlines()[-1])
    assert len(answer["N"]) == 5


def test_the_window_comes_without_a_console_where_that_is_a_choice(wheel: Path) -> None:
    (name,) = (name for name in zipfile.ZipFile(wheel).namelist() if name.endswith("entry_points.txt"))
    entries = configparser.ConfigParser()
    entries.read_string(zipfile.ZipFile(wheel).read(name).decode())
    assert dict(entries["gui_scripts"]) == {"attn-gui": "attn_gui.__main__:main"}
    assert dict(entries["console_scripts"]) == {"attn-gui-cli": "attn_gui.__main__:main"}


def test_shows_its_licences_as_the_source_tree_does(elsewhere: Path, tmp_path: Path) -> None:
    code = "from attn_gui.files.installation import licences; print([(l.package, len(l.text)) for l in licences()])"
    found = dict(ast.literal_eval(run([str(elsewhere), "-c", code], cwd=tmp_path)))
    assert found["attn_gui"] == len((ROOT / "LICENSE").read_text("utf-8").strip())
    assert found == {licence.package: len(licence.text) for licence in licences()}


def test_nobody_objects_to_it(wheel: Path) -> None:
    assert wheels.faults(Path(sys.executable), wheel) == []


def test_a_wheel_that_is_no_good_is_objected_to(wheel: Path, tmp_path: Path) -> None:
    broken = tmp_path / wheel.name
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(broken, "w") as new:
        for name in old.namelist():
            # a description of no kind that an index knows, and a file that is nobody's
            data = old.read(name)
            if name.endswith("/METADATA"):
                data = data.replace(b"text/markdown", b"text/nothing")
            if name.endswith("/RECORD"):
                data += b"attn_gui/stray.pyc,,\n"
            new.writestr(name, data)
        new.writestr("attn_gui/stray.pyc", b"")
    assert wheels.faults(Path(sys.executable), broken) == ["twine", "check-wheel-contents"]


def test_a_wheel_that_cannot_be_built_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(environment.SetupError, match="could not be built"):
        wheels.build(Path(sys.executable), tmp_path, tmp_path)
