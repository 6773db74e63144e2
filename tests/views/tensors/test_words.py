"""What the dialog says of tensors."""

from __future__ import annotations

import pytest

from attn_gui.model.tensors.axes import Axis, Role
from attn_gui.model.tensors.info import Contents, Peek, TensorInfo
from attn_gui.model.tensors.reading import Part, Reading
from attn_gui.views.tensors.words import NOTHING, headline, is_mask_alone, part_name, range_text, size_text

HEADS = (Axis.HEAD, Axis.QUERY, Axis.KEY)


def tensor(name: str, *shape: int, dtype: str = "float32", peek: Peek | None = None) -> TensorInfo:
    return TensorInfo(name, shape, dtype, "a.npz", name, peek)


def contents(*tensors: TensorInfo) -> Contents:
    return Contents("/a.npz", (), tensors)


@pytest.mark.parametrize(
    ("peek", "text"),
    [
        (None, ""),
        (Peek(-1.25, 3.0), "−1.25 to 3"),
        (Peek(0.0, 0.0), "all 0"),
        (Peek(None, None, nan=True), "no finite number, NaN"),
        (Peek(0.0, 1e-7, minus_inf=True), "0 to 1e−07, −inf"),
        (Peek(0.0, 1.0, whole=False, inf=True), "0 to 1, +inf, sampled"),
    ],
)
def test_the_range_of_a_tensor(peek: Peek | None, text: str) -> None:
    assert range_text(tensor("a", 2, 2, peek=peek)) == text


def test_a_head_of_one_layer_and_an_item() -> None:
    axes = (Axis.LAYER, Axis.BATCH, Axis.QUERY, Axis.KEY)
    what = contents(tensor("attn", 3, 2, 1, 4))
    part = Part(Role.WEIGHTS, ("attn",), axes)
    sentence = headline(what, Reading((part,), batch=1, layers=(2,)))
    assert sentence == "Opens the weights N: layer 3, item 2 of 2 in the batch, 1 head, 1 query × 4 keys."


def test_each_attention_of_a_model_has_a_sentence() -> None:
    what = contents(tensor("self", 2, 3, 3), tensor("cross", 2, 3, 5))
    parts = (
        Part(Role.WEIGHTS, ("self",), HEADS, group="decoder"),
        Part(Role.WEIGHTS, ("cross",), HEADS, group="cross", kind="cross"),
    )
    assert headline(what, Reading(parts)).split("\n") == [
        "Opens the weights N (decoder): 2 heads, 3 queries × 3 keys.",
        "Opens the weights N (cross-attention): 2 heads, 3 queries × 5 keys.",
    ]


def test_nothing_and_a_mask_alone() -> None:
    what = contents(tensor("m", 3, 3, dtype="bool"))
    left_out = Part(None, ("m",), (Axis.QUERY, Axis.KEY))
    assert headline(what, Reading((left_out,))) == NOTHING and not is_mask_alone(Reading((left_out,)))
    mask = Part(Role.MASK, ("m",), (Axis.QUERY, Axis.KEY))
    assert is_mask_alone(Reading((mask,)))
    weights = Part(Role.WEIGHTS, ("m",), (Axis.QUERY, Axis.KEY))
    assert not is_mask_alone(Reading((mask, weights)))


def test_names_that_would_break_a_line_do_not() -> None:
    assert "\n" not in part_name(Part(None, ("a\nb",), (Axis.QUERY,)))
    assert part_name(Part(None, ("layer_0", "layer_1", "layer_2"), HEADS)) == "layer_0 and 2 more"
    assert size_text(contents(tensor("a", 250), tensor("b", 250, dtype="float16"))) == "1.5 kB"


def test_a_zero_with_a_sign_is_zero() -> None:
    for low, high, told in ((-4.5, -0.0, "−4.5 to 0"), (-0.0, -0.0, "all 0"), (-0.0, 2.0, "0 to 2")):
        assert range_text(tensor("a", 2, peek=Peek(low, high))) == told
