"""The status bar while a pass goes over the rows."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from attn_gui.compute import budget
from attn_gui.compute.stream.grid import Grid
from attn_gui.model.experiment import Experiment
from attn_gui.views.context import Context
from attn_gui.views.status import Status
from tests.control.lingering import Lingering
from tests.control.waiting import until

n = 3000
LARGE = Experiment.from_tokens([f"t{k}" for k in range(n)], np.random.default_rng(0).normal(size=(n, 16)))


def test_rows_can_be_stopped_and_gone_on_with(context: Context, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "TRIFLE", 0)
    monkeypatch.setattr("attn_gui.compute.stream.grid.CPU", Grid(32, 64, 64))  # many steps
    context.feed.memory = 0
    lingering = Lingering(monkeypatch)
    status = Status(context)
    qtbot.addWidget(status)
    status.show()
    assert status.rows.isHidden()
    context.document.start()
    context.document.apply("Long", LARGE)
    # an answer that has to wait may come before the pass begins, and the button with it
    until(qtbot, lambda: context.feed.passing and status.rows.isVisible() and status.rows.text() == "Stop")
    qtbot.mouseClick(status.rows, Qt.MouseButton.LeftButton)
    assert status.rows.text() == "Go on"
    assert "% of the rows computed" in status.facts.text()
    qtbot.mouseClick(status.rows, Qt.MouseButton.LeftButton)
    assert status.rows.text() == "Stop"
    lingering.let_go()
    until(qtbot, lambda: status.facts.text().endswith("rows sum to 1"))
    assert status.rows.isHidden()
