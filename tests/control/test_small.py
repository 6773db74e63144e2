"""Selection, settings and notices."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QByteArray, QSettings
from pytestqt.qtbot import QtBot

from attn_gui.control.notices import Kind, Notice, Notices
from attn_gui.control.selection import Selection
from attn_gui.control.settings import RECENT, Settings, profile_directory
from attn_gui.model.experiment import Experiment


def heard(selection: Selection) -> list[tuple[str, Any]]:
    """What the selection says from now on."""
    said: list[tuple[str, Any]] = []
    selection.head_changed.connect(lambda head: said.append(("head", head)))
    selection.cell_changed.connect(lambda i, j: said.append(("cell", (i, j))))
    selection.hover_changed.connect(lambda cell: said.append(("hover", cell)))
    selection.picked_changed.connect(lambda: said.append(("picked", (selection.queries, selection.keys))))
    selection.painting_changed.connect(lambda on: said.append(("painting", on)))
    return said


def test_a_selection_says_what_has_changed_and_nothing_else(qtbot: QtBot) -> None:
    selection = Selection()
    said = heard(selection)
    for _ in range(2):
        selection.set_head("mean")
        selection.set_cell(2, 0)
        selection.set_hover((1, 1))
        selection.pick(frozenset({0}), frozenset({1, 2}))
        selection.set_painting(True)
    assert said == [
        ("head", "mean"),
        ("cell", (2, 0)),
        ("hover", (1, 1)),
        ("picked", (frozenset({0}), frozenset({1, 2}))),
        ("painting", True),
    ]


def test_a_selection_comes_back_within_a_smaller_experiment(qtbot: QtBot) -> None:
    selection = Selection()
    selection.set_head(3)
    selection.set_cell(4, 4)
    selection.set_hover((4, 0))
    selection.pick(frozenset({0, 4}), frozenset({1, 3}))
    said = heard(selection)
    selection.fit(Experiment.from_tokens("ab", np.eye(2), heads=2))
    assert (selection.head, selection.query, selection.key, selection.hover) == (1, 1, 1, None)
    assert (selection.queries, selection.keys) == (frozenset({0}), frozenset({1}))
    assert [what for what, _ in said] == ["head", "cell", "hover", "picked"]
    said.clear()
    selection.set_head("mean")
    selection.fit(Experiment.from_tokens("ab", np.eye(2), heads=1))
    assert selection.head == "mean"
    assert [what for what, _ in said] == ["head"]


def test_settings_outlive_the_program(tmp_path: Path, qtbot: QtBot) -> None:
    first = Settings(tmp_path)
    said: list[str] = []
    first.changed.connect(said.append)
    assert (first.theme, first.decimals, first.reduced_motion, first.device) == ("system", 4, False, "cpu")
    first.theme, first.decimals, first.reduced_motion, first.device = "contrast", 7, True, "cuda:1"
    first.keep_window(QByteArray(b"g"), QByteArray(b"s"))
    first.sync()
    assert said == ["theme", "decimals", "reduced_motion", "device"]
    second = Settings(tmp_path)
    assert (second.theme, second.decimals, second.reduced_motion, second.device) == ("contrast", 7, True, "cuda:1")
    assert second.window == (QByteArray(b"g"), QByteArray(b"s"))


@pytest.mark.parametrize(
    ("name", "value", "read"),
    [("theme", "plaid", "system"), ("decimals", "many", 4), ("decimals", "99", 17), ("decimals", "-3", 0)],
)
def test_a_settings_file_that_was_written_by_hand(
    tmp_path: Path, qtbot: QtBot, name: str, value: str, read: Any
) -> None:
    file = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    file.setValue(name, value)
    file.sync()
    assert getattr(Settings(tmp_path), name) == read


def test_a_file_that_is_no_settings_file(tmp_path: Path, qtbot: QtBot) -> None:
    (tmp_path / "settings.ini").write_bytes(b"\x00\xff[[[")
    settings = Settings(tmp_path)
    assert (settings.theme, settings.recent, settings.window) == ("system", [], (QByteArray(), QByteArray()))


def test_recent_files_the_latest_first_and_each_once(tmp_path: Path, qtbot: QtBot) -> None:
    settings = Settings(tmp_path)
    assert settings.recent == []
    paths = [tmp_path / f"{k}, with a comma.attn" for k in range(RECENT + 2)]
    settings.add_recent(paths[0])
    settings.sync()
    assert Settings(tmp_path).recent == [paths[0]]  # a list of one is no list in an ini file
    for path in [*paths, paths[3]]:
        settings.add_recent(path)
    settings.sync()
    expected = [paths[3], *[p for p in reversed(paths) if p != paths[3]]][:RECENT]
    assert Settings(tmp_path).recent == expected
    settings.clear_recent()
    settings.sync()
    assert Settings(tmp_path).recent == []


def test_where_the_profile_lies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATTN_GUI_PROFILE", str(tmp_path / "mine"))
    assert profile_directory() == tmp_path / "mine"
    monkeypatch.delenv("ATTN_GUI_PROFILE")
    assert profile_directory().name == "attn_gui"
    assert profile_directory().is_absolute()


def test_notices(qtbot: QtBot) -> None:
    notices = Notices()
    said: list[Notice] = []
    withdrawn: list[str] = []
    notices.said.connect(said.append)
    notices.withdrawn.connect(withdrawn.append)
    notices.info("a")
    notices.warn("b", "memory")
    notices.error("c", "file")
    notices.withdraw("memory")
    assert said == [Notice("a"), Notice("b", Kind.WARNING, "memory"), Notice("c", Kind.ERROR, "file")]
    assert withdrawn == ["memory"]


def test_settings_that_cannot_be_kept_say_so_once(tmp_path: Path, qtbot: QtBot) -> None:
    (tmp_path / "file").write_text("where the folder should be")
    settings = Settings(tmp_path / "file")
    told: list[Path] = []
    settings.unwritable.connect(told.append)
    settings.theme = "dark"
    assert told == [tmp_path / "file" / "settings.ini"]
    settings.decimals = 3
    settings.sync()
    assert len(told) == 1
    assert (settings.theme, settings.decimals) == ("dark", 3)


def test_a_setting_is_on_disk_at_once_and_nothing_is_said(tmp_path: Path, qtbot: QtBot) -> None:
    settings = Settings(tmp_path)
    told: list[Path] = []
    settings.unwritable.connect(told.append)
    settings.theme = "dark"
    assert "theme=dark" in (tmp_path / "settings.ini").read_text()
    assert told == []
