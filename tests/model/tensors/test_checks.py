"""What does not fit is said with the axis, and with what it could be."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from attn_gui.model.tensors.axes import Axis, Role
from attn_gui.model.tensors.checks import doubts, problems, sizes
from attn_gui.model.tensors.info import Contents
from attn_gui.model.tensors.proposals import propose
from attn_gui.model.tensors.reading import Part, Reading, swapped
from tests.model.tensors.holding import FLAGS, contents
from tests.model.tensors.test_proposals import axes


def reading(held: Contents, how: dict[str, tuple[Role, str]], **fields: Any) -> Reading:
    return Reading(tuple(Part(role, (name,), axes(text)) for name, (role, text) in how.items()), **fields)


W, A, Q, K, V, M = Role.WEIGHTS, Role.SCORES, Role.Q, Role.K, Role.V, Role.MASK
CASES: list[tuple[dict[str, Any], dict[str, tuple[Role, str]], dict[str, Any], str]] = [
    ({"n": (4, 5, 5)}, {"n": (W, "qk")}, {}, "The weights: 3 axes of shape (4, 5, 5), read as 2"),
    ({"n": (4, 5, 5)}, {"n": (W, "hqq")}, {}, "The weights: axes 1 and 2 are both read as query"),
    ({"n": (4, 5, 5)}, {"n": (W, "hqs")}, {}, "The weights: axis 2 cannot be read as size"),
    ({"n": (4, 5, 5)}, {"n": (W, "hbk")}, {}, "The weights: which axis counts queries?"),
    ({"n": (4, 5, 5)}, {"n": (W, "1qk")}, {}, "The weights: 4 items in axis 0: what do they count?"),
    ({"n": (0, 5, 5)}, {"n": (W, "hqk")}, {}, "The weights: no items in axis 0"),
    ({"n": ()}, {"n": (W, "")}, {}, "The weights: a lone number has no axes"),
    ({"n": ((4, 5, 5), "complex64")}, {"n": (W, "hqk")}, {}, "The weights: real numbers are needed, not complex64"),
    ({"x": (5, 4, 8)}, {"x": (Role.QKV, "q3s")}, {}, "QKV: 4 items in axis 1, which needs 3 items, Q, K and V"),
    (
        {"n": (8, 5, 5), "q": (16, 8, 5, 4), "k": (8, 5, 4)},
        {"n": (W, "hqk"), "q": (Q, "hbqs"), "k": (K, "hks")},
        {},
        "Q: 16 items in axis 0, read as heads; the weights have 8 in axis 0: is this a batch?",
    ),
    (
        {"n": (8, 5, 7), "q": (8, 7, 4), "k": (8, 7, 4)},
        {"n": (W, "hqk"), "q": (Q, "hqs"), "k": (K, "hks")},
        {},
        "Q: 7 items in axis 1, read as queries; the weights have 5 in axis 1",
    ),
    (
        {"q": (8, 5, 4), "k": (8, 5, 4), "n": (5, 5)},
        {"q": (Q, "hqs"), "k": (K, "hks"), "n": (W, "qk")},
        {},
        "The weights: no axis of heads, and Q has 8 in axis 0: is this their mean?",
    ),
    (
        {"q": (8, 5, 4), "k": (3, 5, 4)},
        {"q": (Q, "hqs"), "k": (K, "hks")},
        {},
        "3 heads of keys and values cannot be shared evenly among 8 heads of queries",
    ),
    ({"q": (8, 5, 4), "k": (8, 5, 6)}, {"q": (Q, "hqs"), "k": (K, "hks")}, {}, "K: 6 items in axis 2, read as numbers"),
    (
        {"q": (5, 32), "k": (5, 32)},
        {"q": (Q, "qw"), "k": (K, "kw")},
        {},
        "Q: the 32 numbers in axis 1 are of all heads: how many heads?",
    ),
    (
        {"q": (5, 32), "k": (5, 32)},
        {"q": (Q, "qw"), "k": (K, "kw")},
        {"heads": 5},
        "Q: the 32 numbers in axis 1 cannot be divided evenly among 5 heads",
    ),
    ({"n": (3, 4, 5, 5)}, {"n": (W, "bhqk")}, {"batch": 3}, "The batch has 3 items, and none with the number 4"),
    ({"n": (3, 4, 5, 5)}, {"n": (W, "lhqk")}, {"layers": (0, 3)}, "There is no layer 4"),
    ({"n": (3, 4, 5, 5)}, {"n": (W, "lhqk")}, {"layers": ()}, "No layer is chosen"),
    ({"q": (8, 5, 4)}, {"q": (Q, "hqs")}, {}, "Q alone has no scores: K is missing"),
    ({"v": (8, 5, 4)}, {"v": (V, "hks")}, {}, "V alone has neither scores nor weights"),
    ({"m": (5, 5)}, {"m": (M, "qk")}, {"meaning": "allowed"}, "A mask alone has no scores"),
    ({"o": (5, 5)}, {"o": (Role.OUTPUT, "qw")}, {}, "An output alone has neither scores nor weights"),
    ({"x": (5, 4096)}, {"x": (Role.HIDDEN, "qw")}, {}, "The hidden states: 4,096 numbers a token; alone they can be"),
    ({"n": (4, 5, 7)}, {"n": (W, "hqk")}, {"tokens": ("a",) * 6}, "6 tokens for 5 queries (axis 1 of the weights)"),
    (
        {"n": (4, 5, 7)},
        {"n": (W, "hqk")},
        {"tokens": ("a",) * 7},
        "7 tokens for 5 queries (axis 1 of the weights): are queries in axis 2?",
    ),
    ({"n": (4, 5, 7)}, {"n": (W, "hqk")}, {"key_tokens": ("a",) * 6}, "6 tokens for 7 keys (axis 2 of the weights)"),
    ({"n": (4, 2, 2)}, {"n": (W, "hqk")}, {"tokens": ("a", "")}, "Token 2 has no name"),
    (
        {"a": (4, 5, 5), "m": ((4, 5, 6), "bool", FLAGS)},
        {"a": (A, "hqk"), "m": (M, "hqk")},
        {"meaning": "allowed"},
        "The mask: 6 items in axis 2, read as keys; the scores have 5 in axis 2",
    ),
    (
        {"a": (4, 5, 5), "m": ((5, 5), "bool", FLAGS)},
        {"a": (A, "hqk"), "m": (M, "qk")},
        {},
        "The mask: does True (or 1) mean “may attend” or “blocked”?",
    ),
]


@pytest.mark.parametrize(("shapes", "how", "fields", "message"), CASES)
def test_problems(
    shapes: dict[str, Any], how: dict[str, tuple[Role, str]], fields: dict[str, Any], message: str
) -> None:
    held = contents(**shapes)
    found = problems(held, reading(held, how, **fields))
    assert len(found) == 1
    assert found[0].text.startswith(message)


@pytest.mark.parametrize(("shapes", "how", "fields", "message"), [case for case in CASES if case[3].endswith("?")])
def test_what_is_asked_can_be_answered_with_yes(
    shapes: dict[str, Any], how: dict[str, tuple[Role, str]], fields: dict[str, Any], message: str
) -> None:
    held = contents(**shapes)
    (problem,) = problems(held, reading(held, how, **fields))
    if problem.remedy is not None:
        assert problem.text not in [each.text for each in problems(held, problem.remedy)]
    else:
        assert problem.field or "which axis" in message or "what do they count" in message or "how many" in message


def test_16_items_in_axis_0() -> None:
    """What the tensors of one sentence and the weights of a batch of them say together."""
    held = contents(n=(16, 8, 5, 5), q=(8, 5, 4), k=(8, 5, 4))
    how = reading(held, {"n": (W, "hbqk"), "q": (Q, "hqs"), "k": (K, "hks")})
    (problem,) = problems(held, how)
    assert "in axis 0, read as heads; the weights have 16 in axis 0" in problem.text
    held = contents(a=(16, 5, 5), m=((1, 5, 5), "bool", FLAGS), v=(8, 5, 4))
    how = reading(held, {"a": (A, "hqk"), "v": (V, "hks"), "m": (M, "hqk")}, meaning="allowed")
    assert not problems(held, how)


def test_masks_broadcast() -> None:
    for shape, text in [((5,), "k"), ((1, 5), "bk"), ((1, 1, 1, 5), "bhqk"), ((3, 1, 5, 5), "bhqk"), ((5, 1), "qk")]:
        held = contents(a=(3, 4, 5, 5), m=(shape, "bool", FLAGS))
        assert not problems(held, reading(held, {"a": (A, "bhqk"), "m": (M, text)}, meaning="blocked"))


def test_sizes_of_heads_that_lie_side_by_side() -> None:
    held = contents(q=(5, 128), k=(7, 32), v=(7, 16))
    found = sizes(held, reading(held, {"q": (Q, "qw"), "k": (K, "kw"), "v": (V, "kw")}, heads=8))[""]
    assert (found.heads, found.kv_heads, found.n_q, found.n_k, found.d_k, found.d_v) == (8, 2, 5, 7, 16, 8)
    held = contents(x=(5, 12 * 16))
    found = sizes(held, reading(held, {"x": (Role.QKV, "q*")}, heads=8, kv_heads=2))[""]
    assert (found.heads, found.kv_heads, found.n_q, found.n_k, found.d_k, found.d_v) == (8, 2, 5, 5, 16, 16)


def test_layers_of_several_shapes() -> None:
    held = contents(n_0=(4, 5, 5), n_1=(4, 6, 6))
    part = Part(W, ("n_0", "n_1"), axes("hqk"), (0, 1))
    (problem,) = problems(held, Reading((part,)))
    assert problem.text == "The weights: the layers differ: n_1 has the shape (4, 6, 6), and n_0 has (4, 5, 5)"


def test_a_doubt_keeps_nothing_from_being_opened() -> None:
    held = contents(attn=(16, 12, 5, 5))
    how = propose(held)
    assert not problems(held, how)
    (doubt,) = doubts(held, how)
    assert doubt.text == "16 items in axis 0, read as layers: is this a batch?"
    assert doubt.remedy is not None and doubt.remedy.parts[0].axes == axes("bhqk")
    assert not problems(held, doubt.remedy)
    assert [each.text for each in doubts(held, doubt.remedy)] == [
        "16 items in axis 0, read as items of a batch: are these layers?"
    ]


def test_two_axes_change_places() -> None:
    assert swapped(axes("bhqk"), 2, Axis.KEY) == axes("bhkq")
    assert swapped(axes("bhqk"), 0, Axis.LAYER) == axes("lhqk")
    assert swapped(axes("1hqk"), 1, Axis.SINGLE) == axes("11qk")


def test_a_reading_of_the_weights_alone_does_not_mind_queries_without_keys() -> None:
    held = contents(n=(4, 5, 5), q=(8, 7, 4))
    assert not problems(held, reading(held, {"n": (W, "hqk"), "q": (Q, "hqs")}))
    assert replace(reading(held, {"n": (W, "hqk")}), batch=0).groups == ("",)
