"""Groups in columns: in their order, within the width, and as low as they can be."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import accumulate, pairwise
from math import ceil

from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from attn_gui.model.biases.alibi import ALiBi
from attn_gui.model.rotary.frequencies import Frequencies
from attn_gui.model.scoring import Scoring
from attn_gui.views.context import Context
from attn_gui.views.drawers.columns import ALIKE, Columns, column_counts
from attn_gui.views.drawers.scoring_drawer import ScoringDrawer
from attn_gui.views.scoring.group import GAP
from tests.views.drawer_helpers import open_experiment, several_heads

Sizes = tuple[tuple[int, int], ...]
SIZES = st.lists(st.tuples(st.integers(1, 500), st.integers(1, 400)), min_size=1, max_size=7).map(tuple)


def ways(sizes: Sizes) -> Iterator[list[Sizes]]:
    """Every way to cut ``sizes``, by what the first column takes."""
    for first in range(1, len(sizes)):
        for rest in ways(sizes[first:]):
            yield [sizes[:first], *rest]
    yield [sizes]


def cut(sizes: Sizes, counts: tuple[int, ...]) -> list[Sizes]:
    return [sizes[end - count : end] for count, end in zip(counts, accumulate(counts), strict=True)]


def width_of(columns: list[Sizes], gap: int) -> int:
    return sum(max(w for w, _ in column) for column in columns) + gap * (len(columns) - 1)


def height_of(columns: list[Sizes], gap: int) -> int:
    return max(sum(h for _, h in column) + gap // 2 * (len(column) - 1) for column in columns)


@given(SIZES, st.integers(1, 2500), st.sampled_from([0, 8, 24]))
def test_no_way_that_fits_is_lower(sizes: Sizes, width: int, gap: int) -> None:
    chosen = cut(sizes, column_counts(sizes, width, gap))
    assert sum(map(len, chosen)) == len(sizes) and all(chosen)
    fitting = [way for way in ways(sizes) if width_of(way, gap) <= width]
    if not fitting:
        assert chosen == [sizes]
        return
    assert width_of(chosen, gap) <= width
    classes = [ceil(height_of(way, gap) / ALIKE) for way in fitting]
    assert ceil(height_of(chosen, gap) / ALIKE) == min(classes)


def test_columns_hold_equal_numbers_where_that_is_as_low() -> None:
    assert column_counts(((100, 50),) * 8, 4 * 100 + 3 * 24, 24) == (2, 2, 2, 2)
    assert column_counts(((100, 50),) * 8, 8 * 100 + 7 * 24, 24) == (1,) * 8
    assert column_counts(((100, 50), (100, 50), (100, 300), (100, 50)), 400, 24) == (2, 1, 1)
    assert column_counts((), 400, 24) == ()


def test_a_layout_has_them_where_it_says(qtbot: QtBot) -> None:
    around = QWidget()
    qtbot.addWidget(around)
    layout = Columns(24, around)
    parts = []
    for height in (40, 60, 200, 30):
        part = QWidget()
        part.setFixedSize(100, height)
        layout.addWidget(part)
        parts.append(part)
    around.resize(400, 300)
    around.show()
    qtbot.waitExposed(around)
    places = [(part.x(), part.y()) for part in parts]
    assert places == [(0, 0), (0, 52), (124, 0), (248, 0)]
    assert layout.heightForWidth(400) == 200
    assert layout.heightForWidth(99) == 40 + 60 + 200 + 30 + 3 * 12
    parts[2].hide()
    assert layout.heightForWidth(400) == 60


def test_the_groups_of_the_drawer_stand_close_whatever_is_chosen(context: Context, qtbot: QtBot) -> None:
    open_experiment(context, several_heads(width=16))
    drawer = ScoringDrawer(context)
    qtbot.addWidget(drawer)
    drawer.resize(1280, 400)
    drawer.show()
    qtbot.waitExposed(drawer)
    e = context.document.experiment
    inside = drawer.kv.parentWidget()
    assert inside is not None

    def close_together() -> None:
        places = [group.geometry() for group in drawer.groups]
        for before, after in pairwise(places):
            below = after.x() == before.x() and after.y() == before.bottom() + 1 + GAP // 2
            beside = after.x() > before.right() + GAP and after.y() == 0
            assert below or beside, "in the order of the steps, and without a hole"
        assert max(place.right() for place in places) < inside.width()
        tallest = max(place.height() for place in places)
        assert max(place.bottom() for place in places) <= tallest + 80, "no column is much longer than it must be"

    for scoring in (
        Scoring(),
        Scoring(rotary=Frequencies()),
        Scoring(rotary=Frequencies(scaling="yarn"), biases=(ALiBi(),), temperature=2.0, sinks=(0.0,) * e.heads),
    ):
        context.document.apply("Scoring", replace(e, scoring=scoring))
        qtbot.waitUntil(close_together, timeout=2_000)
