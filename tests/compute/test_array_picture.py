"""Pictures of the stages that are not square."""

from __future__ import annotations

import numpy as np
import pytest

from attn_gui.compute.array_matrix import ArrayMatrix
from attn_gui.compute.trace import trace
from attn_gui.model.asks import PictureAsk, StageAsk
from attn_gui.model.experiment import Experiment
from attn_gui.model.picture import LAST_COLOUR, NON_FINITE, Picture
from tests.answering import answered

RANDOM = np.random.RandomState(3)
X = RANDOM.standard_normal((7, 6))


def pictured(experiment: Experiment, **ask: object) -> Picture:
    made = answered(trace(experiment), PictureAsk(**ask))  # type: ignore[arg-type]
    assert isinstance(made, Picture)
    return made


def test_a_picture_of_x_stands_for_its_numbers() -> None:
    picture = pictured(Experiment.from_tokens("abcdefg", X), stage="X", diverging=True)
    values = X.astype(np.float32)
    bound = np.abs(values).max()
    assert picture.exact
    assert np.array_equal(picture.values, values)
    assert (picture.low, picture.high) == (-bound, bound)
    expected = (values.astype(np.float64) / bound + 1) / 2 * LAST_COLOUR
    assert np.abs(picture.index - expected).max() <= 0.51


def test_the_head_decides_the_picture() -> None:
    e = Experiment.from_tokens("abcdefg", X, heads=3)
    for head in range(3):
        picture = pictured(e, stage="Q", head=head)
        assert np.array_equal(picture.values, X[:, 2 * head : 2 * head + 2].astype(np.float32))
    assert np.array_equal(pictured(e, stage="Q", head="mean").values, pictured(e, stage="Q", head=0).values)


def test_a_large_array_is_pooled_to_the_size_asked_for() -> None:
    wide = RANDOM.standard_normal((3, 100))
    picture = pictured(Experiment.from_tokens("abc", wide), stage="X", size=(64, 10))
    assert picture.index.shape == (3, 10)
    assert not picture.exact
    assert np.array_equal(picture.values, wide.astype(np.float32).reshape(3, 10, 10).max(axis=2))


def test_a_window_stays_within_the_array() -> None:
    picture = pictured(Experiment.from_tokens("abcdefg", X), stage="X", window=(5, 99, 4, 99))
    assert picture.request.rows == (5, 7)
    assert picture.request.columns == (4, 6)
    assert np.array_equal(picture.values, X[5:, 4:].astype(np.float32))


def test_numbers_that_are_not_finite_are_set_apart() -> None:
    given = np.array([[[1.0, np.inf], [np.nan, 2.0]]])
    picture = pictured(Experiment.from_qkv(given, np.ones((1, 2, 2)), np.ones((1, 2, 2))), stage="Q")
    assert (picture.index == NON_FINITE).tolist() == [[False, True], [True, False]]
    assert (picture.low, picture.high) == (0.0, 2.0)


@pytest.mark.parametrize("ask", [PictureAsk("context"), StageAsk("context")])
def test_a_stage_that_is_not_there_has_no_answer(ask: PictureAsk | StageAsk) -> None:
    assert answered(trace(Experiment.from_tokens("abcdefg", X)), ask) is None


def test_an_array_without_finite_numbers_has_an_extent() -> None:
    assert ArrayMatrix(np.full((2, 2), np.nan)).extent() == (0.0, 0.0)
