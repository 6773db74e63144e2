"""The Scoring drawer: every step can be chosen, set, undone, and what cannot be is said beside it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot

from attn_gui.compute.trace import trace
from attn_gui.model.biases import Bias
from attn_gui.model.experiment import Experiment
from attn_gui.model.initialise import initial_weights
from attn_gui.model.kv_heads import with_kv_heads
from attn_gui.model.normalisers import Normaliser
from attn_gui.model.positions import InputPosition
from attn_gui.model.positions.learned import Learned
from attn_gui.model.qk_norm import QKNorm
from attn_gui.model.rotary import Rotary
from attn_gui.model.rotary.frequencies import Frequencies
from attn_gui.model.scoring import Scoring
from attn_gui.model.starting import choosable_parts
from attn_gui.views.context import Context
from attn_gui.views.drawers.scoring_drawer import ScoringDrawer
from tests.reference import reference
from tests.views.drawer_helpers import open_experiment


def four_heads() -> Experiment:
    """4 heads of 2 numbers each, so that pairs can be turned."""
    X = np.random.RandomState(3).standard_normal((5, 8))
    weights = initial_weights("xavier", 8, 8, 4, seed=1, multi_head=True)
    return Experiment.from_tokens("abcde", X, weights, heads=4)


@pytest.fixture
def drawer(context: Context, qtbot: QtBot) -> ScoringDrawer:
    """The drawer open on four heads."""
    open_experiment(context, four_heads())
    made = ScoringDrawer(context)
    qtbot.addWidget(made)
    made.resize(1200, 400)
    made.show()
    qtbot.waitExposed(made)
    return made


def typed(qtbot: QtBot, field: QLineEdit, text: str) -> None:
    field.setFocus()
    field.selectAll()
    qtbot.keyClicks(field, text)
    qtbot.keyClick(field, Qt.Key.Key_Return)


def e(context: Context) -> Experiment:
    return context.document.experiment


@pytest.mark.parametrize(
    ("group", "family"),
    [("position", InputPosition), ("norm", QKNorm), ("rotary", Rotary), ("normaliser", Normaliser)],
)
def test_every_part_can_be_chosen_and_undone(
    drawer: ScoringDrawer, context: Context, group: str, family: type[InputPosition]
) -> None:
    box = getattr(drawer, group)
    for kind in choosable_parts(family):
        before = e(context)
        box.kind.chosen.emit(kind.kind)
        part = getattr(e(context).scoring, box.field)
        assert type(part) is kind
        assert box.kind.currentText() == kind.title
        shown = [name for name, field in box.fields.fields.items() if not field.isHidden()]
        declared = [name for name, p in kind.parameters() if p.kind != "array" and name not in box.hidden(part)]
        assert shown == declared
        assert np.isfinite(trace(e(context)).stage("N")).all()
        if e(context) is not before:
            context.document.undo_stack.undo()
            assert e(context) is before


def test_a_parameter_that_is_typed_is_computed_with(drawer: ScoringDrawer, context: Context, qtbot: QtBot) -> None:
    drawer.rotary.kind.chosen.emit("frequencies")
    assert drawer.rotary.fields is not None
    base = drawer.rotary.fields.fields["base"]
    assert isinstance(base, QLineEdit)
    typed(qtbot, base, "50")
    rotary = e(context).scoring.rotary
    assert isinstance(rotary, Frequencies) and rotary.base == 50
    found = trace(e(context)).stage("N")
    right = reference(e(context))
    assert np.abs(found - right.stages["N"]).max() <= right.tolerance(e(context), "N")
    typed(qtbot, base, "nothing")
    assert base.reason.isVisibleTo(drawer)  # type: ignore[attr-defined]
    assert e(context).scoring.rotary is rotary


def test_only_what_a_scaling_looks_at_is_shown(drawer: ScoringDrawer, context: Context) -> None:
    drawer.rotary.kind.chosen.emit("frequencies")
    fields = drawer.rotary.fields
    assert fields is not None
    assert fields.fields["factor"].isHidden() and fields.fields["fast"].isHidden()
    changed = Frequencies(scaling="yarn")
    drawer.rotary._take(changed, "scaling", None)
    assert not fields.fields["factor"].isHidden() and not fields.fields["fast"].isHidden()
    assert fields.fields["high"].isHidden()


def test_what_cannot_be_is_said_beside_it(drawer: ScoringDrawer, context: Context) -> None:
    odd = Experiment.from_tokens("ab", np.ones((2, 3)))  # a head of 3 numbers has one left without a partner
    context.document.apply("odd", odd)
    drawer.rotary.kind.chosen.emit("frequencies")
    assert e(context) is odd
    assert "even number of the 3 dimensions" in drawer.rotary.reason.text()
    assert drawer.rotary.reason.isVisibleTo(drawer)
    assert drawer.rotary.kind.currentText() == "None"


def test_a_drag_of_the_temperature_is_one_step(drawer: ScoringDrawer, context: Context, qtbot: QtBot) -> None:
    before, slider = e(context), drawer.temperature.slider
    for value in (-10, -20, -30):
        slider.setValue(value)
    assert e(context).scoring.temperature == pytest.approx(10**-0.3, abs=1e-3)
    slider.sliderReleased.emit()
    slider.setValue(50)
    context.document.undo_stack.undo()
    assert slider.value() == -30
    context.document.undo_stack.undo()
    assert e(context) is before
    typed(qtbot, drawer.temperature.number, "2.5")
    assert e(context).scoring.temperature == 2.5
    typed(qtbot, drawer.temperature.number, "0")
    assert "from 1e-30 to 1e30" in drawer.temperature.number.reason.text()
    drawer.temperature.reset.click()
    assert e(context).scoring.temperature == 1


def test_biases_add_up_and_go_one_by_one(drawer: ScoringDrawer, context: Context, qtbot: QtBot) -> None:
    for kind in choosable_parts(Bias):
        drawer.bias.add.chosen.emit(kind.kind)
    titles = [bias.title for bias in e(context).scoring.biases]
    assert titles == [kind.title for kind in choosable_parts(Bias)]
    drawer.bias.rows[0].remove.click()
    assert [bias.title for bias in e(context).scoring.biases] == titles[1:]
    assert len(drawer.bias.rows) == len(titles) - 1


def test_sinks_one_a_head(drawer: ScoringDrawer, context: Context, qtbot: QtBot) -> None:
    drawer.sinks.used.click()
    assert e(context).scoring.sinks == (0.0,) * 4
    typed(qtbot, drawer.sinks.scores, "1; 0.5, -1 2")
    assert e(context).scoring.sinks == (1.0, 0.5, -1.0, 2.0)
    typed(qtbot, drawer.sinks.scores, "1, 2")
    assert "4 numbers, one a head" in drawer.sinks.scores.reason.text()
    assert e(context).scoring.sinks == (1.0, 0.5, -1.0, 2.0)
    drawer.normaliser.kind.chosen.emit("sigmoid")
    assert e(context).scoring.sinks is None
    assert not drawer.sinks.used.isEnabled()


def test_kv_heads(drawer: ScoringDrawer, context: Context) -> None:
    before = e(context)
    drawer.kv.count.chosen.emit(2)
    assert e(context).kv_heads == 2
    assert np.array_equal(trace(e(context)).stage("K"), trace(with_kv_heads(before, 2)).stage("K"))
    assert "Grouped-query: 2 heads" in drawer.kv.told.text()
    drawer.kv.count.chosen.emit(1)
    assert "Multi-query" in drawer.kv.told.text()


def test_what_a_file_brought_is_shown(drawer: ScoringDrawer, context: Context) -> None:
    table = Learned(np.ones((20, e(context).d_model)))
    context.document.apply("open", four_heads())

    context.document.apply("learned", replace(e(context), scoring=Scoring(position=table)))
    assert drawer.position.kind.currentText() == Learned.title


def test_every_control_has_a_name(drawer: ScoringDrawer, context: Context) -> None:
    drawer.rotary.kind.chosen.emit("frequencies")
    for group in drawer.groups:
        for control in group.findChildren(QLineEdit):
            if control.isVisibleTo(drawer) and control.objectName() != "qt_spinbox_lineedit":
                assert control.accessibleName(), (group.title, control)
