"""What might as well be something else is said, with the other reading a press away."""

from __future__ import annotations

from typing import Any

import pytest

from attn_gui.model.tensors.axes import Axis, Role
from attn_gui.model.tensors.checks import doubts, problems, sizes
from attn_gui.model.tensors.info import Contents, Peek
from attn_gui.model.tensors.proposals import propose
from attn_gui.model.tensors.reading import Reading
from tests.model.tensors.holding import FLAGS, contents, sums
from tests.model.tensors.test_proposals import axes, read


def texts(held: Contents, reading: Reading | None = None) -> list[str]:
    return [doubt.text for doubt in doubts(held, propose(held) if reading is None else reading)]


def like(low: float, high: float, span: tuple[float, float] | None, **more: Any) -> Peek:
    return Peek(low, high, spans=(None, None, span), sums=(False, False, span == (1, 1)), **more)


@pytest.mark.parametrize(
    ("peek", "role"),
    [
        (like(0.0, 0.9, (0.82, 1.11)), Role.WEIGHTS),
        (like(0.0, 1.25, (0.4, 1.9)), Role.WEIGHTS),  # dropout
        (like(0.1, 1.25, (0.4, 1.9)), Role.SCORES),  # without a zero it is none
        (like(0.0, 2.5, (0.4, 3.9)), Role.SCORES),
        (like(0.01, 0.9, (0.9, 1.0), nan=True), Role.WEIGHTS),
        (like(-0.1, 0.9, None), Role.SCORES),
        (like(0.0, 0.9, None, minus_inf=True), Role.SCORES),
        (like(0.0, 0.0, (0.0, 0.0)), Role.SCORES),
    ],
)
def test_numbers_in_0_to_1_are_weights_whatever_their_rows_sum_to(peek: Peek, role: Role) -> None:
    held = contents(untitled=((4, 5, 5), peek))
    reading = propose(held)
    assert reading.parts[0].role is role
    if role is Role.WEIGHTS:
        (doubt,) = doubts(held, reading)
        assert peek.spans[2] is not None
        low, high = peek.spans[2]
        assert f"rows sum to {low:.2f} to {high:.2f}: are these scores?" in doubt.text
        assert doubt.remedy is not None and doubt.remedy.parts[0].role is Role.SCORES
        assert not problems(held, doubt.remedy)


def test_what_is_called_scores_and_looks_like_weights_is_asked_about() -> None:
    held = contents(scores=((4, 5, 5), like(0.0, 0.9, (0.82, 1.11))))
    reading = propose(held)
    assert reading.parts[0].role is Role.SCORES
    (doubt,) = doubts(held, reading)
    assert doubt.text == (
        "The scores: the numbers lie in 0 to 1, rows sum to 0.82 to 1.11: are these weights after all?"
    )
    assert doubt.remedy is not None and doubt.remedy.parts[0].role is Role.WEIGHTS


def test_what_is_called_weights_or_sums_to_1_is_no_question() -> None:
    assert texts(contents(attn=((4, 5, 5), like(0.0, 0.9, (0.82, 1.11))))) == []
    assert texts(contents(untitled=((4, 5, 5), like(0.0, 0.9, (1, 1))))) == []


def qkv(q: tuple[int, ...], k: tuple[int, ...], **more: Any) -> Contents:
    return contents(q=q, k=k, v=k, **more)


def test_heads_and_tokens_that_might_be_each_other_are_turned_together() -> None:
    held = qkv((1, 10, 12, 64), (1, 10, 12, 64), z=(1, 10, 12, 64))
    reading = propose(held)
    (doubt,) = doubts(held, reading)
    assert doubt.text == "Q: 10 items in axis 1, read as heads: are these the tokens?"
    assert doubt.remedy is not None and not problems(held, doubt.remedy)
    found = {part.tensors[0]: part.axes for part in doubt.remedy.parts}
    assert found == {"q": axes("bqhs"), "k": axes("bkhs"), "v": axes("bkhs"), "z": axes("bqhs")}
    # and back
    (back,) = doubts(held, doubt.remedy)
    assert back.remedy == reading


@pytest.mark.parametrize(
    ("q", "k", "expected"),
    [
        ((1, 10, 8, 16), (1, 10, 2, 16), "qhs"),
        ((1, 8, 10, 16), (1, 2, 10, 16), "hqs"),
        ((1, 6, 4, 8), (1, 6, 2, 8), "qhs"),
        ((1, 4, 6, 8), (1, 2, 6, 8), "hqs"),
        ((2, 12, 12, 8), (2, 12, 4, 8), "qhs"),
        ((2, 12, 12, 8), (2, 4, 12, 8), "hqs"),
        ((1, 8, 8, 16), (1, 8, 1, 16), "qhs"),
    ],
)
def test_heads_that_share_keys_tell_which_axis_is_that_of_the_tokens(q: Any, k: Any, expected: str) -> None:
    held = qkv(q, k)
    assert read(held)["q"].axes == axes("b" + expected)
    assert read(held)["k"].axes == axes("b" + expected.replace("q", "k"))
    assert texts(held) == []


def test_one_hint_decides_for_all_of_them() -> None:
    shape = (1, 10, 12, 64)
    for more in (
        {"weights": (1, 12, 10, 10)},
        {"mask": ((10, 10), "bool", FLAGS)},
        {"input_ids": ((1, 10), "int64")},
        {"words": {"tokens": tuple("abcdefghij")}},
    ):
        held = qkv(shape, shape, **more)
        assert read(held)["q"].axes == axes("bqhs"), more
        assert texts(held) == [], more
    # TransformerLens has an order of its own
    held = contents(hook_q=shape, hook_k=shape, hook_v=shape)
    assert read(held)["hook_q"].axes == axes("bqhs")
    assert texts(held) == []


@pytest.mark.parametrize(
    ("shape", "expected", "asked"),
    [
        ((2, 10, 3, 12, 64), "bq3hs", False),  # flash attention
        ((10, 3, 12, 64), "q3hs", False),
        ((2, 3, 12, 10, 64), "b3hqs", True),
        ((3, 2, 12, 10, 64), "3bhqs", True),  # vision transformers
    ],
)
def test_fused(shape: tuple[int, ...], expected: str, asked: bool) -> None:
    held = contents(qkv=shape)
    reading = propose(held)
    assert reading.parts[0].axes == axes(expected)
    assert not problems(held, reading)
    found = doubts(held, reading)
    assert bool(found) is asked
    if asked:
        assert found[0].remedy is not None
        assert found[0].remedy.parts[0].axes == axes(expected.replace("hq", "qh"))


@pytest.mark.parametrize(
    ("shape", "peek", "expected", "turned", "heads"),
    [
        ((2, 16, 12, 16), sums(False, False, False, True), "lhqk", "lqhk", 2),
        ((16, 12, 16), sums(False, False, True), "hqk", "qhk", 1),
        ((16, 16, 12), None, "hqk", "qkh", 2),
        ((16, 12, 16), None, "hqk", "qhk", 1),
    ],
)
def test_unequal_queries_and_keys_that_equal_the_heads_are_asked_about(
    shape: tuple[int, ...], peek: Peek | None, expected: str, turned: str, heads: int
) -> None:
    held = contents(untitled=(shape, peek))
    reading = propose(held)
    assert reading.parts[0].axes == axes(expected)
    n_q, n_k = (shape[expected.index(axis)] for axis in "qk")
    found = [each for each in doubts(held, reading) if "does axis" in each.text]
    assert [each.text.partition(": ")[2] for each in found] == [
        f"{n_q} queries and {n_k} keys: does axis {heads} count the heads?"
    ]
    assert found[0].remedy is not None and found[0].remedy.parts[0].axes == axes(turned)
    assert not problems(held, found[0].remedy)
    assert not any("does axis" in text for text in texts(held, found[0].remedy))


def test_heads_that_stand_last_are_found_by_what_sums_to_1() -> None:
    """Rather as many queries as keys than [head, key, query], with as many keys as there are heads."""
    held = contents(untitled=((2, 16, 16, 12), sums(False, False, True, False)))
    assert propose(held).parts[0].axes == axes("lqkh")


@pytest.mark.parametrize(
    ("shape", "expected", "turned"),
    [
        ((4, 4, 4), "qkh", "hkq"),
        ((5, 6, 3), "qkh", "hkq"),
        ((12, 20, 10), "qkh", "hkq"),
        ((1, 5, 6, 3), "bqkh", "bhkq"),
        ((2, 4, 4, 4), "lqkh", "lhkq"),
        ((3, 6, 5), "hkq", "qkh"),
    ],
)
def test_what_sums_to_1_in_the_middle_has_rather_fewer_heads_and_is_asked_about(
    shape: tuple[int, ...], expected: str, turned: str
) -> None:
    key = expected.index("k")
    held = contents(untitled=(shape, sums(*(at == key for at in range(len(shape))))))
    reading = propose(held)
    assert reading.parts[0].axes == axes(expected)
    found = [doubt for doubt in doubts(held, reading) if "sums to 1" in doubt.text]
    other = ", ".join(axes(turned))
    assert [doubt.text.partition(": ")[2] for doubt in found] == [
        f"what sums to 1 along axis {key} may be {other} as well: does axis {expected.index('q')} count the heads?"
    ]
    assert found[0].remedy is not None and found[0].remedy.parts[0].axes == axes(turned)
    assert not problems(held, found[0].remedy)
    # and back
    (back,) = (doubt for doubt in doubts(held, found[0].remedy) if "sums to 1" in doubt.text)
    assert back.remedy == reading


@pytest.mark.parametrize(("shape", "expected"), [((9, 9, 8), "qkh"), ((12, 9, 9), "hkq"), ((8, 9, 9), "hkq")])
def test_as_many_queries_as_keys_tell_the_heads_without_a_question(shape: tuple[int, ...], expected: str) -> None:
    held = contents(untitled=(shape, sums(False, True, False)))
    assert propose(held).parts[0].axes == axes(expected)
    assert not any("sums to 1" in text for text in texts(held))


def test_queries_of_the_file_tell_the_heads_without_a_question() -> None:
    held = contents(q=(3, 5, 8), k=(3, 6, 8), weights=((5, 6, 3), sums(False, True, False)))
    assert read(held)["weights"].axes == axes("qkh")
    assert not any("sums to 1" in text for text in texts(held))


@pytest.mark.parametrize("held", [contents(attn=((12, 20, 10), sums(False, False, True))), contents(attn=(12, 20, 20))])
def test_what_has_no_square_or_is_one_is_no_question(held: Contents) -> None:
    assert texts(held) == []


def test_rows_of_numbers_that_only_their_shape_makes_scores_may_be_hidden_states() -> None:
    held = contents(**{str(layer): ((2, 16, 384), Peek(-7.0, 6.0)) for layer in range(3)})
    reading = propose(held)
    assert reading.parts[0].role is Role.SCORES and reading.parts[0].layers == (0, 1, 2)
    (doubt,) = doubts(held, reading)
    assert doubt.text.endswith("16 queries and 384 keys: are these hidden states of 384 numbers?")
    assert doubt.remedy is not None and doubt.remedy.parts[0].role is Role.HIDDEN
    assert not problems(held, doubt.remedy) and not doubts(held, doubt.remedy)
    assert texts(contents(scores=((2, 16, 384), Peek(-7.0, 6.0)))) == [], "its name says it"
    assert texts(contents(untitled=((2, 16, 16), Peek(-7.0, 6.0)))) == [], "a token a row and a token a column"
    assert texts(contents(untitled=((2, 16, 384), Peek(-7.0, 6.0, minus_inf=True)))) == [], "masked"


@pytest.mark.parametrize(
    ("mask", "axis", "text"),
    [
        ((11, 12), 0, "The mask: 11 items in axis 0, read as a batch, and nothing else has one"),
        ((3, 1, 12, 12), 0, "The mask: 3 items in axis 0, read as a batch, and nothing else has one"),
        ((12, 12), None, ""),
        ((1, 12), None, ""),
        ((1, 1, 12, 12), None, ""),
    ],
)
def test_a_mask_of_a_batch_that_nothing_else_has(mask: tuple[int, ...], axis: int | None, text: str) -> None:
    parts: dict[str, Any] = dict.fromkeys("qkv", (1, 4, 12, 8))
    held = contents(**parts, mask=(mask, "bool", FLAGS))
    reading = propose(held)
    asked = [each for each in doubts(held, reading) if each.text.startswith("The mask")]
    if not text:
        assert not asked
        return
    (doubt,) = asked
    assert doubt.text.startswith(text) and doubt.axis == axis
    assert doubt.remedy is not None and doubt.remedy.parts[-1].role is None


def test_a_square_mask_that_may_be_of_a_batch() -> None:
    parts: dict[str, Any] = dict.fromkeys("qkv", (6, 2, 6, 4))
    held = contents(**parts, attention_mask=((6, 6), "int64", FLAGS))
    (doubt,) = [each for each in doubts(held, propose(held)) if each.text.startswith("The mask")]
    assert doubt.text == "The mask: 6 items in axis 0, read as queries: is this a batch?"
    assert doubt.remedy is not None and doubt.remedy.parts[-1].axes == (Axis.BATCH, Axis.KEY)
    assert not [each for each in doubts(held, doubt.remedy) if each.text.startswith("The mask")]


N = (4, 5, 5)


@pytest.mark.parametrize(
    ("shapes", "layers", "text"),
    [
        (
            {"layer_0": N, "layer_1": N, "layer_2": N, "layer_02": N},
            (0, 1, 2),
            "layer_02 is left out: layer_2 is layer 3 already",
        ),
        (
            {"layer_0": N, "layer_1": (5, 5), "layer_2": N},
            (0, 2),
            "layer_1 is left out: its axes are others than theirs",
        ),
        ({"layer_0": N, "layer_1": N}, (0, 1), ""),
        (
            {f"layer_{k}_{p}": (4, 5, 8) for k in range(3) for p in "qkv" if (k, p) != (1, "v")},
            (0, 2),
            "V of layer 2 is missing: that layer is left out",
        ),
        (
            {f"layer_{k}_{p}": (4, 5, 8) for k in range(4) for p in "qkv" if p != "k" or k in (0, 3)},
            (0, 3),
            "K of layers 2, 3 are missing: these layers are left out",
        ),
    ],
)
def test_layers_that_are_left_out_are_named(shapes: dict[str, Any], layers: tuple[int, ...], text: str) -> None:
    peek = sums(False, False, True)
    held = contents(**{name: (shape, *([peek] if shape == N else [])) for name, shape in shapes.items()})
    reading = propose(held)
    assert sizes(held, reading)[""].layers == layers
    told = [each for each in texts(held, reading) if "left out" in each]
    assert told == ([text] if text else [])
