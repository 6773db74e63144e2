"""The Python API: every public name is there, documented, and brings along no more than it needs."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from dataclasses import is_dataclass
from pathlib import Path

import pytest

import attn_gui
from attn_gui.model.biases import Bias
from attn_gui.model.masks import MaskRule
from attn_gui.model.normalisers import Normaliser
from attn_gui.model.parts import Part
from attn_gui.model.positions import InputPosition
from attn_gui.model.qk_norm import QKNorm
from attn_gui.model.rotary import Rotary

README = Path(__file__).resolve().parents[1] / "README.md"


@pytest.mark.parametrize("name", attn_gui.__all__)
def test_every_name_is_there_and_documented(name: str) -> None:
    found = getattr(attn_gui, name)
    assert found.__name__ == name
    written = vars(found).get("__doc__") if inspect.isclass(found) else found.__doc__
    assert written
    # a dataclass without words of its own is given its signature
    assert not (is_dataclass(found) and written.startswith(f"{name}("))


@pytest.mark.parametrize("name", attn_gui.__all__)
def test_the_readme_knows_every_name(name: str) -> None:
    assert f"`{name}`" in README.read_text(encoding="utf-8") or f"import {name}" in README.read_text(encoding="utf-8")


@pytest.mark.parametrize("family", [MaskRule, Bias, Normaliser, InputPosition, Rotary, QKNorm])
def test_every_part_can_be_had_from_the_package(family: type[Part]) -> None:
    parts = [part for part in family.kinds.values() if part.__module__.startswith("attn_gui.")]
    assert parts
    for part in (family, *parts):
        assert getattr(attn_gui, part.__name__) is part


def test_what_tools_see_is_what_there_is() -> None:
    tree = ast.parse(Path(attn_gui.__file__).read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {alias.name: each.module for each in block.body if isinstance(each, ast.ImportFrom) for alias in each.names}
    assert sorted(seen) == sorted(attn_gui.__all__)
    for name, module in seen.items():
        assert getattr(sys.modules.get(str(module)) or __import__(str(module), fromlist=[name]), name)
        assert getattr(attn_gui, name) is getattr(sys.modules[str(module)], name)
    assert set(attn_gui.__all__) <= set(dir(attn_gui))


def test_a_name_that_is_not_there() -> None:
    with pytest.raises(AttributeError, match="'attn_gui' has no attribute 'nothing'"):
        attn_gui.nothing  # noqa: B018


def test_the_package_itself_imports_neither_numpy_nor_torch() -> None:
    code = "import sys, attn_gui; dir(attn_gui); print([n for n in ('numpy', 'torch', 'PySide6') if n in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
