"""The formula in a panel's title is never cut."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from attn_gui.views.formula_label import FormulaLabel


def test_a_formula_is_whole_or_its_symbol_or_not_there(qtbot: QtBot) -> None:
    label = FormulaLabel("A = QKᵀ/√d_k")
    qtbot.addWidget(label)
    metrics = label.fontMetrics()
    drawn = []
    for width in range(200, -1, -1):
        label.resize(width, 20)
        assert metrics.horizontalAdvance(label.drawn) <= width
        drawn.append(label.drawn)
    assert list(dict.fromkeys(drawn)) == ["A = QKᵀ/√d_k", "A", ""]
    label.setText("N V")
    label.resize(metrics.horizontalAdvance("N V") - 1, 20)
    assert label.drawn == ""
