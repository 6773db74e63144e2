"""Attention modules in a state dict, by the names that people give their layers.

nn.MultiheadAttention, and modules of a linear layer each for queries, keys and values with or without one for the
output, under any common prefix (``attn.``, ``layers.3.self_attn.``). nn.Linear keeps the transpose of W.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from attn_gui.files.checkpoint.declared import Declared
from attn_gui.files.multihead_attention import OUT, SEPARATE, appended_of_mha, weights_of_mha
from attn_gui.model.errors import ExperimentError
from attn_gui.model.sources import AppendedKey
from attn_gui.model.table import Table, floats
from attn_gui.model.weights import MATRICES, Weights

MULTIHEAD = "nn.MultiheadAttention"
JOINT = "in_proj_weight"
JOINT_BIAS = "in_proj_bias"
BIAS_KV = ("bias_k", "bias_v")
LAYERS = (
    ("q_linear", "k_linear", "v_linear"),
    ("self.query", "self.key", "self.value"),
    ("query", "key", "value"),
    ("q_proj", "k_proj", "v_proj"),
    ("W_q", "W_k", "W_v"),
    ("W_Q", "W_K", "W_V"),
    ("W_query", "W_key", "W_value"),
    ("wq", "wk", "wv"),
    ("q", "k", "v"),
)
OUTPUTS = ("out", "out_linear", "fc_out", "out_proj", "o_proj", "W_o", "W_O", "wo", "output.dense")
KNOWN = (
    f"{MULTIHEAD} (in_proj_weight, out_proj.weight, ..) or linear layers for queries, keys and values "
    f"({', '.join('/'.join(names) for names in LAYERS)}) and perhaps the output ({', '.join(OUTPUTS)})"
)

# of each matrix or bias of Weights, and of bias_k and bias_v: the name that it has, and which third of it it is
Roles = dict[str, tuple[str, int | None]]


@dataclass(frozen=True)
class AttentionModule:
    """A module found in a file; none of its numbers is read yet.

    prefix: what stands before all its names. roles: the name, without the prefix, of each table of Weights. shapes: of
    W_Q and so on, [d_in, d_out].
    """

    prefix: str
    title: str
    roles: Mapping[str, tuple[str, int | None]]
    shapes: Mapping[str, tuple[int, ...]]
    dtype: str

    @property
    def name(self) -> str:
        """Its place in the model, empty for the model itself."""
        return self.prefix.rstrip(".")

    @property
    def names(self) -> tuple[str, ...]:
        """The tensors that it is made of, by their full names, each once."""
        return tuple(dict.fromkeys(self.prefix + name for name, _ in self.roles.values()))

    @property
    def is_multihead(self) -> bool:
        """Whether it is nn.MultiheadAttention."""
        return self.title == MULTIHEAD

    @property
    def widths(self) -> tuple[int, int, int]:
        """The width of what queries, keys and values are projected from."""
        return self.shapes["W_Q"][0], self.shapes["W_K"][0], self.shapes["W_V"][0]

    @property
    def heads(self) -> tuple[int, ...]:
        """Every number of heads that its matrices can be cut into; at least one."""
        return _head_counts(self.shapes)

    def role(self, name: str) -> tuple[str, ...]:
        """What the tensor of that full name is: one or several of W_Q, b_Q, .., bias_k."""
        return tuple(role for role, (own, _) in self.roles.items() if self.prefix + own == name)


def modules_in(tensors: Mapping[str, Declared]) -> list[AttentionModule]:
    """The attention modules among ``tensors``, in the order of the file.

    Raises ExperimentError: where there is none, with the names that there are; where shapes do not fit together, with
    those of the first.
    """
    found, faults = [], []
    for prefix in _prefixes(tensors):
        roles = roles_of({name.removeprefix(prefix) for name in tensors if name.startswith(prefix)})
        if roles is None:
            continue
        try:
            found.append(_module(prefix, roles, tensors))
        except ExperimentError as error:
            faults.append(error)
    if found:
        return [module for module in found if not any(_is_part(module, other) for other in found)]
    if faults:
        raise faults[0]
    names = ", ".join(tensors)
    raise ExperimentError("tensors", KNOWN, f"only {names}" if names else "no tensor")


def _is_part(module: AttentionModule, other: AttentionModule) -> bool:
    """Whether ``module`` is only the inner part of ``other``: BERT keeps the projections in a ``self`` of their own."""
    inner = module is not other and module.prefix.startswith(other.prefix)
    return inner and set(module.names) <= set(other.names)


def roles_of(names: Collection[str]) -> Roles | None:
    """Which of a module's ``names``, without a prefix, is what; None where they are not those of an attention."""
    if OUT[0] in names and (JOINT in names or all(name in names for name in SEPARATE)):
        roles: Roles = {
            matrix: (JOINT, third) if JOINT in names else (SEPARATE[third], None)
            for third, matrix in enumerate(MATRICES[:3])
        }
        if JOINT_BIAS in names:
            roles |= {f"b_{letter}": (JOINT_BIAS, third) for third, letter in enumerate("QKV")}
        roles |= {name: (name, None) for name in BIAS_KV if name in names}
        return roles | _layer("O", "out_proj", names)
    for layers in LAYERS:
        if all(f"{layer}.weight" in names for layer in layers):
            roles = {}
            for letter, layer in zip("QKV", layers, strict=True):
                roles |= _layer(letter, layer, names)
            output = next((layer for layer in OUTPUTS if f"{layer}.weight" in names), None)
            return roles if output is None else roles | _layer("O", output, names)
    return None


def weights_from_state(state: Mapping[str, ArrayLike], heads: int) -> tuple[Weights, tuple[AppendedKey, ...]]:
    """The weights of a module's state dict without a prefix, and the key that bias_k and bias_v append.

    The number of kv heads is ``heads * W_K.width // W_Q.width``. Several heads without an output layer get the
    identity as W_O, which is what they do. Raises ExperimentError.
    """
    arrays = {name: floats(array, name) for name, array in state.items()}
    roles = roles_of(arrays)
    if roles is None:
        raise ExperimentError("tensors", KNOWN, ", ".join(arrays) or "none")
    module = _module("", roles, {name: Declared(array.shape, "float64") for name, array in arrays.items()})
    if heads not in module.heads:
        raise ExperimentError("heads", " or ".join(map(str, module.heads)), str(heads))
    if module.is_multihead:
        own = {name: arrays[name] for name, _ in roles.values()}
        return weights_of_mha(own), appended_of_mha(own)
    tables = {
        role: Table.of(arrays[name].T if role in MATRICES else arrays[name][np.newaxis])
        for role, (name, _) in roles.items()
    }
    if "W_O" not in tables and heads > 1:
        kv_heads = heads * tables["W_K"].width // tables["W_Q"].width
        tables["W_O"] = Table.of(np.eye(heads * tables["W_V"].width // kv_heads))
    return Weights(**tables), ()


def _layer(letter: str, layer: str, names: Collection[str]) -> Roles:
    both = ((f"W_{letter}", f"{layer}.weight"), (f"b_{letter}", f"{layer}.bias"))
    return {role: (name, None) for role, name in both if name in names}


def _prefixes(tensors: Mapping[str, Declared]) -> Iterator[str]:
    """Everything before a name that only an attention module has, each once."""
    first = (JOINT, SEPARATE[0], *(f"{layers[0]}.weight" for layers in LAYERS))
    seen: set[str] = set()
    for name in tensors:
        for own in first:
            prefix = name.removesuffix(own)
            if name.endswith(own) and (not prefix or prefix.endswith(".")) and prefix not in seen:
                seen.add(prefix)
                yield prefix


def _module(prefix: str, roles: Roles, tensors: Mapping[str, Declared]) -> AttentionModule:
    """The module, if its shapes fit together; raises ExperimentError naming a tensor."""
    shapes = {}
    for role, (own, third) in roles.items():
        name, declared = prefix + own, tensors[prefix + own]
        if not declared.is_real or declared.dtype.startswith("complex"):
            raise ExperimentError(name, "floating-point numbers", declared.dtype)
        shapes[role] = _part_shape(name, role, declared.shape, third)
    _check_fit(prefix, roles, shapes)
    if not _head_counts(shapes):
        received = ", ".join(f"{role} {shapes[role]}" for role in MATRICES if role in shapes)
        raise ExperimentError(prefix.rstrip(".") or "module", "matrices that can be cut into heads", received)
    apart = "/".join(roles[matrix][0].removesuffix(".weight") for matrix in MATRICES[:3])
    title = MULTIHEAD if roles["W_Q"][0] in (JOINT, SEPARATE[0]) else f"linear layers {apart}"
    return AttentionModule(prefix, title, roles, shapes, tensors[prefix + roles["W_Q"][0]].dtype)


def _part_shape(name: str, role: str, shape: tuple[int, ...], third: int | None) -> tuple[int, ...]:
    """The shape of a tensor, or of a third of it, as Weights keeps it."""
    if third is not None and (not shape or shape[0] % 3):
        raise ExperimentError(name, "rows for queries, keys and values, one below the other", f"shape {shape}")
    shape = shape if third is None else (shape[0] // 3, *shape[1:])
    axes = {"bias_k": 3, "bias_v": 3}.get(role, 2 if role in MATRICES else 1)
    if len(shape) != axes or min(shape) < 1 or (axes == 3 and shape[:2] != (1, 1)):
        expected = {1: "a vector", 2: "a matrix", 3: "shape (1, 1, width)"}[axes]
        raise ExperimentError(name, f"{expected}, not empty", f"shape {shape}")
    return shape[::-1] if axes == 2 else shape[-1:]


def _check_fit(prefix: str, roles: Roles, shapes: Mapping[str, tuple[int, ...]]) -> None:
    if shapes["W_K"][1] > shapes["W_Q"][1]:
        expected = f"at most the {shapes['W_Q'][1]} rows of the queries' matrix"
        raise ExperimentError(prefix + roles["W_K"][0], expected, str(shapes["W_K"][1]))
    of = {"bias_k": "W_K", "bias_v": "W_V"} | {f"b_{letter}": f"W_{letter}" for letter in "QKVO"}
    for role, shape in shapes.items():
        if role in of and shape != shapes[of[role]][1:]:
            raise ExperimentError(prefix + roles[role][0], f"{shapes[of[role]][1]} numbers", f"{shape[0]}")
    if ("bias_k" in roles) != ("bias_v" in roles):
        raise ExperimentError(prefix + "bias_k", "bias_v beside it", "one without the other")


def _head_counts(shapes: Mapping[str, tuple[int, ...]]) -> tuple[int, ...]:
    """Numbers of heads that cut all of W_Q, W_K, W_V and W_O into equal parts."""
    (_, q), (_, k), (_, v) = (shapes[matrix] for matrix in MATRICES[:3])
    joined = shapes["W_O"][0] if "W_O" in shapes else None
    counts = []
    for heads in _divisors(q):
        d_k = q // heads
        kv_heads = k // d_k
        if k % d_k or heads % kv_heads or v % kv_heads:
            continue
        if joined is None or joined == heads * (v // kv_heads):
            counts.append(heads)
    return tuple(counts)


def _divisors(number: int) -> list[int]:
    low = [d for d in range(1, math.isqrt(number) + 1) if number % d == 0]
    return sorted({*low, *(number // d for d in low)})
