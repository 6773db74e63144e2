"""A Reading as plain JSON, for an Origin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from attn_gui.model.errors import ExperimentError
from attn_gui.model.tensors.axes import Axis, Role
from attn_gui.model.tensors.info import Contents
from attn_gui.model.tensors.reading import Kind, Order, Part, Reading
from attn_gui.model.tensors.sizes import Sizes

MOST_TENSORS = 100_000
ARRAYS = (Role.WEIGHTS, Role.SCORES, Role.Q, Role.K, Role.V, Role.QKV, Role.KV)


def to_plain(contents: Contents, reading: Reading, layer: int | None, group: str, sizes: Sizes) -> dict[str, Any]:
    """What it takes to get the arrays of one layer of one attention again; masks and tokens a session keeps itself."""
    parts = [
        _plain_part(contents, part, layer)
        for part in reading.used(group)
        if part.role in ARRAYS and (not part.layers or layer in part.layers)
    ]
    counts = {"heads": sizes.heads or 1, "kv_heads": sizes.kv_heads or 1}
    return {"layer": layer, "batch": reading.batch, **counts, "parts": parts}


def from_plain(plain: Mapping[str, Any]) -> tuple[Reading, int | None]:
    """The reading and the layer of :func:`to_plain`; raises ExperimentError for anything else.

    Its tensors are named by their file and their key there (:func:`place_of`).
    """
    layer = _count(plain, "layer", none=True)
    parts = plain.get("parts")
    if not isinstance(parts, list) or len(parts) > MOST_TENSORS:
        raise ExperimentError("origin reading parts", "a list", type(parts).__name__)
    batch = _count(plain, "batch")
    heads, kv_heads = _count(plain, "heads", none=True), _count(plain, "kv_heads", none=True)
    read = tuple(_part(part) for part in parts)
    for name, number in (("heads", heads), ("kv_heads", kv_heads)):
        if number == 0:
            raise ExperimentError(f"origin reading {name}", "1 or more", "0")
    reading = Reading(read, batch or 0, None if layer is None else (layer,), heads, kv_heads)
    return reading, layer


def place_of(file: str, key: str) -> str:
    """A name for the tensor ``key`` of ``file`` that no other has."""
    return f"{file}\0{key}"


def _plain_part(contents: Contents, part: Part, layer: int | None) -> dict[str, Any]:
    assert part.role is not None
    at = part.layers.index(layer) if layer in part.layers else 0
    tensor = contents.tensor(part.tensors[at])
    plain: dict[str, Any] = {
        "role": part.role.value,
        "file": tensor.file,
        "key": tensor.key,
        "axes": [axis.value for axis in part.axes],
    }
    if part.layers:
        plain["layer"] = part.layers[at]
    if part.order != "parts":
        plain["order"] = part.order
    return plain


def _part(plain: Any) -> Part:
    if not isinstance(plain, Mapping) or not all(isinstance(plain.get(name), str) for name in ("file", "key")):
        raise ExperimentError("origin reading part", "an object with a file and a key", type(plain).__name__)
    if plain["file"] in ("", ".", "..") or set(plain["file"]) & {"/", "\\", "\0"}:
        raise ExperimentError("origin reading file", "the name of a file in the folder", repr(plain["file"][:80]))
    axes = plain.get("axes")
    if not isinstance(axes, list) or not all(axis in list(Axis) for axis in axes):
        raise ExperimentError("origin reading axes", f"some of {', '.join(Axis)}", str(axes))
    role = Role(_word(plain, "role", tuple(Role)))
    order: Order = _word(plain, "order", get_args(Order), none=True) or "parts"
    layer = _count(plain, "layer", none=True)
    layers = () if layer is None else (layer,)
    kind: Kind = "self"
    name = place_of(plain["file"], plain["key"])
    return Part(role, (name,), tuple(map(Axis, axes)), layers, "", kind, "", order)


def _count(plain: Mapping[str, Any], name: str, *, none: bool = False) -> int | None:
    value = plain.get(name)
    if value is None and none:
        return None
    if type(value) is not int or not 0 <= value < 1 << 31:
        raise ExperimentError(f"origin reading {name}", "a whole number from 0", str(value)[:40])
    return value


def _word(plain: Mapping[str, Any], name: str, words: tuple[str, ...], *, none: bool = False) -> Any:
    value = plain.get(name)
    if value is None and none:
        return None
    if value not in words:
        raise ExperimentError(f"origin reading {name}", " or ".join(words), str(value)[:40])
    return value
