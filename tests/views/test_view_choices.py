"""View choices of a session may be anything: a file can be written by hand, or damaged."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

import attn_gui.views
from attn_gui.model import view_choices
from attn_gui.model.session import NamedExperiment, Session
from attn_gui.views.compare.compare_drawer import CompareDrawer
from attn_gui.views.compare.pin_actions import PinActions
from attn_gui.views.context import Context
from attn_gui.views.drawers.drawer import Drawer
from attn_gui.views.drawers.heads_drawer import HeadsDrawer
from attn_gui.views.drawers.stages_drawer import StagesDrawer
from attn_gui.views.drawers.weights_drawer import WeightsDrawer
from attn_gui.views.heatmap_panel import HeatmapPanel
from attn_gui.views.token_panel import TokenPanel
from tests.views.drawer_helpers import several_heads

WORDS = (
    *("stage", "stage_as", "heads_stage", "heads_caption"),
    *("weights_table", "weights_whole", "weights_initialiser", "weights_seed", "positions", "compare_with"),
)
HEATMAPS = tuple(f"{slot} {what}" for slot in ("A", "N") for what in ("colours", "pooling"))
ODD = (None, True, -1, 2**31, 10**30, -(10**30), 1.5, float("nan"), float("inf"), "", "x", [], {}, [[1]], {"N": 1})


def test_every_choice_that_is_kept_is_tried_here() -> None:
    folder = Path(attn_gui.views.__file__).parent
    kept = set()
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "keep_view":
                kept |= {keyword.arg for keyword in node.keywords if keyword.arg is not None}
    assert kept == set(WORDS)


def test_the_heatmaps_keep_the_choices_that_are_tried_here(context: Context, qtbot: QtBot) -> None:
    for stage in ("A", "N"):
        panel = HeatmapPanel(context, stage)
        qtbot.addWidget(panel)
        panel.heatmap.choices.set_mapping("linear")
        panel.heatmap.choices.set_pooling("max")
    assert set(context.document.session.view) == set(HEATMAPS)


def test_the_token_tables_show_any_choice(context: Context, qtbot: QtBot) -> None:
    named = NamedExperiment("test", several_heads())
    panel = TokenPanel(context)
    qtbot.addWidget(panel)
    for value in ODD:
        context.document.open(Session((named,), 0, {"positions": value}), None)
        assert panel.show_positions.isChecked() is (value is True)
        assert ("position" in panel.table.tokens.columns) is (value is True)


def compare_drawer(context: Context) -> Drawer:
    """With something pinned."""
    pins = PinActions(context, context.document)
    drawer = CompareDrawer(context, pins)
    context.document.start()
    pins.pin.trigger()
    return drawer


@pytest.mark.parametrize("make", [WeightsDrawer, StagesDrawer, HeadsDrawer, compare_drawer])
def test_drawers_show_any_choice(make: Callable[[Context], Drawer], context: Context, qtbot: QtBot) -> None:
    named = NamedExperiment("test", several_heads())
    drawer = make(context)
    qtbot.addWidget(drawer)
    qtbot.waitUntil(lambda: not context.worker.busy, timeout=30_000)
    drawer.show()
    qtbot.waitExposed(drawer)
    for name in WORDS:
        for value in ODD:
            context.document.open(Session((named,), 0, {name: value}), None)
            # an error that Qt put off comes to light with the next call
            QApplication.processEvents()
            drawer.refresh()
            drawer.grab()
            context.document.keep_view(**{name: value})


def test_the_controls_of_weights_fall_back_to_their_defaults(context: Context, qtbot: QtBot) -> None:
    drawer = WeightsDrawer(context)
    qtbot.addWidget(drawer)
    drawer.show()
    named = NamedExperiment("test", several_heads())
    for seed, shown in ((7, 7), (2**31 - 1, 2**31 - 1), (2**31, 0), (True, 0), (-1, 0), ("7", 0), (7.0, 0)):
        context.document.open(Session((named,), 0, {"weights_seed": seed}), None)
        assert drawer.controls.seed.value() == shown
    for kind, shown_kind in (("xavier", "xavier"), ("x", "linear"), (10**30, "linear"), (["xavier"], "linear")):
        context.document.open(Session((named,), 0, {"weights_initialiser": kind}), None)
        assert drawer.controls.initialiser.currentData() == shown_kind


def test_heatmaps_show_any_choice(context: Context, qtbot: QtBot) -> None:
    named = NamedExperiment("test", several_heads())
    for stage in ("A", "N"):
        panel = HeatmapPanel(context, stage)
        qtbot.addWidget(panel)
        panel.show()
    for name in HEATMAPS:
        for value in ODD:
            context.document.open(Session((named,), 0, {name: value}), None)
            QApplication.processEvents()


@pytest.mark.parametrize("value", ODD)
def test_what_is_not_of_the_kind_is_the_default(value: Any) -> None:
    session = Session((NamedExperiment("test", several_heads()),), 0, {"c": value})
    assert view_choices.word(session, "c", ["N"], "default") == "default"
    assert view_choices.whole(session, "c", 0, 10, 5) == 5
    assert view_choices.flag(session, "c") is (value is True)
