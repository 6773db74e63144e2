"""The wheel, installed by itself away from the source tree, starts and computes the Karina example."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import numpy as np
import pytest

from attn_gui import paths

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--no-deps",
        "--no-build-isolation",
        "-w",
        str(out),
        str(ROOT),
    ]
    run(command, cwd=out)
    (built,) = out.glob("attn_gui-*.whl")
    return built


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


def test_installs_the_command(elsewhere: Path, tmp_path: Path) -> None:
    command = elsewhere.with_name("attn-gui.exe" if sys.platform == "win32" else "attn-gui")
    out = tmp_path / "out"
    run([str(command), "export", "--example", "karina", "--stage", "N", "--out", str(out)], cwd=tmp_path)
    assert any(out.iterdir())
