"""ArrayModel: a finished array as a table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import Qt
from pytestqt.modeltest import ModelTester

from attn_gui.model.precision import Precision
from attn_gui.views import array_model
from attn_gui.views.array_model import ArrayModel
from attn_gui.views.context import Context

Role = Qt.ItemDataRole


@pytest.fixture
def model(context: Context) -> ArrayModel:
    return ArrayModel(context.settings)


def test_it_is_a_model(model: ArrayModel, qtmodeltester: ModelTester) -> None:
    qtmodeltester.check(model)
    model.show(np.ones((2, 3)), ["a", "b"], ["o1", "o2", "o3"], Precision.FLOAT64)
    qtmodeltester.check(model)
    model.show(np.zeros((2, 3)), ["a", "b"], ["o1", "o2", "o3"], Precision.FLOAT64)


def test_shown_with_common_decimals_and_copied_in_full(model: ArrayModel, context: Context) -> None:
    values = np.array([[0.1, -2.0], [1 / 3, np.inf]], dtype=np.float32)
    model.show(values, ["a", "b"], ["o1", "o2"], Precision.FLOAT32)
    shown = [[model.data(model.index(r, c)) for c in range(2)] for r in range(2)]
    assert shown == [["0.1000", "\u22122.0000"], ["0.3333", "\u221e"]]
    assert model.cells(range(2), range(2)) == [["0.1", "-2"], ["0.33333334", "inf"]]
    assert model.data(model.index(1, 0), Role.EditRole) == "0.33333334"
    assert model.data(model.index(1, 0), Role.AccessibleTextRole) == "b, o1, 0.33333334"
    context.settings.decimals = 1
    assert model.data(model.index(1, 0)) == "0.3"


@pytest.mark.parametrize(
    ("precision", "text"),
    [
        (Precision.FLOAT64, "0.1"),
        (Precision.FLOAT32, "0.1"),
        (Precision.FLOAT16, "0.1"),
        (Precision.BFLOAT16, "0.1"),
    ],
)
@pytest.mark.parametrize("rows", [1, 5000])
def test_text_reads_back_in_its_precision(model: ArrayModel, precision: Precision, text: str, rows: int) -> None:
    nearest = {  # to 0.1
        Precision.FLOAT64: np.float64(0.1),
        Precision.FLOAT32: np.float32(0.1),
        Precision.FLOAT16: np.float16(0.1),
        Precision.BFLOAT16: np.float32(0.10009765625),
    }[precision]
    model.show(np.full((rows, 1), nearest), [""] * rows, ["o1"], precision)
    assert model.cells(range(rows), range(1)) == [[text]] * rows


def test_one_shape_keeps_its_place(model: ArrayModel) -> None:
    heard: list[str] = []
    model.modelReset.connect(lambda: heard.append("reset"))
    model.dataChanged.connect(lambda a, b: heard.append(f"{a.row()},{a.column()}-{b.row()},{b.column()}"))
    model.show(np.ones((2, 2)), "ab", "pq", Precision.FLOAT64)
    model.show(np.zeros((2, 2)), "ab", "pq", Precision.FLOAT64)
    model.show(np.zeros((3, 2)), "abc", "pq", Precision.FLOAT64)
    assert heard == ["reset", "0,0-1,1", "reset"]


def test_labels_must_fit(model: ArrayModel) -> None:
    with pytest.raises(ValueError, match="expected 1 x 2 values"):
        model.show(np.ones((2, 2)), ["a"], ["o1", "o2"], Precision.FLOAT64)


def test_cells_are_formatted_when_they_are_looked_at(model: ArrayModel, monkeypatch: pytest.MonkeyPatch) -> None:
    formatted: list[float] = []
    original = array_model.shown

    def counted(value: float, decimals: int) -> str:
        formatted.append(value)
        return original(value, decimals)

    monkeypatch.setattr(array_model, "shown", counted)
    values: Any = np.random.default_rng(1).normal(size=(2000, 512)).astype(np.float32)
    model.show(values, ["t"] * 2000, [f"o{i}" for i in range(512)], Precision.FLOAT32)
    assert formatted == []
    model.data(model.index(1999, 511))
    assert formatted == [float(values[1999, 511])]


def test_nothing_can_be_written(model: ArrayModel) -> None:
    model.show(np.ones((1, 1)), ["a"], ["o1"], Precision.FLOAT64)
    assert not model.flags(model.index(0, 0)) & Qt.ItemFlag.ItemIsEditable
    assert not model.setData(model.index(0, 0), "2")
