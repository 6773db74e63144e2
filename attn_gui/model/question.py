"""Question: an experiment, and the numbers that another program made of the same queries, keys and values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from attn_gui.model.biases import Bias
from attn_gui.model.errors import ExperimentError, HiddenStage
from attn_gui.model.experiment import Experiment
from attn_gui.model.mask_import import mask_of
from attn_gui.model.masks import Causal, Imported, MaskRule, SlidingWindow
from attn_gui.model.precision import Precision
from attn_gui.model.rotary.frequencies import Frequencies
from attn_gui.model.scoring import Scoring
from attn_gui.model.table import Floats, floats
from attn_gui.model.window_shape import window_shape

# a number of an additive mask that stands for -inf: softmax makes nothing of it
FORBIDS = -1e4

_PRECISIONS = {"float16": Precision.FLOAT16, "float32": Precision.FLOAT32}


@dataclass(frozen=True, eq=False)
class Numbers:
    """Numbers as another program gave them.

    values: float64. precision: the format that they came in. half_unit: half of the last printed place of each cell,
    as far as printing may have moved it, in the shape of ``values``; None where they came whole.
    """

    values: Floats
    precision: Precision
    half_unit: Floats | None = None

    @classmethod
    def of(cls, array: ArrayLike | Numbers) -> Numbers:
        """From an array-like; raises ExperimentError for what holds no numbers."""
        if isinstance(array, Numbers):
            return array
        try:
            given = np.asarray(array)
            values = floats(given)
        except ExperimentError:
            raise
        except (TypeError, ValueError) as error:
            raise ExperimentError("numbers", "an array of numbers", f"{type(array).__name__} ({error})") from error
        return cls(values, _PRECISIONS.get(given.dtype.name, Precision.FLOAT64))

    @property
    def shape(self) -> tuple[int, ...]:
        return self.values.shape

    def reshaped(self, shape: tuple[int, ...], axes: tuple[int, ...] | None = None) -> Numbers:
        """In another shape, with its axes in another order where ``axes`` says so."""

        def change(array: Floats) -> Floats:
            array = array.reshape(shape)
            return array if axes is None else array.transpose(axes)

        half_unit = None if self.half_unit is None else change(self.half_unit)
        return Numbers(change(self.values), self.precision, half_unit)


@dataclass(frozen=True, eq=False)
class Question:
    """Which convention makes these numbers of the queries, keys and values of ``experiment``.

    scores: [heads, n_q, n_k]. weights: the same, or [1, n_q, n_k] for their mean over the heads (``mean``).
    output: [heads, n_q, d_v], or [n_q, width] with the heads side by side or after W_O (``joined``).
    masked: whether a mask was given, though it may allow everything. bases: those of rotary positions to try besides
    10,000.
    """

    experiment: Experiment
    scores: Numbers | None = None
    weights: Numbers | None = None
    output: Numbers | None = None
    mean: bool = False
    joined: bool = False
    masked: bool = False
    bases: tuple[float, ...] = ()

    def given(self) -> Iterator[tuple[str, Numbers]]:
        """Each stage that was given, by its name, in the order of the computation."""
        for name in ("scores", "weights", "output"):
            numbers: Numbers | None = getattr(self, name)
            if numbers is not None:
                yield name, numbers


def question_of(
    experiment: Experiment,
    *,
    scores: ArrayLike | Numbers | None = None,
    weights: ArrayLike | Numbers | None = None,
    output: ArrayLike | Numbers | None = None,
    masked: bool | None = None,
    bases: Sequence[float] = (),
) -> Question:
    """A question about ``experiment``; axes of length 1 before those that are needed are dropped.

    scores: [heads, n_q, n_k]. weights: likewise, or [n_q, n_k], which with several heads is their mean. output:
    [heads, n_q, d_v] or [n_q, heads, d_v], or [n_q, heads * d_v], or after W_O [n_q, d_out]. With one head, two axes
    do. Raises ExperimentError for other shapes, and where nothing is given.
    """
    e = experiment
    if e.hidden:
        raise HiddenStage("A" if "A" in e.hidden else "output")
    if not e.has_queries:
        given = "scores" if e.has_scores else "weights"
        raise ExperimentError("Q and K", "queries and keys that numbers come from", f"{given} that were given")
    square, flat = (e.heads, e.n_q, e.n_k), (e.n_q, e.n_k)
    scores = None if scores is None else _fitting("scores", Numbers.of(scores), [square])
    mean = joined = False
    if weights is not None:
        weights = _fitting("weights", Numbers.of(weights), [square] if e.heads == 1 else [square, flat])
        mean = weights.values.ndim == 2
        weights = weights.reshaped((1, *flat)) if mean else weights
    if output is not None:
        output = _fitting("output", Numbers.of(output), _output_shapes(e))
        joined = output.values.ndim == 2
        if not joined and output.shape != (e.heads, e.n_q, e.d_v):
            output = output.reshaped(output.shape, (1, 0, 2))
    if scores is None and weights is None and output is None:
        raise ExperimentError("numbers to explain", "scores, weights or output", "none of them")
    for base in bases:
        expected = Frequencies.described("base").refusal(float(base))
        if expected is not None:
            raise ExperimentError("base", expected, str(base))
    masked = bool(e.rule.kind != "none" or e.painted) if masked is None else masked
    return Question(e, scores, weights, output, mean, joined, masked, tuple(float(base) for base in bases))


def question(
    Q: ArrayLike,
    K: ArrayLike,
    V: ArrayLike,
    *,
    mask: ArrayLike | MaskRule | None = None,
    softcap: float | None = None,
    **numbers: Any,
) -> Question:
    """A question about given Q [heads, n_q, d_k], K [kv_heads, n_k, d_k], V [kv_heads, n_k, d_v].

    Two axes mean one head; a batch of 1 before them is dropped. mask: flags, true (or 1) where a query may attend to a
    key, or numbers to be added; of any shape that broadcasts to [heads, n_q, n_k] or [n_q, n_k]; or a rule over indices
    alone. Others as in :func:`question_of`. Raises ExperimentError.
    """
    q, k, v = (_without_batch(name, array) for name, array in (("Q", Q), ("K", K), ("V", V)))
    plain = Experiment.from_qkv(q, k, v, precision=Precision.FLOAT64)
    rule, biases = _mask(mask, plain)
    e = Experiment.from_qkv(
        q, k, v, precision=Precision.FLOAT64, rule=rule, scoring=Scoring(softcap=softcap, biases=biases)
    )
    return question_of(e, masked=mask is not None, **numbers)


def _without_batch(name: str, array: ArrayLike) -> NDArray[Any]:
    given = np.asarray(array)
    if given.ndim == 4:
        if len(given) != 1:
            raise ExperimentError(name, "[heads,] tokens, size, without a batch or with a batch of 1", f"{given.shape}")
        given = given[0]
    return given


def _mask(mask: ArrayLike | MaskRule | None, e: Experiment) -> tuple[MaskRule, tuple[Bias, ...]]:
    if mask is None:
        return MaskRule(), ()
    if isinstance(mask, MaskRule):
        if mask.reads:
            columns = " and ".join(mask.reads)
            raise ExperimentError("mask", "a rule over indices alone", f"one that reads the column {columns}")
        return mask, ()
    given = np.asarray(mask)
    if given.dtype.kind not in "biuf":
        raise ExperimentError("mask", "flags, or numbers to be added to the scores", f"an array of {given.dtype}")
    while given.ndim > 2 and len(given) == 1:
        given = given[0]
    shape = (e.heads, e.n_q, e.n_k) if given.ndim == 3 else (e.n_q, e.n_k)
    try:
        cells = np.broadcast_to(given, shape)
    except ValueError as error:
        expected = f"{(e.heads, e.n_q, e.n_k)} or {(e.n_q, e.n_k)}, or what broadcasts to it"
        raise ExperimentError("mask", f"shape {expected}", f"{np.shape(mask)}") from error
    if cells.dtype.kind != "b" and (not np.isin(cells, (0, 1)).all() or (cells.dtype.kind == "f" and not cells.any())):
        numbers = cells.astype(np.float64)
        imported, bias = mask_of(np.where(numbers <= FORBIDS, -np.inf, numbers), "additive")
        biases: tuple[Bias, ...] = () if bias is None else (bias,)
        return (MaskRule() if imported is None else recognised(imported.cells)), biases
    return recognised(cells != 0), ()


def recognised(cells: NDArray[np.bool_]) -> MaskRule:
    """The rule that ``cells``, [n_q, n_k] or [heads, n_q, n_k], are, where it has a name; otherwise cell by cell."""
    if cells.ndim == 3 and (cells == cells[:1]).all():
        cells = cells[0]
    if cells.all():
        return MaskRule()
    if cells.ndim == 2:
        n_q, n_k = cells.shape
        for alignment, offset in (("top-left", 0), ("bottom-right", n_k - n_q)):
            if np.array_equal(cells, np.tri(n_q, n_k, offset, dtype=bool)):
                return Causal(alignment)
        shape = window_shape(cells)
        if shape is not None and shape.offset == 0:
            return SlidingWindow(shape.window, shape.two_sided)
    return Imported(cells)


def _output_shapes(e: Experiment) -> list[tuple[int, ...]]:
    W_O = None if e.weights is None else e.weights.W_O
    apart: list[tuple[int, ...]] = [(e.heads, e.n_q, e.d_v), (e.n_q, e.heads, e.d_v)]
    if W_O is None and e.heads == 1:  # nothing is put side by side
        return apart[:1]
    widths = [e.heads * e.d_v] if W_O is None else [W_O.width, e.heads * e.d_v]
    return [*apart, *((e.n_q, width) for width in widths)]


def _fitting(name: str, numbers: Numbers, shapes: Sequence[tuple[int, ...]]) -> Numbers:
    """``numbers`` in the first of ``shapes`` that they have, but for axes of length 1 before it."""
    for shape in shapes:
        if numbers.shape[len(numbers.shape) - len(shape) :] == shape and numbers.values.size == np.prod(shape):
            return numbers.reshaped(shape)
    bare = [shape[1:] for shape in shapes if len(shape) == 3 and shape[0] == 1]  # one head, without its axis
    if numbers.shape in bare:
        return numbers.reshaped((1, *numbers.shape))
    expected = " or ".join(dict.fromkeys(str(shape) for shape in (*shapes, *bare)))
    raise ExperimentError(name, f"shape {expected}", f"{numbers.shape}")
