"""What is shown, derived and compared is said, and so is what cannot be had."""

from __future__ import annotations

from typing import Any

import pytest

from attn_gui.model.tensors.offers import offers
from attn_gui.model.tensors.proposals import propose
from tests.model.tensors.holding import FLAGS, contents, sums

COMPUTED = "A and N are computed from Q and K, under any mask and scoring"
NO_SCORES = "Scores cannot be known from weights: no mask, scale or normaliser can be changed"
NO_OUTPUT = "V is not there: the output cannot be computed"
SUMS = sums(False, False, True)


@pytest.mark.parametrize(
    ("shapes", "can", "cannot"),
    [
        (
            {"q": (4, 5, 8), "k": (4, 5, 8), "v": (4, 5, 8), "attn": ((4, 5, 5), SUMS)},
            [COMPUTED, "They are compared with the N of the file", "The output N V of each head is computed"],
            [],
        ),
        ({"q": (4, 5, 8), "k": (4, 5, 8)}, [COMPUTED], [NO_OUTPUT]),
        ({"attn": ((4, 5, 5), SUMS)}, ["The weights are shown as they are"], [NO_SCORES, NO_OUTPUT]),
        (
            {"attn": (4, 5, 5), "q": (4, 5, 8)},
            ["The weights are shown as they are"],
            [NO_SCORES, "K is missing: the scores cannot be computed", NO_OUTPUT],
        ),
        (
            {"scores": (4, 5, 5), "v": (4, 5, 8), "mask": ((5, 5), "bool", FLAGS)},
            ["N is computed from the scores, under any mask and normaliser", "The output N V of each head is computed"],
            ["Q and K are not there: where the scores come from cannot be shown"],
        ),
        (
            {"hidden_states": (5, 32)},
            ["The hidden states become the embeddings X, with identities for W_Q, W_K and W_V"],
            ["Q, K and V of the model need its weights: File > Open weights reads them"],
        ),
        ({"mask": ((5, 5), "bool", FLAGS)}, [], []),
    ],
)
def test_offers(shapes: dict[str, Any], can: list[str], cannot: list[str]) -> None:
    held = contents(**shapes)
    found = offers(held, propose(held))
    assert [offer.text for offer in found if offer.possible] == can
    assert [offer.text for offer in found if not offer.possible] == cannot


def test_rows_that_do_not_sum_to_1_are_told() -> None:
    held = contents(attn=((4, 5, 5), sums(False, False, False)))
    assert "Not all rows of the weights sum to 1" in [offer.text for offer in offers(held, propose(held))]
