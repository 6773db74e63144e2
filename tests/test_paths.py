"""resources/ is found wherever the program runs from."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from attn_gui import paths


@pytest.fixture(autouse=True)
def fresh_cache() -> Iterator[None]:
    paths.resources.cache_clear()
    yield
    paths.resources.cache_clear()


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty attn_gui folder that paths.py believes to be its own."""
    folder = tmp_path / "site" / "attn_gui"
    folder.mkdir(parents=True)
    monkeypatch.setattr(paths, "__file__", str(folder / "paths.py"))
    return folder


def test_source_tree() -> None:
    assert paths.resources() == Path(__file__).resolve().parent.parent / "resources"


def test_wheel_keeps_resources_inside_the_package(package: Path) -> None:
    (package / "resources").mkdir()
    (package.parent / "resources").mkdir()  # somebody else's folder in site-packages
    assert paths.resources() == package / "resources"


def test_frozen_program_comes_first(package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (package / "resources").mkdir()
    unpacked = tmp_path / "bundle"
    (unpacked / "attn_gui" / "resources").mkdir(parents=True)
    monkeypatch.setattr(sys, "_MEIPASS", str(unpacked), raising=False)
    assert paths.resources() == unpacked / "attn_gui" / "resources"


def test_missing_folder_says_where_it_looked(package: Path) -> None:
    with pytest.raises(FileNotFoundError, match="resources folder is missing") as failure:
        paths.resources()
    assert str(package / "resources") in str(failure.value)


def test_missing_resource_is_named(package: Path) -> None:
    (package / "resources").mkdir()
    with pytest.raises(FileNotFoundError, match=r"no resource 'icons/none\.svg'"):
        paths.resource("icons/none.svg")


def test_examples_come_in_order(package: Path) -> None:
    examples = package / "resources" / "examples"
    examples.mkdir(parents=True)
    for name in ("b.json", "a.json", "notes.txt"):
        (examples / name).touch()
    assert paths.example_files() == [examples / "a.json", examples / "b.json"]
    assert paths.resource("examples/b.json") == examples / "b.json"


def test_every_shipped_example_is_listed() -> None:
    shipped = set(paths.resources().rglob("examples/**/*"))
    assert shipped
    # beside each lies what there is to try with it
    to_try = {path.with_suffix(".md") for path in paths.example_files()}
    assert set(paths.example_files()) == shipped - to_try
