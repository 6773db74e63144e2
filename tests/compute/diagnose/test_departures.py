"""A wrong cell makes no false match, and is the cell that is named."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attn_gui.compute.diagnose import diagnose
from attn_gui.model.diagnosis import Departure, Miss
from tests.compute.diagnose.planting import Case, Planted, computed, planted_by

STAGES = {"scores": "A", "weights": "N", "output": "head_output"}


def small(seed: int, heads: int, n_q: int, n_k: int) -> Case:
    """An odd d_k, which no rotary positions fit: there is less to try."""
    random = np.random.RandomState(seed)
    Q = random.standard_normal((heads, n_q, 3))
    K, V = random.standard_normal((heads, n_k, 3)), random.standard_normal((heads, n_k, 2))
    return Case(Q, K, V, None)


def nearest(case: Case, **numbers: np.ndarray) -> Miss:
    diagnosis = diagnose(case.Q, case.K, case.V, mask=case.mask, **numbers)
    assert diagnosis.matches == ()
    assert diagnosis.nearest is not None
    assert diagnosis.tried > 50
    return diagnosis.nearest


@settings(max_examples=10)
@given(st.data())
def test_the_departing_cell_is_the_planted_one(data: st.DataObject) -> None:
    heads, n_q, n_k = data.draw(st.integers(1, 2)), data.draw(st.integers(2, 4)), data.draw(st.integers(2, 4))
    case = small(data.draw(st.integers(0, 2**32 - 1)), heads, n_q, n_k)
    planted = data.draw(st.sampled_from([Planted(), Planted(scale="1"), Planted(axis=-2), Planted(mask="causal")]))
    asked = data.draw(st.sampled_from(list(STAGES) if planted != Planted(axis=-2) else ["weights", "output"]))
    numbers = computed(case, planted)[asked]
    finite = np.argwhere(np.isfinite(numbers))
    head, row, column = map(int, finite[data.draw(st.integers(0, len(finite) - 1))])
    wrong = numbers.copy()
    # in two rows of two, a millionth more may be what a softcap does to them
    wrong[head, row, column] += data.draw(st.sampled_from([1e-4, 1e-3, -0.5, 20.0]))
    miss = nearest(case, **{asked: wrong})
    place = {"dimension": column} if asked == "output" else {"key": column}
    stage = "A_masked" if asked == "scores" and planted.mask == "causal" else STAGES[asked]
    found, expected = wrong[head, row, column], numbers[head, row, column]
    assert planted_by(miss.convention) in (planted, *([Planted(mask="causal top-left")] if n_q != n_k else []), planted)
    assert (miss.departing, miss.cells) == (1, numbers.size)
    assert miss.difference == pytest.approx(abs(found - expected), rel=1e-6)
    at = miss.departure
    assert at == Departure(stage, head, row, place.get("key"), place.get("dimension"), at.found, at.expected)
    assert (at.found, at.expected) == (pytest.approx(found), pytest.approx(expected))


def test_the_first_of_several_cells_in_reading_order() -> None:
    case = small(5, 2, 3, 4)
    weights = computed(case, Planted())["weights"]
    for cell in ((1, 0, 0), (0, 2, 3), (0, 1, 2)):
        weights[cell] += 0.01
    miss = nearest(case, weights=weights)
    assert (miss.departure.head, miss.departure.query, miss.departure.key, miss.departing) == (0, 1, 2, 3)
    assert miss.departure.place == "weights, head 1, query 2, key 3"


def test_a_cell_of_the_mean_belongs_to_no_head() -> None:
    case = small(5, 2, 3, 4)
    mean = computed(case, Planted())["weights"].mean(axis=0)
    mean[2, 1] *= 1.01
    departure = nearest(case, weights=mean).departure
    assert (departure.stage, departure.head, departure.query, departure.key) == ("N", None, 2, 1)


def test_a_cell_of_heads_side_by_side_is_told_by_its_head() -> None:
    case = small(5, 2, 3, 4)
    joined = computed(case, Planted())["joined"]
    joined[2, 3] += 0.1
    departure = nearest(case, output=joined).departure
    assert (departure.stage, departure.head, departure.query, departure.dimension) == ("concat", 1, 2, 1)


def test_nan_departs_from_a_number() -> None:
    case = small(5, 1, 3, 4)
    output = computed(case, Planted())["output"]
    output[0, 1, 0] = np.nan
    miss = nearest(case, output=output)
    assert miss.difference == np.inf
    assert (miss.departure.query, miss.departure.dimension) == (1, 0)


@pytest.mark.parametrize(
    ("planted", "stage", "cell"),
    [
        (Planted(scale="1"), "scaled", (0, 0, 0)),
        (Planted(reshaped_K=True), "raw", None),
        (Planted(axis=-2), "N", (0, 0, 0)),
        (Planted(mask="causal"), "A_masked", (0, 0, 1)),
        (Planted(cap=30.0), "A", None),
    ],
)
def test_where_the_standard_departs_from_what_was_found(
    planted: Planted, stage: str, cell: tuple[int, int, int] | None
) -> None:
    """By every stage on the way, though only the output was given."""
    case = small(5, 2, 4, 4)
    numbers = computed(case, planted)
    diagnosis = diagnose(case.Q, case.K, case.V, output=numbers["output"])
    assert [planted_by(match) for match in diagnosis.matches] == [planted]
    departure = diagnosis.departure
    assert departure is not None
    assert departure.stage == stage
    if cell is not None:
        assert (departure.head, departure.query, departure.key) == cell
        standard = computed(case, Planted())
        name = {"N": "weights"}.get(stage, "scores")
        assert departure.found == pytest.approx(numbers[name][cell])
        assert departure.expected == pytest.approx(standard[name][cell])


def test_no_departure_from_the_standard_itself() -> None:
    case = small(5, 2, 3, 4)
    diagnosis = diagnose(case.Q, case.K, case.V, output=computed(case, Planted())["output"])
    assert diagnosis.departure is None
    assert diagnosis.nearest is None


def test_nothing_matches_numbers_made_up() -> None:
    case = small(5, 2, 3, 4)
    made_up = np.random.RandomState(9).standard_normal((2, 3, 2))
    miss = nearest(case, output=made_up)
    assert miss.departing == miss.cells == 12
    assert str(diagnose(case.Q, case.K, case.V, output=made_up)).startswith("No convention reproduces the output (")
