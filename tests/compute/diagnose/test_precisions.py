"""What a match is depends on what the numbers show of their own precision."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from attn_gui.compute.diagnose import diagnose
from attn_gui.compute.diagnose.levels import levels, on_grid
from attn_gui.model.diagnosis import Diagnosis
from attn_gui.model.precision import Precision
from attn_gui.model.question import Numbers, question
from tests.compute.diagnose.planting import Case, Planted, computed, planted_by
from tests.reference import rounded

HALVES = {Precision.BFLOAT16: torch.bfloat16, Precision.FLOAT16: torch.float16}


@pytest.fixture
def case() -> Case:
    random = np.random.RandomState(11)
    Q, K, V = random.standard_normal((3, 2, 6, 5))
    return Case(2 * Q, K, V, None)


def asked(case: Case, **numbers: Any) -> Diagnosis:
    return diagnose(case.Q, case.K, case.V, **numbers)


def titles(diagnosis: Diagnosis) -> list[str]:
    return [match.title for match in diagnosis.matches]


@pytest.mark.parametrize("planted", [Planted(), Planted(scale="1/sqrt(d_model)")])
def test_float32(case: Case, planted: Planted) -> None:
    single = Case(*(part.astype(np.float32) for part in (case.Q, case.K, case.V)), None)
    output = computed(single, planted)["output"]
    assert output.dtype == np.float32
    diagnosis = asked(single, output=output)
    assert [planted_by(match) for match in diagnosis.matches] == [planted]
    assert "Compared as float32 numbers." in diagnosis.notes
    # float32 numbers kept in float64 are known by their bits
    assert [planted_by(match) for match in asked(single, output=output.astype(np.float64)).matches] == [planted]


def test_float32_that_later_sums_hide(case: Case) -> None:
    weights = np.stack([rounded(part, Precision.FLOAT32) for part in computed(case, Planted())["weights"]])
    diagnosis = asked(case, weights=weights.mean(axis=0) * (1 + 1e-15))
    assert titles(diagnosis) == ["float32"]


@pytest.mark.parametrize("decimals", [3, 4, 6])
@pytest.mark.parametrize("planted", [Planted(), Planted(scale="1", mask="causal")])
def test_printed_decimals(case: Case, planted: Planted, decimals: int) -> None:
    output = computed(case, planted)["output"].round(decimals)
    diagnosis = asked(case, output=output)
    assert [planted_by(match) for match in diagnosis.matches] == [planted]
    assert any(note.startswith("Compared as printed") for note in diagnosis.notes)
    output[1, 2, 3] += 1.5 * 10.0**-decimals
    diagnosis = asked(case, output=output.round(decimals))
    assert not diagnosis.matches
    assert diagnosis.nearest is not None
    assert planted_by(diagnosis.nearest.convention) == planted
    departure = diagnosis.nearest.departure
    assert (departure.head, departure.query, departure.dimension) == (1, 2, 3)


def test_decimals_of_each_cell_as_they_were_printed(case: Case) -> None:
    weights = computed(case, Planted())["weights"]
    exponent = np.floor(np.log10(weights))
    half_unit = 0.5 * 10.0 ** (exponent - 1)  # two significant digits
    printed = np.round(weights / (2 * half_unit)) * (2 * half_unit)
    assert titles(asked(case, weights=Numbers(printed, Precision.FLOAT64, half_unit))) == [
        "the standard, with nothing changed"
    ]
    smallest = np.unravel_index(int(weights.argmin()), weights.shape)
    printed[smallest] += 3 * half_unit[smallest]
    nearest = asked(case, weights=Numbers(printed, Precision.FLOAT64, half_unit)).nearest
    assert nearest is not None
    assert (nearest.departure.head, nearest.departure.query, nearest.departure.key) == smallest


@pytest.mark.parametrize("half", HALVES)
@pytest.mark.parametrize("planted", [Planted(), Planted(scale="1/sqrt(d_model)"), Planted(mask="causal")])
def test_sixteen_bits_after_every_stage(case: Case, planted: Planted, half: Precision) -> None:
    output = computed(case, planted, half)["output"]
    as_tensor = asked(case, output=torch.tensor(output).to(HALVES[half]))
    assert [planted_by(match) for match in as_tensor.matches] == [planted]
    as_float = asked(case, output=output.astype(np.float32))
    assert [match.choices[-1].title for match in as_float.matches] == [f"{half} after every stage"]
    assert len(as_float.matches[0].choices) == len(as_tensor.matches[0].choices) + 1


@pytest.mark.parametrize("half", HALVES)
def test_sixteen_bits_in_and_out_alone(half: Precision) -> None:
    random = np.random.RandomState(3)
    Q, K, V = (torch.tensor(part).to(HALVES[half]) for part in random.standard_normal((3, 2, 16, 8)))
    scores = Q.double() @ K.double().transpose(-1, -2) / 8**0.5
    output = (scores.softmax(dim=-1) @ V.double()).to(HALVES[half])
    assert titles(diagnose(Q, K, V, output=output)) == [f"{half} in and out, float32 inside"]


@pytest.mark.parametrize("half", HALVES)
def test_softmax_in_float32(half: Precision) -> None:
    random = np.random.RandomState(3)
    Q, K, V = (torch.tensor(part).to(HALVES[half]) for part in 3 * random.standard_normal((3, 2, 16, 8)))
    scores = (Q @ K.transpose(-1, -2)) * 8**-0.5
    weights = scores.float().softmax(dim=-1)
    assert titles(diagnose(Q, K, V, weights=weights)) == [f"{half} scores, softmax in float32"]
    assert titles(diagnose(Q, K, V, output=weights @ V.float())) == [f"{half} scores, softmax in float32"]


def test_a_small_change_is_not_taken_for_rounding(case: Case) -> None:
    """A temperature that nobody knows of lies within bfloat16's tolerance, and is not bfloat16."""
    warmer = Case(case.Q * 1.002, case.K, case.V, None)
    output = computed(warmer, Planted())["output"]
    assert asked(case, output=output).matches == ()
    assert asked(case, output=output.astype(np.float32)).matches == ()


def test_what_numbers_show_of_their_precision(case: Case) -> None:
    def first(values: Any) -> tuple[Precision, bool]:
        groups, _ = levels(question(case.Q, case.K, case.V, output=values))
        return groups[0][0].precision, groups[0][0].printed

    output = computed(case, Planted())["output"]
    assert first(output) == (Precision.FLOAT64, False)
    assert first(output.astype(np.float32)) == (Precision.FLOAT32, False)
    assert first(output.astype(np.float16)) == (Precision.FLOAT16, False)
    assert first(output.astype(np.float16).astype(np.float64)) == (Precision.FLOAT16, False)
    assert first(rounded(output, Precision.BFLOAT16)) == (Precision.BFLOAT16, False)
    assert first(np.rint(output * 8) / 8) == (Precision.FLOAT64, False)  # few bits by chance
    assert first(np.rint(output * 100)) == (Precision.FLOAT64, False)


def test_grids() -> None:
    assert on_grid(np.array([1.0, 0.75, -1.984375, np.nan, np.inf, 0.0]), 7)
    assert not on_grid(np.array([1.0, 1.984375]), 6)


def test_float32_printed_with_as_many_decimals_as_it_has(case: Case) -> None:
    single = Case(*(part.astype(np.float32) for part in (case.Q, case.K, case.V)), None)
    output = computed(single, Planted())["output"].astype(np.float64).round(8)
    assert titles(asked(single, output=output)) == ["float32"]
