"""The lines of the flow view against a walk over every cell, and their sums against the rows'."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attn_gui.compute.stream.trace import StreamedTrace
from attn_gui.compute.trace import trace
from attn_gui.model.arranging import Arrangement
from attn_gui.model.experiment import Experiment
from attn_gui.model.flow import MOST_LINES, MOST_TOKENS, Flow, FlowAsk
from attn_gui.model.masks import Causal
from attn_gui.model.normalisers.sparsemax import Sparsemax
from attn_gui.model.painted import Painted
from attn_gui.model.scoring import Scoring
from attn_gui.model.structured import structured_experiment
from attn_gui.model.trace import Head, Trace
from tests.answering import answered
from tests.reference import allowed_cells
from tests.strategies import experiments

KARINA = ("karina", "is", "to", "the", "store"), [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 1.0], [0.5, 1.0]]

Line = tuple[float, int, int, int]  # weight, place of the head, query, key


def lines_of(flow: Flow) -> list[Line]:
    columns = (flow.weight, flow.head, flow.query, flow.key)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def every_line(e: Experiment, of: Trace, heads: tuple[Head, ...]) -> list[Line]:
    """Cell by cell: where the mask allows it and there is weight."""
    N = of.stage("N").astype(np.float64)  # [heads, n_q, n_k]
    allowed = np.broadcast_to(allowed_cells(e), N.shape)
    found: list[Line] = []
    for place, head in enumerate(heads):
        for i in range(e.n_q):
            for j in range(e.n_k):
                if head == "mean":
                    weight = float(of.matrix("N", "mean").block(slice(i, i + 1), slice(j, j + 1))[0, 0])
                    there = bool(allowed[:, i, j].any())
                    assert weight == pytest.approx(N[:, i, j].mean(), rel=0.01, abs=1e-9)
                else:
                    weight, there = float(N[head, i, j]), bool(allowed[head, i, j])
                if there and weight > 0:
                    found.append((weight, place, i, j))
    return sorted(found, key=_heaviest_first)


def added_up(lines: list[Line]) -> list[Line]:
    """One line for a query and a key, of the weights of every head."""
    sums: dict[tuple[int, int], float] = {}
    for weight, _, i, j in sorted(lines, key=lambda line: line[1]):
        sums[i, j] = sums.get((i, j), 0.0) + weight
    return sorted(((weight, 0, *cell) for cell, weight in sums.items()), key=_heaviest_first)


def _heaviest_first(line: Line) -> tuple[float, int, int, int]:
    return -line[0], *line[1:]


@settings(max_examples=25)
@given(st.data())
def test_lines_and_sums_are_those_of_every_cell(data: st.DataObject) -> None:
    e = data.draw(experiments())
    of = trace(e)
    heads: tuple[Head, ...] = data.draw(
        st.sampled_from([(0,), ("mean",), tuple(range(e.heads)), tuple(range(e.heads))[::2]])
    )
    windows = []
    for count in (e.n_q, e.n_k):
        start = data.draw(st.integers(0, count - 1))
        windows.append((start, data.draw(st.integers(start + 1, count))))
    (top, bottom), (left, right) = windows
    threshold = data.draw(st.sampled_from([0.0, 0.05, 0.2, 0.5, 1.0]))
    most = data.draw(st.sampled_from([0, 1, 3, MOST_LINES]))
    summed = data.draw(st.booleans())
    flow = answered(of, FlowAsk(heads, *windows, threshold, most, summed))

    every = every_line(e, of, heads)
    if summed:
        every = added_up(every)
    within = [line for line in every if top <= line[2] < bottom and left <= line[3] < right]
    assert lines_of(flow) == [line for line in within if line[0] >= threshold][:most]
    slack = 4 * e.precision.eps * len(heads) * (1 + e.n_k)
    for i in range(top, bottom):
        mine, shown = [line for line in within if line[2] == i], [line for line in lines_of(flow) if line[2] == i]
        place = i - top
        assert flow.queries.lines[place] == len(mine) and flow.queries.lines_shown[place] == len(shown)
        assert flow.queries.shown[place] == pytest.approx(math.fsum(line[0] for line in shown), abs=1e-12)
        assert flow.queries.within[place] == pytest.approx(math.fsum(line[0] for line in mine), abs=1e-12)
        whole = math.fsum(line[0] for line in every if line[2] == i)
        assert flow.total[place] == pytest.approx(whole, abs=slack)
        assert flow.queries.within[place] + flow.beyond[place] == pytest.approx(flow.total[place], abs=slack)
    for j in range(left, right):
        mine, shown = [line for line in within if line[3] == j], [line for line in lines_of(flow) if line[3] == j]
        place = j - left
        assert flow.keys.lines[place] == len(mine) and flow.keys.lines_shown[place] == len(shown)
        assert flow.keys.shown[place] == pytest.approx(math.fsum(line[0] for line in shown), abs=1e-12)
        assert flow.keys.within[place] == pytest.approx(math.fsum(line[0] for line in mine), abs=1e-12)
    assert flow.odd == 0


def test_karina_by_hand() -> None:
    flow = answered(trace(Experiment.from_tokens(*KARINA)), FlowAsk((0,), (0, 5), (0, 5), 0.25))
    exps = [math.exp(x) for x in (1 / math.sqrt(2), 1 / math.sqrt(2), math.sqrt(2), math.sqrt(2), 1.5 / math.sqrt(2))]
    heaviest = exps[2] / sum(exps)  # "to" and "the" look at each other and at themselves
    assert [line[1:] for line in lines_of(flow)] == [(0, 2, 2), (0, 2, 3), (0, 3, 2), (0, 3, 3)]
    assert flow.weight == pytest.approx([heaviest] * 4, rel=1e-6)
    assert flow.queries.lines.tolist() == [5] * 5 and flow.queries.lines_shown.tolist() == [0, 0, 2, 2, 0]
    assert flow.total == pytest.approx([1.0] * 5) and flow.beyond.tolist() == [0.0] * 5


def test_of_lines_that_weigh_the_same_the_first_are_had() -> None:
    e = Experiment.from_tokens(["a", "b", "c"], np.zeros((3, 2)))
    for most in range(10):
        flow = answered(trace(e), FlowAsk((0,), (0, 3), (0, 3), most=most))
        assert [line[2:] for line in lines_of(flow)] == [(i, j) for i in range(3) for j in range(3)][:most]


def test_masked_cells_empty_rows_and_zero_weights_have_no_line() -> None:
    blank = Painted().with_cells([(2, j) for j in range(5)], False)
    causal = replace(Experiment.from_tokens(*KARINA), rule=Causal(), painted=blank)
    flow = answered(trace(causal), FlowAsk((0,), (0, 5), (0, 5)))
    assert {line[2:] for line in lines_of(flow)} == {(i, j) for i in (0, 1, 3, 4) for j in range(i + 1)}
    assert flow.total[2] == flow.queries.within[2] == flow.queries.lines[2] == 0
    scored = np.array([[4.0, 0.0], [0.0, 4.0]])
    sparse = replace(Experiment.from_tokens(["a", "b"], scored), scoring=Scoring(normaliser=Sparsemax()))
    flow = answered(trace(sparse), FlowAsk((0,), (0, 2), (0, 2)))
    assert lines_of(flow) == [(1.0, 0, 0, 0), (1.0, 0, 1, 1)]
    assert flow.queries.lines.tolist() == [1, 1]


def test_what_is_no_number_has_no_line_and_is_counted() -> None:
    random = np.random.RandomState(0)
    Q, K = random.standard_normal((3, 2)), random.standard_normal((3, 2))
    Q[1] = np.nan
    flow = answered(trace(Experiment.from_qkv(Q, K, np.eye(3))), FlowAsk((0,), (0, 3), (0, 3)))
    assert flow.odd == 3
    assert sorted({line[2] for line in lines_of(flow)}) == [0, 2]


@pytest.mark.parametrize(
    ("heads", "window", "expected"),
    [
        ((0, 7), (0, 5), ((0,), (0, 5))),
        ((9,), (-3, 99), ((0,), (0, 5))),
        (("mean", 0), (4, 4), (("mean", 0), (4, 5))),
        ((0,), (50, 60), ((0,), (4, 5))),
    ],
)
def test_an_ask_is_brought_within_bounds(
    heads: tuple[Head, ...], window: tuple[int, int], expected: tuple[tuple[Head, ...], tuple[int, int]]
) -> None:
    ask = answered(trace(Experiment.from_tokens(*KARINA)), FlowAsk(heads, window, window)).ask
    assert (ask.heads, ask.queries, ask.keys) == (expected[0], expected[1], expected[1])


def test_a_single_token() -> None:
    flow = answered(trace(Experiment.from_tokens(["a"], [[1.0]])), FlowAsk((0,), (0, 1), (0, 1)))
    assert lines_of(flow) == [(1.0, 0, 0, 0)]


def test_a_long_text_is_looked_at_through_a_window() -> None:
    e = structured_experiment(1200)
    whole, streamed = trace(e), StreamedTrace(e, "cpu")
    ask = FlowAsk((1, "mean"), (600, 1199), (0, 900))
    dense, long = answered(whole, ask), answered(streamed, ask)
    for flow in (dense, long):
        assert flow.ask.queries == (600, 600 + MOST_TOKENS) and flow.ask.keys == (0, MOST_TOKENS)
        assert len(flow.weight) == MOST_LINES < flow.queries.lines.sum()
        # head 2 looks at the first word, which is in sight
        sink = (flow.head == 0) & (flow.key == 0)
        assert sink.sum() == MOST_TOKENS and flow.weight[sink].min() > 0.9
        np.testing.assert_allclose(flow.queries.within + flow.beyond, flow.total, atol=1e-6)
        np.testing.assert_allclose(flow.total, 2, atol=1e-4)
    np.testing.assert_allclose(dense.queries.within, long.queries.within, atol=1e-5)


PIECES = ("[CLS]", "un", "##believ", "##able", "play", "##ers", "won", "[SEP]")
PLACES = ([1, 2, 3], [4, 5], [6])


def test_lines_of_words_are_sums_over_keys_and_means_over_queries() -> None:
    rng = np.random.default_rng(4)
    Q, K, V = (rng.standard_normal((2, 8, 4)) for _ in range(3))
    t = trace(Experiment.from_qkv(Q, K, V, tokens=PIECES))
    N = [t.stage("N", head).astype(np.float64) for head in (0, 1)]
    both = Arrangement(True, True)
    for heads, summed in (((0,), False), ((0, 1), True)):
        found = answered(t, FlowAsk(heads, (0, 3), (0, 3), summed=summed, arranged=both))
        whole = sum(N[head] for head in heads)
        expected = {
            (i, j): np.mean([sum(whole[q, k] for k in keys) for q in queries])
            for i, queries in enumerate(PLACES)
            for j, keys in enumerate(PLACES)
        }
        lines = dict(zip(zip(found.query.tolist(), found.key.tolist(), strict=True), found.weight, strict=True))
        assert lines.keys() == expected.keys()
        np.testing.assert_allclose([lines[cell] for cell in expected], list(expected.values()), rtol=1e-12)
        hidden = [np.mean([whole[q, 0] + whole[q, 7] for q in queries]) for queries in PLACES]
        np.testing.assert_allclose(found.hidden, hidden, rtol=1e-12)
        np.testing.assert_allclose(found.total, len(heads), rtol=1e-6)
        np.testing.assert_array_equal(found.beyond, 0)
        assert found.drawn is not None and found.drawn.queries.names == ("unbelievable", "players", "won")
    part = answered(t, FlowAsk((0,), (1, 99), (2, 99), arranged=both))
    assert (part.ask.queries, part.ask.keys) == ((1, 3), (2, 3))
    np.testing.assert_allclose(
        part.beyond, [np.mean([N[0][q, 1:6].sum() for q in queries]) for queries in PLACES[1:]], rtol=1e-9
    )
