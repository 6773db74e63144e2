"""Masks and the cache from the menu bar, and what the whole window draws of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot

from attn_gui.model.masks import Causal, Combined, MaskRule, choosable
from attn_gui.model.picture import MASKED
from attn_gui.views.main_window import MainWindow
from attn_gui.views.mask_choice import MaskChoice
from tests.views.window_helpers import karina_window, settle


@pytest.fixture
def window(qtbot: QtBot, tmp_path: Path) -> Iterator[MainWindow]:
    def prepare(made: MainWindow) -> None:
        made.context.settings.reduced_motion = True

    with karina_window(qtbot, tmp_path, prepare) as made:
        yield made


def filled(window: MainWindow, *titles: str) -> QMenu:
    """The menu under ``titles``, filled as it is when it opens."""
    menu: QMenu | None = None
    actions = window.menuBar().actions()
    for title in titles:
        action = next(a for a in actions if a.text().replace("&", "") == title)
        menu = action.menu()  # type: ignore[assignment]
        assert isinstance(menu, QMenu)
        menu.aboutToShow.emit()
        actions = menu.actions()
    assert menu is not None
    return menu


def entry(menu: QMenu, text: str) -> QAction:
    return next(a for a in menu.actions() if a.text().replace("&", "") == text)


def test_every_rule_is_in_the_menu(window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(MaskChoice, "_open_dialog", lambda self: asked.append(True))
    texts = [a.text() for a in filled(window, "Attention", "Mask").actions() if a.text()]
    usual = [rule.title for rule in choosable() if rule.usual]
    assert texts == [*usual, "M&ore", "Custom", "From a file…"]
    for rule in choosable():
        where = ("Attention", "Mask") if rule.usual else ("Attention", "Mask", "More")
        chosen = entry(filled(window, *where), rule.title)
        chosen.trigger()
        assert window.context.document.experiment.rule == rule()
        assert entry(filled(window, *where), rule.title).isChecked()
    entry(filled(window, "Attention", "Mask"), "From a file…").trigger()
    assert asked == [True]
    assert not entry(filled(window, "Attention", "Mask"), "From a file…").isChecked()


def test_rules_are_combined_from_the_menu_and_drawn(window: MainWindow, qtbot: QtBot) -> None:
    context, masking = window.context, window.top_bar.masking
    entry(filled(window, "Attention"), "Combine rules…").trigger()
    panel = masking._panel
    assert panel is not None and panel.isVisible()
    panel.add.click()
    panel.add.click()
    panel.rows[1].kind.chosen.emit("sliding_window")
    panel.rows[1].negated.click()
    panel.hide()
    settle(qtbot, window)
    rule = context.document.experiment.rule
    assert isinstance(rule, Combined) and rule.terms[0].rule == Causal()
    i, j = np.indices((5, 5))
    wanted = (j <= i) & ~((j >= i - 1) & (j <= i))
    latest = window.formula.scores.heatmap.pictures.latest
    assert latest is not None
    np.testing.assert_array_equal(latest.index != MASKED, wanted)
    for _ in range(4):
        context.document.undo_stack.undo()
    assert context.document.experiment.rule == MaskRule()


def test_the_cache_is_chosen_from_the_menu(window: MainWindow, qtbot: QtBot) -> None:
    entry(filled(window, "Attention"), "Cache…").trigger()
    assert window.more.panel.isVisible() and window.more.panel.cache.count.hasFocus()
    window.more.panel.cache.count.setValue(2)
    window.more.panel.hide()
    settle(qtbot, window)
    e = window.context.document.experiment
    assert (e.n_q, e.n_k, e.offset) == (3, 5, 2)
    for heatmap in (window.formula.scores.heatmap, window.formula.weights.heatmap):
        latest = heatmap.pictures.latest
        assert latest is not None and latest.index.shape == (3, 5)
    table = window.formula.tokens.table
    centre = heatmap.plot.row_labels.place(1).center().y() + window.context.bands.header
    assert abs(table.rowViewportPosition(1) + table.rowHeight(1) / 2 + window.context.bands.header - centre) <= 1


def test_positions_are_shown_from_the_menu(window: MainWindow) -> None:
    entry(filled(window, "View"), "Position column").trigger()
    assert window.formula.tokens.table.tokens.columns == ["position"]
