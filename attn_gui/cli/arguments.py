"""What the arguments of the command line may be."""

from __future__ import annotations

import argparse
import math
import re
from typing import Any

from attn_gui.files import examples, tensor_file
from attn_gui.files.errors import FileError
from attn_gui.files.export_parts import Pooled, Top, Window
from attn_gui.model.session import Session
from attn_gui.model.stages import STAGES
from attn_gui.model.tensors.axes import Axis, Role
from attn_gui.model.tensors.told import ToldAxes, ToldRole
from attn_gui.model.trace import Head

NOTHING = "nothing"
# what a tensor is said to be, without regard to capitals
ROLES: dict[str, Role | None] = {**{role.value: role for role in Role}, NOTHING: None}


class Telling(argparse.Action):
    """Keeps what is told of tensors by their names, each of which is told of once."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        told = getattr(namespace, self.dest)
        if any(values.name == other.name for other in told):
            of = f"of {values.name}" if values.name else "without a name"
            raise argparse.ArgumentError(self, f"expected once for each tensor, received twice {of}")
        setattr(namespace, self.dest, [*told, values])


class TellingParts(Telling):
    """The same of arrays of which there is one for each role."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        other = next((each for each in getattr(namespace, self.dest) if each.role is values.role is not None), None)
        if other is not None and other.name != values.name:
            received = f"{other.name} and {values.name}"
            raise argparse.ArgumentError(self, f"expected one array for {values.role.value}, received {received}")
        super().__call__(parser, namespace, values, option)


def stages(argument: str) -> list[str]:
    names = [name.strip() for name in argument.split(",")]
    for name in names:
        if name not in STAGES:
            raise argparse.ArgumentTypeError(f"expected some of {', '.join(STAGES)}, received {name!r}")
    return list(dict.fromkeys(names))


def head(argument: str) -> Head:
    return "mean" if argument == "mean" else _counted(argument, "a head") - 1


def place(argument: str) -> int:
    return _counted(argument, "a number") - 1


def heads(argument: str) -> int:
    return _counted(argument, "how many heads")


def top(argument: str) -> Top:
    return Top(_counted(argument, "how many"))


def pooled(argument: str) -> Pooled:
    return Pooled(_counted(argument, "how many blocks"))


def window(argument: str) -> Window:
    numbers = re.fullmatch(r"(\d{1,12}):(\d{1,12}),(\d{1,12}):(\d{1,12})", argument.replace(" ", ""))
    if numbers is None:
        raise argparse.ArgumentTypeError(f"expected queries and keys as 1:200,1:300, received {argument!r}")
    top, bottom, left, right = map(int, numbers.groups())
    return Window((top - 1, bottom), (left - 1, right))


def _counted(argument: str, what: str) -> int:
    if not argument.isascii() or not argument.isdigit() or len(argument) > 12 or int(argument) < 1:
        raise argparse.ArgumentTypeError(f"expected {what}, 1 or more, received {argument!r}")
    return int(argument)


def softcap(argument: str) -> float:
    number = float(argument)  # argparse says what a ValueError means
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"expected a finite number above 0, received {argument!r}")
    return number


def base(argument: str) -> float:
    number = float(argument)
    if not 1 <= number < math.inf:
        raise argparse.ArgumentTypeError(f"expected a finite number, 1 or more, received {argument!r}")
    return number


def example(name: str) -> Session:
    try:
        return examples.load_session(name)
    except FileError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def said(argument: str) -> ToldRole:
    """What a tensor is: ``weights=NAME``, or ``weights`` alone."""
    text, _, name = argument.partition("=")
    found = next((known for known in ROLES if known.casefold() == text.strip().casefold()), None)
    if found is None:
        raise argparse.ArgumentTypeError(f"expected one of {', '.join(ROLES)}, then =NAME, received {argument!r}")
    return ToldRole(ROLES[found], name)


def said_part(argument: str) -> ToldRole:
    """The same of a file whose parts are told apart by their names alone, so that there has to be one."""
    told = said(argument)
    part = None if told.role is None else told.role.value
    if not told.name or (part is not None and part not in tensor_file.NAMES):
        parts = ", ".join([*tensor_file.NAMES, NOTHING])
        raise argparse.ArgumentTypeError(f"expected one of {parts}, then =NAME, received {argument!r}")
    return told


def said_axes(argument: str) -> ToldAxes:
    """What the axes of a tensor count: ``head,query,key=NAME``, or without the name."""
    text, _, name = argument.partition("=")
    words = [word.strip().casefold() for word in text.split(",")]
    known = {axis.value: axis for axis in Axis}
    wrong = next((word for word in words if word not in known), None)
    if wrong is not None:
        raise argparse.ArgumentTypeError(f"expected axes ({', '.join(known)}), then =NAME, received {wrong!r}")
    return ToldAxes(tuple(known[word] for word in words), name)
