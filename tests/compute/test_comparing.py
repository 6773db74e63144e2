"""Comparisons against whole arrays in plain numpy: what is drawn, and the figures that sum it up."""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from attn_gui.compute.comparing import difference, strongest
from attn_gui.compute.comparing import figures as figures_module
from attn_gui.compute.comparing.beside import Beside
from attn_gui.compute.comparing.figures import figures, looked_at
from attn_gui.compute.comparing.pair import Pair, pair
from attn_gui.compute.picture import picture
from attn_gui.compute.stream.trace import StreamedTrace
from attn_gui.compute.trace import trace
from attn_gui.model.answers import NotYet
from attn_gui.model.arranging import Arrangement
from attn_gui.model.asks import PictureAsk
from attn_gui.model.comparison import Comparison, Figures, RowFigures, Side, comparable, frame, in_float64
from attn_gui.model.edits import delete_tokens, set_cells
from attn_gui.model.experiment import Experiment
from attn_gui.model.initialise import initial_weights
from attn_gui.model.masks import Causal
from attn_gui.model.normalisers.sigmoid import Sigmoid
from attn_gui.model.picture import MASKED
from attn_gui.model.precision import Precision
from attn_gui.model.scoring import Scoring
from attn_gui.model.stages import STAGES
from attn_gui.model.trace import Head, Trace
from tests.strategies import experiments

Array = NDArray[np.float64]
ALL = slice(None)


def compared(comparison: Comparison) -> Pair:
    rows, columns = (
        tuple(f"{letter}{k}" for k in range(count)) for letter, count in zip("rc", comparison.shape, strict=True)
    )
    left, right = (frame(side.experiment, comparison.stage, rows, columns) for side in comparison.sides)
    made = finished(pair(comparison, (left, right, in_float64(right))))
    assert isinstance(made, Pair)
    return made


def finished(steps: Generator[object, None, object]) -> object:
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


def summed_up(made: Pair) -> Figures:
    steps = figures(made)
    while True:
        try:
            next(steps)
        except StopIteration as finished:
            found: Figures = finished.value
            return found


def whole(t: Trace, stage: str, head: Head) -> tuple[Array, NDArray[np.bool_]]:
    """A stage of a trace as one array in float64, and what is allowed."""
    e = t.experiment
    if not STAGES[stage].square:
        values = t.stage(stage, 0 if head == "mean" else head).astype(np.float64)
        return values, np.ones(values.shape, bool)
    matrix = t.matrix(stage, head)
    every = slice(0, e.n_q), slice(0, e.n_k)
    heads = range(e.heads) if head == "mean" else [head]
    allowed = np.any([e.allowed(*every, head=h) for h in heads], axis=0)
    return matrix.block(*every).astype(np.float64), allowed


def expected_difference(c: Comparison) -> tuple[Array, NDArray[np.bool_], Array, Array, int]:
    (a, a_allowed), (b, b_allowed) = (whole(side.trace, c.stage, side.head) for side in c.sides)
    rows, columns = min(len(a), len(b)), min(a.shape[1], b.shape[1])
    a, b, a_allowed, b_allowed = (x[:rows, :columns] for x in (a, b, a_allowed, b_allowed))
    with np.errstate(invalid="ignore"):
        d = b - a
    allowed = a_allowed | b_allowed if c.stage == "N" else a_allowed & b_allowed
    return d, allowed, a, b, int((a_allowed ^ b_allowed).sum())


def check_largest(c: Comparison, found: Figures) -> None:
    d, allowed, a, b, one_sided = expected_difference(c)
    assert found.one_sided == one_sided
    usable = [(i, j) for i, j in np.ndindex(d.shape) if allowed[i, j] and math.isfinite(d[i, j])]
    assert found.not_finite == int(allowed.sum()) - len(usable)
    if not usable:
        assert found.largest is None
        return
    size = max(abs(d[cell]) for cell in usable)
    assert found.largest is not None
    cell = found.largest.i, found.largest.j
    assert cell in usable
    assert abs(found.largest.difference) == size
    assert (found.largest.difference, found.largest.left, found.largest.right) == (d[cell], a[cell], b[cell])


def check_rows(found: RowFigures | str, expected: list[float], *, largest: bool) -> None:
    """``expected``: of every row, NaN where it has none."""
    known = [(value, i) for i, value in enumerate(expected) if math.isfinite(value)]
    infinite = [i for i, value in enumerate(expected) if math.isinf(value)]
    if not known and not infinite:
        assert isinstance(found, str)
        return
    assert isinstance(found, RowFigures)
    assert (found.rows, found.infinite) == (len(known), len(infinite))
    assert found.left_out == len(expected) - len(known) - len(infinite)
    assert not infinite or found.first_infinite == infinite[0]
    if known:
        values = [value for value, _ in known]
        assert found.extreme == pytest.approx(max(values) if largest else min(values), rel=1e-9, abs=1e-12)
        assert expected[found.at] == pytest.approx(found.extreme, rel=1e-9, abs=1e-12)
        assert found.mean == pytest.approx(math.fsum(values) / len(values), rel=1e-9, abs=1e-12)


def divergence(p: Array, q: Array, slack: tuple[float, float]) -> float:
    """Of one row p from q, written out."""
    if not (np.isfinite(p).all() and np.isfinite(q).all()):
        return math.nan
    sums = math.fsum(p), math.fsum(q)
    if any(abs(total - 1) > most for total, most in zip(sums, slack, strict=True)):
        return math.nan
    terms = []
    for x, y in zip(p / sums[0], q / sums[1], strict=True):
        if x > 0:
            terms.append(math.inf if y == 0 else x * math.log(x / y))
    return max(0.0, math.fsum(terms))


def cosine(a: Array, b: Array) -> float:
    lengths = math.sqrt(math.fsum(a * a)), math.sqrt(math.fsum(b * b))
    return math.fsum(a * b) / (lengths[0] * lengths[1]) if all(0 < x < math.inf for x in lengths) else math.nan


def check_all(c: Comparison) -> None:
    found = summed_up(compared(c))
    assert found.done and found.rows == found.all_rows == c.shape[0]
    check_largest(c, found)
    left, right = (side.experiment for side in c.sides)
    if left.n_k == right.n_k and left.scoring.sums_to_one and right.scoring.sums_to_one:
        p, q = (whole(side.trace, "N", side.head)[0] for side in (c.right, c.left))
        slack = [s.experiment.precision.eps * (2 + math.log2(s.experiment.n_k)) for s in (c.right, c.left)]
        slack = [s * (2 if side.head == "mean" else 1) for s, side in zip(slack, (c.right, c.left), strict=True)]
        rows = range(min(len(p), len(q)))
        check_rows(found.divergence, [divergence(p[i], q[i], (slack[0], slack[1])) for i in rows], largest=True)
    else:
        assert isinstance(found.divergence, str)
    if not (c.heads and "mean" in (c.left.head, c.right.head)):
        a, b = (whole(side.trace, c.output_stage, side.head_of(c.output_stage))[0] for side in c.sides)
        if a.shape[1] == b.shape[1]:
            rows = range(min(len(a), len(b)))
            with np.errstate(invalid="ignore", over="ignore"):
                check_rows(found.cosine, [cosine(a[i], b[i]) for i in rows], largest=False)
            return
    assert isinstance(found.cosine, str)


@st.composite
def edited(draw: st.DrawFn, e: Experiment) -> Experiment:
    """``e`` after something that a person may do to it."""
    options = ["mask", "scale", "precision", "cells"] + (["delete"] if e.n_q > 1 and not e.painted else [])
    what = draw(st.sampled_from(options))
    if what == "mask":
        return replace(e, rule=Causal())
    if what == "scale":
        return replace(e, scoring=replace(e.scoring, scale=draw(st.sampled_from([0.0, 0.3, 2.0]))))
    if what == "precision":
        return replace(e, precision=draw(st.sampled_from(Precision)))
    if what == "cells" and e.tokens.width:
        return set_cells(e, "tokens", [0], [0], [draw(st.sampled_from([0.0, 3.0]))])
    if what == "delete" and e.weights is not None:
        return delete_tokens(e, "tokens", [draw(st.integers(0, e.n_q - 1))])
    return e


@settings(max_examples=14)
@given(st.data())
def test_a_comparison_with_an_edited_experiment(data: st.DataObject) -> None:
    before = data.draw(experiments())
    after = data.draw(edited(before))
    possible = [stage for stage, reason in comparable(before, after) if reason is None]
    stage = data.draw(st.sampled_from(possible))
    head: Head = data.draw(st.sampled_from(["mean", *range(before.heads)]))
    streamed = data.draw(st.booleans())
    left = StreamedTrace(before, "cpu") if streamed else trace(before)
    for _ in left.passes():
        pass
    check_all(Comparison(Side(left, head), Side(trace(after), head), stage))


@settings(max_examples=12)
@given(experiments(), st.data())
def test_two_heads_of_one_experiment(e: Experiment, data: st.DataObject) -> None:
    assume(e.heads > 1)
    one: Head = data.draw(st.sampled_from(range(e.heads)))
    other: Head = data.draw(st.sampled_from(["mean", *range(e.heads)]))
    stage = data.draw(st.sampled_from(["N", "A_masked", "head_output", "Q"]))
    t = trace(e)
    check_all(Comparison(Side(t, one), Side(t, other), stage, heads=True))


def several_heads(n: int) -> Experiment:
    X = np.random.default_rng(3).standard_normal((n, 4))
    return Experiment.from_tokens([f"t{i}" for i in range(n)], X, initial_weights("linear", 4, 4, 2, seed=1), heads=2)


def one_head(n: int, seed: int = 0, **fields: object) -> Experiment:
    return Experiment.from_tokens(map(str, range(n)), np.random.default_rng(seed).standard_normal((n, 3)), **fields)


def test_what_cannot_be_compared_says_why() -> None:
    plain = one_head(4)
    others = {
        "keys": one_head(5),
        "Sigmoid": replace(plain, scoring=Scoring(normaliser=Sigmoid())),
        "sink": replace(plain, scoring=Scoring(sinks=(0.5,))),
    }
    for word, other in others.items():
        found = summed_up(compared(Comparison(Side(trace(plain), 0), Side(trace(other), 0), "N")))
        assert isinstance(found.divergence, str) and word in found.divergence, word
        assert isinstance(found.cosine, RowFigures)
    wider = Experiment.from_tokens("abcd", np.eye(4))
    reasons = dict(comparable(plain, wider))
    assert reasons["N"] is None and reasons["Q"] == "d_k is 3 on one side, 4 on the other"
    found = summed_up(compared(Comparison(Side(trace(plain), 0), Side(trace(wider), 0), "N")))
    assert found.cosine == "outputs of 3 and of 4 numbers"


def test_outputs_wait_for_every_row() -> None:
    e = one_head(6)
    left, right = StreamedTrace(e, "cpu"), trace(replace(e, rule=Causal()))
    of_outputs = Comparison(Side(left, 0), Side(right, 0), "output")
    assert isinstance(finished(pair(of_outputs, (e, e, e))), NotYet)
    of_weights = Comparison(Side(left, 0), Side(right, 0), "N")
    assert summed_up(compared(of_weights)).cosine == "not every row is computed yet"
    for _ in left.passes():
        pass
    check_all(of_outputs)
    check_all(of_weights)


def test_long_sequences_are_looked_at_in_rows_that_lie_evenly() -> None:
    shape = 1000, 50
    assert sum(rows.stop - rows.start for rows in looked_at(shape)) == 1000
    some = list(looked_at(shape, cells=8_000))
    places = [rows.start for rows in some]
    assert sum(rows.stop - rows.start for rows in some) == 160
    assert (places[0], some[-1].stop) == (0, 1000)
    assert max(np.diff(places)) - min(np.diff(places)) <= 1


@pytest.mark.parametrize("stage", ["N", "A_masked"])
@pytest.mark.parametrize("limit", [1 << 23, 100])
def test_the_picture_of_a_difference(monkeypatch: pytest.MonkeyPatch, stage: str, limit: int) -> None:
    """From near each cell, from afar the largest in size with its sign, and of too many cells their mean."""
    monkeypatch.setattr(difference, "STRONGEST_CELLS", limit)
    before, after = one_head(24), replace(one_head(24, seed=1), rule=Causal())
    c = Comparison(Side(trace(before), 0), Side(trace(after), 0), stage)
    made = compared(c)
    d, allowed, *_ = expected_difference(c)
    near = picture(made.difference, PictureAsk("A", 0, (2, 9, 1, 11), (50, 50), diverging=True).request(after))
    assert near.exact
    part = (slice(2, 9), slice(1, 11))
    np.testing.assert_array_equal(near.values[allowed[part]], d[part][allowed[part]])
    np.testing.assert_array_equal(near.index == MASKED, ~allowed[part])
    far = picture(made.difference, PictureAsk("A", 0, None, (6, 8), diverging=True).request(after))
    assert far.values.shape == (6, 8) and not far.exact
    for r, c_ in np.ndindex(6, 8):
        cells = (slice(4 * r, 4 * r + 4), slice(3 * c_, 3 * c_ + 3))
        inside = d[cells][allowed[cells]]
        if limit > d.size and inside.size:
            assert far.values[r, c_] == inside[np.abs(inside).argmax()]
        elif limit < d.size and stage == "N":
            assert far.values[r, c_] == pytest.approx(d[cells].mean(), abs=1e-7)
    if limit > d.size:
        assert far.high == -far.low == np.abs(d[allowed]).max()


def test_the_figures_come_in_short_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = list(looked_at((40, 40), 40 * 40 - 1))
    monkeypatch.setattr(figures_module, "looked_at", lambda shape: rows)
    monkeypatch.setattr(figures_module, "goes_over_all", lambda shape: False)
    monkeypatch.setattr(figures_module, "PIECE_CELLS", 2 * 40)
    made = compared(Comparison(Side(trace(one_head(40)), 0), Side(trace(one_head(40, seed=1)), 0), "N"))
    sizes: list[int] = []

    class Watched:
        def __init__(self, side: Beside) -> None:
            self._side = side

        def __getattr__(self, name: str) -> object:
            return getattr(self._side, name)

        def block(self, rows: slice, columns: slice) -> object:
            sizes.append((rows.stop - rows.start) * (columns.stop - columns.start))
            return self._side.block(rows, columns)

    left, right, less = made.matrices
    for name, side in (("_left", left), ("_right", right)):
        monkeypatch.setattr(less, name, Watched(side))
    found = summed_up(made)
    assert found.rows == sum(part.stop - part.start for part in rows) == 32
    assert max(sizes) <= 2 * 40
    assert isinstance(found.cosine, RowFigures) and found.cosine.rows == 40


@pytest.mark.parametrize("stage", ["N", "A_masked"])
@pytest.mark.parametrize("side", [7, 24])
def test_a_pass_brings_the_largest_differences_of_a_large_matrix(
    monkeypatch: pytest.MonkeyPatch, stage: str, side: int
) -> None:
    monkeypatch.setattr(difference, "STRONGEST_CELLS", 100)
    monkeypatch.setattr(strongest, "SIDE", side)
    monkeypatch.setattr(difference, "STRIP_CELLS", 5 * 26)
    before, after = one_head(26), replace(one_head(26, seed=1), rule=Causal())
    c = Comparison(Side(trace(before), 0), Side(trace(after), 0), stage)
    made = compared(c)
    whole_window = (0, 26), (0, 26)
    assert not made.matrices[2].tells_strongest(*whole_window)
    summed_up(made)
    assert made.matrices[2].tells_strongest(*whole_window)
    d, allowed, *_ = expected_difference(c)
    factor = -(-26 // side)
    blocks = -(-26 // factor)
    far = picture(made.difference, PictureAsk("A", 0, None, (blocks, blocks), diverging=True).request(after))
    assert far.values.shape == (blocks, blocks) and not far.exact
    assert far.request.rows == (0, blocks * factor)
    for r, k in np.ndindex(blocks, blocks):
        cells = slice(factor * r, factor * (r + 1)), slice(factor * k, factor * (k + 1))
        inside = d[cells][allowed[cells]]
        assert far.values[r, k] == (inside[np.abs(inside).argmax()] if inside.size else 0)
        assert (far.index[r, k] == MASKED) == (inside.size == 0)
    assert far.high == -far.low == np.abs(d[allowed]).max()
    # a window begins and ends with its blocks
    part = picture(made.difference, PictureAsk("A", 0, (5, 19, 9, 26), (2, 3), diverging=True).request(after))
    top, bottom = 5 // factor * factor, -(-19 // factor) * factor
    assert part.request.rows == (top, bottom)
    rows, columns = slice(top, bottom), slice(part.request.columns[0], part.request.columns[1])
    inside = d[rows, columns][allowed[rows, columns]]
    assert np.abs(part.values).max() == np.abs(inside).max()


def test_both_sides_share_one_scale_of_colours() -> None:
    before = one_head(5)
    after = replace(before, scoring=Scoring(scale=4.0))
    made = compared(Comparison(Side(trace(before), 0), Side(trace(after), 0), "A"))
    request = PictureAsk("A", 0, diverging=True).request(before)
    left, right = picture(made.left, request), picture(made.right, request)
    assert (left.low, left.high) == (right.low, right.high)
    assert right.high == np.abs(whole(trace(after), "A", 0)[0]).max()


def test_a_streamed_difference_is_that_of_the_dense_ones() -> None:
    before, after = several_heads(9), replace(several_heads(9), rule=Causal())
    dense = compared(Comparison(Side(trace(before), 1), Side(trace(after), 1), "N"))
    streamed = compared(Comparison(Side(StreamedTrace(before, "cpu"), 1), Side(StreamedTrace(after, "cpu"), 1), "N"))
    rows, columns = slice(0, 9), slice(0, 9)
    np.testing.assert_allclose(
        streamed.matrices[2].block(rows, columns), dense.matrices[2].block(rows, columns), atol=1e-6
    )
    ask = PictureAsk("A", 0, (0, 9, 0, 9), (20, 20), diverging=True)
    matrix = streamed.matrices[2]
    for _ in matrix.begun("max"):
        pass
    for _ in matrix.refined(rows, columns, (20, 20), "max"):
        pass
    drawn = picture(streamed.difference, ask.request(before))
    assert drawn.exact
    np.testing.assert_allclose(drawn.values, dense.matrices[2].block(rows, columns), atol=1e-6)


def test_a_side_without_distributions_is_called_what_the_window_calls_it() -> None:
    e = Experiment.from_tokens(["a", "b"], [[1.0], [2.0]])
    sigmoid = replace(e, scoring=replace(e.scoring, normaliser=Sigmoid()))
    plain, other = Side(trace(e), 0), Side(trace(sigmoid), 0)
    why = f"rows of {Sigmoid.title} do not sum to 1"
    for comparison, said in (
        (Comparison(plain, other, "N"), f"{why} (present)"),
        (Comparison(other, plain, "N"), f"{why} (pinned)"),
        (Comparison(other, plain, "N", other="original"), f"{why} (original)"),
        (Comparison(other, other, "N"), why),
        (Comparison(other, other, "N", heads=True), why),
    ):
        assert summed_up(compared(comparison)).divergence == said


def test_what_is_drawn_is_arranged_and_figures_are_of_every_token() -> None:
    """Each side by its own tokens, which need not be as many."""
    rng = np.random.default_rng(3)
    names = "[CLS]", "play", "##ing", "now", "[SEP]"
    traces = [
        trace(Experiment.from_qkv(*(rng.standard_normal((1, len(tokens), 4)) for _ in range(3)), tokens=tokens))
        for tokens in (names, ("a", *names))
    ]
    sides = [Side(each, 0) for each in traces]
    left, right = (each.stage("N", 0).astype(np.float64) for each in traces)
    plain = Comparison(sides[0], sides[1], "N")
    both = replace(plain, arrangement=Arrangement(True, True))
    assert both.shape == (5, 5) and both.drawn_shape == (2, 2) and plain.drawn_shape == (5, 5)
    frames = [frame(s.experiment, "N", ("r0", "r1"), ("c0", "c1")) for s in both.sides]
    made = finished(pair(both, (frames[0], frames[1], in_float64(frames[1]))))
    assert isinstance(made, Pair)

    def drawn(N: Array, words: list[list[int]]) -> Array:
        return np.array(
            [[np.mean([sum(N[i, j] for j in keys) for i in queries]) for keys in words] for queries in words]
        )

    expected = drawn(left, [[1, 2], [3]]), drawn(right, [[0], [2, 3]])
    for matrix, wanted in zip(made.drawn, (*expected, expected[1] - expected[0]), strict=True):
        np.testing.assert_allclose(matrix.block(slice(0, 2), slice(0, 2)), wanted, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(
        made.matrices[2].block(slice(0, 5), slice(0, 5)), right[:5, :5] - left[:5, :5], atol=1e-12
    )
    assert summed_up(made) == summed_up(compared(plain))
    assert both.is_arranged and not replace(both, stage="V").is_arranged
