"""What reaches a screen reader through Qt's accessibility tree."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtGui import QAccessible
from pytestqt.qtbot import QtBot

from attn_gui.views.context import Context
from tests.views.heatmaps import Pair, random_experiment


@pytest.fixture
def listening() -> Iterator[None]:
    """As when a screen reader runs."""
    QAccessible.setActive(True)
    yield
    QAccessible.setActive(False)


@pytest.mark.usefixtures("listening")
def test_the_tree_holds_the_heatmap_with_its_cell(qtbot: QtBot, context: Context) -> None:
    pair = Pair(qtbot, context)
    pair.show_experiment(random_experiment(4))
    pair.activateWindow()
    plot = pair.N.heatmap.plot
    plot.setFocus()
    qtbot.waitUntil(plot.hasFocus)
    context.selection.set_cell(2, 3)
    interface = QAccessible.queryAccessibleInterface(plot)
    assert interface.text(QAccessible.Text.Name) == "Weights N, heatmap"
    told = interface.text(QAccessible.Text.Description)
    assert told.startswith("query q2, key q3, head 1, weight 0.")
    assert told.endswith(", allowed")
    bar = QAccessible.queryAccessibleInterface(pair.N.heatmap.footer.bar)
    assert bar.text(QAccessible.Text.Description).startswith("Colours from 0 to 0.")
    line = QAccessible.queryAccessibleInterface(pair.N.heatmap.footer.line)
    assert line.text(QAccessible.Text.Description).startswith("query q2 → key q3: 0.")
