"""What was given to an experiment, as JSON: in the place of its ``source``.

::

    {"kind": "given_scores", "A": [[[..]]], "V": [[[..]]], "dtypes": {"A": "float16"}}

``kind`` is ``qkv`` (Q, K, V), ``given_scores`` (A, and V or none) or ``given_weights`` (N, and V or none). ``dtypes``
names the types of number that are not float64. ``{"origin": "A"}`` stands for an array of the experiment's ``origin``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attn_gui.files.places import Place
from attn_gui.model.given import Given, given
from attn_gui.model.sources import GivenQKV, GivenScores, GivenSource, GivenWeights

# by its kind: what it is, what it has to have, and what it may have
GIVEN: dict[str, tuple[type[GivenSource], tuple[str, ...], tuple[str, ...]]] = {
    "qkv": (GivenQKV, ("Q", "K"), ("V",)),
    "given_scores": (GivenScores, ("A",), ("V",)),
    "given_weights": (GivenWeights, ("N",), ("V",)),
}
INTEGERS = tuple(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))
DTYPES = ("float64", "float32", "float16", "bfloat16", "bool", *INTEGERS)
PutGiven = Callable[[str, Given], Any]


def plain_given(source: GivenSource, put: PutGiven) -> dict[str, Any]:
    """The source as values for :func:`~attn_gui.files.json_text.dumps`; ``put`` says what stands for a part."""
    kind = next(kind for kind, (of, _, _) in GIVEN.items() if isinstance(source, of))
    parts = source.parts()
    plain: dict[str, Any] = {"kind": kind} | {name: put(name, array) for name, array in parts.items()}
    dtypes = {name: array.dtype.name for name, array in parts.items() if array.dtype.name != "float64"}
    return plain | ({"dtypes": dtypes} if dtypes else {})


def read_given(place: Place, kind: str) -> GivenSource:
    """The source of ``kind`` that stands at ``place``; raises FileError."""
    of, required, optional = GIVEN[kind]
    at = place.keys(("kind", *required), ("dtypes", *optional))
    dtypes = dict(at["dtypes"].items()) if "dtypes" in at else {}
    parts = {}
    for name in (*required, *optional):
        if name in at and (name in required or at[name].value is not None):
            dtype = dtypes[name].one_of(*DTYPES) if name in dtypes else "float64"
            parts[name] = given(at[name].given(dtype, 3), name)
    return of(**parts)
