"""Where there are more cells than each convention is tried on: a sample decides what is then compared in every cell."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from attn_gui.compute import budget
from attn_gui.compute.diagnose import diagnose, diagnose_steps, trials
from attn_gui.compute.diagnose.trials import _spread
from attn_gui.model.errors import TooLarge
from attn_gui.model.question import question
from tests.compute.diagnose.planting import Case, Planted, computed, planted_by

N = 24


@pytest.fixture(autouse=True)
def _small_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    """8 of 24 queries of 2 heads."""
    monkeypatch.setattr(trials, "SAMPLE_CELLS", 8 * 2 * N)
    monkeypatch.setattr(trials, "WHOLE_CELLS", N * N)  # one head


@pytest.fixture
def case() -> Case:
    random = np.random.RandomState(8)
    Q, K, V = random.standard_normal((3, 2, N, 3))
    return Case(Q, K, V, None)


@pytest.mark.parametrize("form", ["output", "joined"])
@pytest.mark.parametrize(
    "planted",
    [
        Planted(),
        Planted(scale="1"),
        Planted(axis=-2),
        Planted(axis=-2, scale="1"),
        Planted(axis=-3, mask="causal"),
        Planted(mask="causal", scale="1/d_k"),
    ],
)
def test_recovered_all_the_same(case: Case, planted: Planted, form: str) -> None:
    diagnosis = diagnose(case.Q, case.K, case.V, output=computed(case, planted)[form])
    assert [planted_by(match) for match in diagnosis.matches] == [planted]


def test_heads_merged_wrongly(case: Case) -> None:
    planted = Planted(reshaped_output=True)
    diagnosis = diagnose(case.Q, case.K, case.V, output=computed(case, planted)["joined"])
    assert [planted_by(match) for match in diagnosis.matches] == [planted]


@pytest.mark.parametrize("empty", [[13], [2, 13, 14], [23]])
@pytest.mark.parametrize("nothing", ["uniform", math.nan, 0.0])
def test_rows_of_nothing_wherever_they_are(case: Case, empty: list[int], nothing: float | str) -> None:
    mask = np.tri(N, dtype=bool)
    mask[empty] = False
    masked = Case(case.Q, case.K, case.V, mask)
    output = computed(masked, Planted(nothing=nothing))["output"]
    diagnosis = diagnose(case.Q, case.K, case.V, mask=mask, output=output)
    titles = {"uniform": "equal weights where everything is masked", 0.0: "the standard, with nothing changed"}
    assert [match.title for match in diagnosis.matches] == [titles.get(nothing, "NaN where everything is masked")]


def test_what_would_look_at_too_much_is_left_out_and_said(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trials, "MOST_WHOLE_CELLS", N * N - 1)
    diagnosis = diagnose(case.Q, case.K, case.V, output=computed(case, Planted(axis=-2))["output"])
    assert diagnosis.matches == ()
    assert any(note.endswith("at once: softmax over queries.") for note in diagnosis.notes)


@pytest.mark.parametrize("cell", [(1, 9, 2), (0, 0, 0), (1, 23, 1)])
@pytest.mark.parametrize("planted", [Planted(), Planted(scale="1"), Planted(axis=-2)])
def test_a_wrong_cell_in_the_sample_or_out_of_it(case: Case, planted: Planted, cell: tuple[int, int, int]) -> None:
    output = computed(case, planted)["output"]
    output[cell] += 0.01
    diagnosis = diagnose(case.Q, case.K, case.V, output=output)
    assert diagnosis.matches == ()
    assert diagnosis.nearest is not None
    assert planted_by(diagnosis.nearest.convention) == planted
    departure = diagnosis.nearest.departure
    assert (departure.head, departure.query, departure.dimension) == cell
    assert (diagnosis.nearest.departing, diagnosis.nearest.cells) == (1, output.size)


def test_the_sample_reaches_from_the_first_query_to_the_last() -> None:
    for length, most in ((24, 8), (1000, 1), (7, 7), (5000, 300)):
        rows = _spread(length, most, torch.device("cpu"))
        assert rows[0] == 0
        assert rows[-1] == length - 1 or most == 1
        assert len(rows) <= max(most, 2)
        assert bool((rows.diff() > 0).all())


def test_it_stops_where_it_is_closed(case: Case) -> None:
    steps = diagnose_steps(question(case.Q, case.K, case.V, output=np.zeros((2, N, 3))))
    for _ in range(20):
        next(steps)
    steps.close()
    with pytest.raises(StopIteration):
        next(steps)


def test_threads_and_gradients_are_as_before_between_steps(case: Case) -> None:
    before = torch.get_num_threads()
    steps = diagnose_steps(question(case.Q, case.K, case.V, output=np.zeros((2, N, 3))))
    for _ in range(10):
        next(steps)
        assert torch.get_num_threads() == before
        assert not torch.is_inference_mode_enabled()
    steps.close()


def test_too_large_is_said_before_anything_is_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "available", lambda device: 1 << 20)
    Q = np.zeros((1, 600, 2))
    with pytest.raises(TooLarge, match="1 x 600 x 600 cells"):
        diagnose(Q, Q, Q, output=Q)


@pytest.mark.cuda
def test_on_cuda(case: Case) -> None:
    for planted in (Planted(), Planted(scale="1"), Planted(axis=-2), Planted(mask="causal")):
        output = computed(case, planted)["output"]
        diagnosis = diagnose(case.Q, case.K, case.V, output=output, device="cuda:0")
        assert [planted_by(match) for match in diagnosis.matches] == [planted]
