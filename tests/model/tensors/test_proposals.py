"""What is proposed for files as people have them."""

from __future__ import annotations

from typing import Any

import pytest

from attn_gui.model.tensors.axes import Axis, Role
from attn_gui.model.tensors.checks import problems, sizes
from attn_gui.model.tensors.info import Contents, Peek, TensorInfo
from attn_gui.model.tensors.proposals import axes_for, propose
from attn_gui.model.tensors.reading import Part
from tests.model.tensors.holding import FLAGS, contents, sums

LETTERS = {
    axis.value[0]: axis for axis in (Axis.LAYER, Axis.BATCH, Axis.HEAD, Axis.QUERY, Axis.KEY, Axis.SIZE, Axis.WIDTH)
} | {"3": Axis.PART, "*": Axis.FUSED, "1": Axis.SINGLE}


def axes(text: str) -> tuple[Axis, ...]:
    """``bhqk``: the first letters of the axes; 3 of Q, K, V, * of all in one."""
    return tuple(LETTERS[letter] for letter in text)


def read(held: Contents) -> dict[str, Part]:
    return {part.tensors[0]: part for part in propose(held).parts}


ALONE = [
    ("attn", (12, 12, 7, 7), "lhqk", Role.WEIGHTS),
    ("attn", (1, 12, 7, 7), "bhqk", Role.WEIGHTS),
    ("attention", (12, 7, 9), "hqk", Role.WEIGHTS),
    ("weights", (7, 9), "qk", Role.WEIGHTS),
    ("pattern", (6, 2, 12, 7, 7), "lbhqk", Role.WEIGHTS),
    ("attn_scores", (1, 12, 7, 7), "bhqk", Role.SCORES),
    ("hidden_states", (1, 7, 768), "bqw", Role.HIDDEN),
    ("x", (7, 5), "qw", Role.HIDDEN),
    ("qkv", (1, 7, 2304), "bq*", Role.QKV),
    ("qkv_fused", (1, 7, 2304), "bq*", Role.QKV),
    ("qkv_proj", (1, 7, 2304), "bq*", Role.QKV),
    ("qkv", (2, 5, 3, 8, 16), "bq3hs", Role.QKV),
    ("qkv", (3, 2, 8, 5, 16), "3bhqs", Role.QKV),
    ("mask", (7, 7), "qk", Role.MASK),
    ("attention_mask", (2, 7), "qk", Role.MASK),
]


@pytest.mark.parametrize(("name", "shape", "expected", "role"), ALONE)
def test_one_tensor(name: str, shape: tuple[int, ...], expected: str, role: Role) -> None:
    part = read(contents(**{name: shape}))[name]
    assert (part.role, part.axes) == (role, axes(expected))


# as many queries as keys are more usual than as many heads
HEADS_LAST = [((9, 9, 8), 1, "qkh"), ((2, 9, 9, 8), 2, "lqkh"), ((3, 1, 9, 9, 8), 3, "lbqkh"), ((9, 8, 9), 2, "hqk")]


@pytest.mark.parametrize(
    ("shape", "summing", "expected"),
    [
        ((8, 9, 7), 2, "hqk"),
        ((8, 9, 7), 1, "hkq"),
        ((7, 9), 0, "kq"),
        ((7, 5, 3), 0, "khq"),
        ((7, 3, 5), 0, "khq"),
        ((2, 8, 9, 7), 2, "lhkq"),
        *HEADS_LAST,
    ],
)
def test_the_axis_that_sums_to_1_is_that_of_the_keys(shape: tuple[int, ...], summing: int, expected: str) -> None:
    peek = sums(*(index == summing for index in range(len(shape))))
    # whatever it is called
    for name in ("attn", "scores", "untitled"):
        part = read(contents(**{name: (shape, peek)}))[name]
        assert (part.role, part.axes) == (Role.WEIGHTS, axes(expected))


def test_what_a_hook_on_a_module_gave_is_read_by_the_name_of_the_module() -> None:
    sizes = {"q": 16 * 64, "k": 4 * 64, "v": 4 * 64}
    for form, outside in (("model.layers.{}.self_attn.{}_proj", 2), ("layer.{}.attention.{}_lin", 2)):
        names = {form.format(layer, of): (1, 7, size) for layer in range(outside) for of, size in sizes.items()}
        held = contents(**{name.replace(".", "__"): shape for name, shape in names.items()})
        found = {part.tensors[0]: (part.role, part.layers) for part in propose(held).parts}
        first = {form.format(0, of): role for of, role in (("q", Role.Q), ("k", Role.K), ("v", Role.V))}
        assert found == {name: (role, (0, 1)) for name, role in first.items()}
        of_model = contents(**{f"{name}.weight".replace(".", "__"): (1024, 1024) for name in names})
        assert all(part.role is None for part in propose(of_model).parts)


@pytest.mark.parametrize("name", ["x", "y", "z", "out", "k"])
def test_what_sums_to_1_is_weights_also_where_a_letter_names_it(name: str) -> None:
    assert read(contents(**{name: ((4, 6, 6), sums(False, False, True))}))[name].role is Role.WEIGHTS
    assert read(contents(**{name: ((4, 6, 6), Peek(-3.0, 2.0))}))[name].role is not Role.WEIGHTS
    assert read(contents(**{name: ((4, 6, 8), sums(True, False, False))}))[name].axes == axes("khq")


def test_weights_that_are_negative_are_scores() -> None:
    assert read(contents(attn=((4, 5, 5), Peek(-3.0, 2.0))))["attn"].role is Role.SCORES
    assert read(contents(attn=((4, 5, 5), Peek(0.0, 2.0, minus_inf=True))))["attn"].role is Role.SCORES


def test_numbers_of_no_name_are_not_read_beside_others() -> None:
    held = contents(q=(8, 5, 16), k=(8, 5, 16), loss=(3,), other=(7, 7))
    assert {name: part.role for name, part in read(held).items()} == {
        "q": Role.Q,
        "k": Role.K,
        "loss": None,
        "other": None,
    }


TOGETHER: list[tuple[dict[str, Any], dict[str, str]]] = [
    # SDPA, and with fewer heads of keys
    ({"q": (1, 8, 5, 16), "k": (1, 8, 5, 16), "v": (1, 8, 5, 16)}, {"q": "bhqs", "k": "bhks", "v": "bhks"}),
    ({"q": (1, 8, 5, 16), "k": (1, 2, 5, 16), "v": (1, 2, 5, 16)}, {"q": "bhqs", "k": "bhks", "v": "bhks"}),
    # flash attention, and with fewer heads of keys
    ({"q": (1, 5, 8, 16), "k": (1, 5, 2, 16), "v": (1, 5, 2, 16)}, {"q": "bqhs", "k": "bkhs", "v": "bkhs"}),
    # a step of decoding with a cache, in both layouts
    ({"q": (1, 8, 1, 16), "k": (1, 8, 32, 16), "v": (1, 8, 32, 16)}, {"q": "bhqs", "k": "bhks", "v": "bhks"}),
    ({"q": (1, 3, 8, 16), "k": (1, 20, 8, 16), "v": (1, 20, 8, 16)}, {"q": "bqhs", "k": "bkhs", "v": "bkhs"}),
    # the weights say which axis is which
    (
        {"q": (1, 8, 5, 16), "k": (1, 8, 5, 16), "v": (1, 8, 5, 16), "weights": (1, 5, 8, 8)},
        {"q": "bqhs", "k": "bkhs", "v": "bkhs", "weights": "bhqk"},
    ),
    ({"q": (5, 128), "k": (5, 32), "v": (5, 32), "n": (8, 5, 5)}, {"q": "qw", "k": "kw", "v": "kw", "n": "hqk"}),
    # one head, many heads, several sentences
    ({"q": (5, 16), "k": (7, 16), "v": (7, 3)}, {"q": "qs", "k": "ks", "v": "ks"}),
    ({"q": (8, 5, 16), "k": (8, 7, 16), "v": (8, 7, 3)}, {"q": "hqs", "k": "hks", "v": "hks"}),
    # a batch, which the ids or the mask say
    ({"scores": (2, 4, 5, 5), "input_ids": ((2, 5), "int64")}, {"scores": "bhqk", "input_ids": "bq"}),
    ({"attn": (3, 4, 5, 5), "attention_mask": ((3, 5), "int64", FLAGS)}, {"attn": "bhqk", "attention_mask": "bk"}),
    ({"attn": (3, 4, 5, 5), "mask": ((3, 1, 1, 5), "bool", FLAGS)}, {"attn": "bhqk", "mask": "bhqk"}),
    ({"attn": (3, 4, 5, 5), "mask": ((5, 5), "bool", FLAGS)}, {"attn": "lhqk", "mask": "qk"}),
    # sequences one after another
    (
        {
            "q": (10, 8, 16),
            "k": (10, 8, 16),
            "v": (10, 8, 16),
            "cu_seqlens": ((3,), "int32", Peek(0.0, 10.0, rising=True)),
        },
        {"q": "qhs", "k": "khs", "v": "khs", "cu_seqlens": "q"},
    ),
]


@pytest.mark.parametrize(("shapes", "expected"), TOGETHER)
def test_tensors_that_belong_together(shapes: dict[str, Any], expected: dict[str, str]) -> None:
    held = contents(**shapes)
    assert {name: part.axes for name, part in read(held).items()} == {n: axes(text) for n, text in expected.items()}
    reading = propose(held)
    assert [problem.field for problem in problems(held, reading)] in ([], ["meaning"])


def test_transformer_lens() -> None:
    shapes: dict[str, Any] = {}
    for layer in range(12):
        shapes |= {
            f"blocks__{layer}__attn__hook_{name}": (1, 5, 4, 8) for name in ("q", "k", "v", "z", "rot_q", "rot_k")
        }
        shapes |= {f"blocks__{layer}__attn__hook_{name}": (1, 4, 5, 5) for name in ("pattern", "attn_scores")}
        shapes |= {f"blocks__{layer}__hook_{name}": (1, 5, 32) for name in ("resid_pre", "resid_post", "mlp_out")}
        shapes[f"blocks__{layer}__ln1__hook_scale"] = (1, 5, 1)
    held = contents(**shapes)
    found = {part.role: part for part in propose(held).used()}
    assert set(found) == {Role.Q, Role.K, Role.V, Role.OUTPUT, Role.WEIGHTS, Role.SCORES, Role.HIDDEN}
    assert found[Role.WEIGHTS].tensors == tuple(f"blocks.{layer}.attn.hook_pattern" for layer in range(12))
    assert found[Role.WEIGHTS].layers == tuple(range(12))
    # as the scores were made of them: after the rotary positions
    assert found[Role.Q].tensors[0] == "blocks.0.attn.hook_rot_q"
    assert found[Role.Q].axes == axes("bqhs")
    assert found[Role.K].axes == axes("bkhs")
    assert found[Role.OUTPUT].axes == axes("bqhs")
    assert found[Role.WEIGHTS].module == "blocks.{}.attn"
    assert not problems(held, propose(held))


def test_outputs_of_transformers() -> None:
    shapes: dict[str, Any] = {}
    for layer in range(2):
        shapes |= {f"encoder_attentions__{layer}": (1, 4, 6, 6), f"decoder_attentions__{layer}": (1, 4, 5, 5)}
        shapes |= {f"cross_attentions__{layer}": (1, 4, 5, 6)}
    held = contents(**shapes)
    reading = propose(held)
    assert {(part.group, part.kind) for part in reading.parts} == {
        ("encoder", "self"),
        ("decoder", "self"),
        ("cross", "cross"),
    }
    assert {group: (size.n_q, size.n_k, size.layers) for group, size in sizes(held, reading).items()} == {
        "encoder": (6, 6, (0, 1)),
        "decoder": (5, 5, (0, 1)),
        "cross": (5, 6, (0, 1)),
    }


def test_a_tuple_of_layers() -> None:
    held = contents(**{str(layer): ((2, 4, 5, 5), sums(False, False, False, True)) for layer in range(12)})
    (part,) = propose(held).parts
    assert part.tensors == tuple(map(str, range(12)))
    assert (part.role, part.axes, part.layers) == (Role.WEIGHTS, axes("bhqk"), tuple(range(12)))


def test_a_tuple_of_tuples() -> None:
    shapes: dict[str, Any] = {f"0__{layer}": ((1, 4, 5, 5), sums(False, False, False, True)) for layer in range(3)}
    held = contents(**shapes, **{f"1__{layer}": (1, 5, 32) for layer in range(4)})
    first, second = propose(held).parts
    assert (first.role, first.tensors, first.layers) == (Role.WEIGHTS, ("0.0", "0.1", "0.2"), (0, 1, 2))
    assert (second.role, len(second.tensors)) == (None, 4)


def test_hidden_states_are_one_more_than_layers() -> None:
    shapes = {f"attentions__{layer}": (1, 4, 5, 5) for layer in range(3)}
    shapes |= {f"hidden_states__{layer}": (1, 5, 32) for layer in range(4)}
    held = contents(**shapes)
    reading = propose(held)
    assert sizes(held, reading)[""].layers == (0, 1, 2)
    assert not problems(held, reading)


@pytest.mark.parametrize(
    ("names", "layers"),
    [
        (["layer_1", "layer_2", "layer_10"], (0, 1, 9)),
        (["layer_0", "layer_1", "layer_2"], (0, 1, 2)),
        (["attn_L3", "attn_L7"], (3, 7)),
        (["h.1.attn", "h.2.attn"], (1, 2)),
    ],
)
def test_layers_are_counted_as_their_names_do(names: list[str], layers: tuple[int, ...]) -> None:
    tensors = tuple(
        TensorInfo(name, (4, 5, 5), "float32", f"{name}.npy", "", sums(False, False, True)) for name in names
    )
    held = Contents("/folder", tuple(f"{name}.npy" for name in names), tensors)
    (part,) = propose(held).parts
    assert part.layers == layers


def test_two_arrays_for_one_thing() -> None:
    held = contents(attn=(4, 5, 5), attn_probs=(4, 5, 5), q=(4, 5, 8), k=(4, 5, 8))
    roles = [part.role for part in propose(held).parts]
    assert roles.count(Role.WEIGHTS) == 1
    assert roles.count(None) == 1


def test_the_mask_s_meaning_is_taken_from_what_is_certain() -> None:
    def meaning(name: str, *what: Any) -> str | None:
        return propose(contents(**{name: (*what,)}, scores=(1, 4, 5, 5))).meaning

    assert meaning("mask", (5, 5), "float32", Peek(-1e9, 0.0, minus_inf=True)) == "additive"
    assert meaning("mask", (5, 5), "bool", FLAGS) is None
    assert meaning("attention_mask", (1, 5), "int64", FLAGS) == "allowed"
    assert meaning("key_padding_mask", (1, 5), "bool", FLAGS) == "blocked"


def test_words_of_the_file_name_tokens() -> None:
    words = {"tokens": ("a", "b", "c"), "context": ("d", "e", "f", "g"), "labels": ("x", "y")}
    reading = propose(contents(attn=(2, 3, 4), words=words))
    assert (reading.tokens, reading.key_tokens) == (("a", "b", "c"), ("d", "e", "f", "g"))
    reading = propose(contents(attn=(2, 3, 3), words=words))
    assert (reading.tokens, reading.key_tokens) == (("a", "b", "c"), None)


def test_parameters_of_a_model_are_no_attention() -> None:
    names = ("query", "key", "value")
    held = contents(
        **{f"encoder__layer__{n}__attention__self__{name}__weight": (32, 32) for n in (0, 1) for name in names}
    )
    reading = propose(held)
    assert not reading.used()
    assert "the weights of a model" in problems(held, reading)[0].text


def test_a_number_in_the_name_of_one_tensor_that_holds_all_layers_is_no_layer() -> None:
    for shape in ((3, 2, 4, 7, 7), (3, 1, 4, 7, 7)):
        part = read(contents(layers5=(shape, sums(False, False, False, False, True))))["layers5"]
        assert (part.axes, part.layers) == (axes("lbhqk"), ())
    held = contents(layer_3=((2, 4, 7, 7), sums(False, False, False, True)))
    reading = propose(held)
    assert (reading.parts[0].axes, reading.parts[0].layers) == (axes("bhqk"), (3,))
    by_hand = reading.with_axes(0, axes("lhqk"))
    assert by_hand.parts[0].layers == () and not problems(held, by_hand)


def test_another_role_gets_axes_of_its_own() -> None:
    held = contents(attn=(1, 8, 5, 5), thing=(1, 5, 8, 16))
    reading = propose(held)
    assert axes_for(held, reading, 1, Role.Q) == axes("bqhs")
    assert axes_for(held, reading, 1, Role.V) == axes("bkhs")
    assert axes_for(held, reading, 0, Role.MASK) == axes("bhqk")


def test_what_does_not_fit_is_still_read_and_said() -> None:
    held = contents(attn=(16, 5, 5), q=(8, 5, 16), k=(8, 5, 16), v=(8, 5, 16))
    (problem,) = problems(held, propose(held))
    assert problem.text == "Q: 8 items in axis 0, read as heads; the weights have 16 in axis 0: is this a batch?"


def test_any_shape_is_read_somehow() -> None:
    for shape in [(), (0,), (1,), (3,), (1,) * 7, (2, 3, 4, 5, 6, 7), (1, 1), (0, 5, 5)]:
        for role in Role:
            held = contents(thing=shape)
            reading = propose(held)
            read_as = reading.with_part(0, Part(role, ("thing",), axes_for(held, reading, 0, role)))
            for text in (problem.text for problem in problems(held, read_as)):
                assert text
