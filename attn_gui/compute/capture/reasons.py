"""Why a model could not be opened or run, in words of our own.

What other libraries say speaks to who writes programs with them, and may advise to switch off what keeps a file from
running code. It stays the cause of the error, for whoever opens models from Python.
"""

from __future__ import annotations

import json
import pickle  # noqa: TID251 - for the name of its error; nothing is unpickled
import re
from typing import Any

_PARTS = {
    "its config": "config.json is damaged, or says what this version of transformers does not understand",
    "its tokenizer": "The files of the tokenizer are damaged, or of a kind that this version of transformers lacks",
    "its weights": "They are damaged, or do not fit what config.json says of the model",
}
_GGUF = "The file is damaged or cut off, or of a kind of GGUF that transformers does not read"
_MISFIT = "The numbers in config.json do not fit together, such as a width that is no multiple of the number of heads"
_FIELD = re.compile(r"Field '(\w+)' expected ([^,]+), got (\w+)")
_PACKAGE = re.compile(r"No module named '(\w+)|pip install (?:-\S+ )*[`'\"]?([A-Za-z][\w-]*)|package for (\w+)")
_TYPE = re.compile(r"model type `([^`]{1,60})`")
# by what the message has in it
_SAID = (
    (
        ("weights_only", "Weights only load failed"),
        "They hold more than tensors, or are damaged. They are not opened any other way, since that could run whatever "
        "somebody put there: ask for the weights as safetensors",
    ),
    (
        ("trust_remote_code", "custom code"),
        "It comes with code of its own, which is not run: only the kinds of model that transformers has can be opened",
    ),
    (("model_type", "Unrecognized model"), "config.json names no model_type that transformers knows"),
    (("valid JSON", "JSON file"), "config.json is not JSON"),
    (("deserializing header", "SafetensorError"), "The weights (.safetensors) are damaged or cut off"),
    (("divisible", "modulo by zero", "division by zero"), _MISFIT),
)


def reason(what: str, error: Exception, *, gguf: bool = False) -> str:
    """Why ``what`` of a model (its config, its tokenizer, its weights) cannot be read: one sentence."""
    said = str(error)
    if (field := _FIELD.search(said)) is not None:
        return f"{field[1]} in config.json must be {field[2]}, and is {field[3]}"
    if isinstance(error, ImportError):
        found = _PACKAGE.search(said)
        name = None if found is None else next(filter(None, found.groups()))
        return f"It needs the package {name}, which is not installed" if name else "It needs a package that is missing"
    if gguf:
        return _GGUF
    if isinstance(error, RecursionError):
        return "It is nested too deeply"
    if isinstance(error, pickle.UnpicklingError):
        return _SAID[0][1]
    if isinstance(error, ZeroDivisionError):
        return _MISFIT
    if (kind := _TYPE.search(said)) is not None:
        return f"transformers, as it is installed, knows no model of the type {kind[1]}"
    if isinstance(error, json.JSONDecodeError) and what == "its config":
        return "config.json is not JSON"
    for signs, words in _SAID:
        if any(sign in said or sign == type(error).__name__ for sign in signs):
            return words
    return _PARTS[what]


def why_not_run(name: str, error: Exception) -> str:
    """Why the model called ``name`` could not read a text: a sentence."""
    if isinstance(error, IndexError):
        return (
            f"{name} could not read this: a token's number lies outside its vocabulary or its positions, so the "
            "tokenizer may be another model's"
        )
    return f"{name} could not read this: its own computation failed ({type(error).__name__})"


def misfit(mismatched: Any) -> str:
    """Which weight has another shape in the file than in the model: (name, shape there, shape here), some of them."""
    name, stored, declared = sorted(mismatched, key=lambda each: str(each[0]))[0]
    there, here = (" × ".join(map(str, shape)) or "one number" for shape in (stored, declared))
    more = f"; so are {len(mismatched) - 1} more" if len(mismatched) > 1 else ""
    return f"{name} is {there} in the file and {here} by config.json{more}"
