"""Parts: small named choices with parameters, such as a mask rule or a normaliser, each in a file of its own.

A family is a folder of such files; a new file in it is all that a new part takes. Its parameters are declared once,
with what they may be, and everything else follows from that: checks, JSON, and the controls on screen.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from attn_gui.model.errors import ExperimentError
from attn_gui.model.table import frozen

Kind = Literal["whole", "number", "flag", "choice", "wholes", "numbers", "array"]

# no index of a matrix is larger on any machine
LARGEST_WHOLE = 2**31 - 1
# float32 holds it, and what becomes of it beside ordinary numbers
LARGEST_NUMBER = 1e30


@dataclass(frozen=True)
class Parameter:
    """What a parameter is: its kind of value, its label on screen, and its limits.

    choices: value to label. axes: of an array, the counts of axes it may have; flags: it holds bools; counts: what
    its last axes count, in the words of :mod:`attn_gui.model.tables`, which shows it under its label.
    """

    kind: Kind
    label: str
    hint: str = ""
    least: float = -LARGEST_NUMBER
    most: float = LARGEST_NUMBER
    choices: Mapping[str, str] = field(default_factory=dict)
    axes: tuple[int, ...] = ()
    flags: bool = False
    counts: tuple[str, ...] = ()
    optional: bool = False

    def refusal(self, value: Any) -> str | None:
        """What was expected, where ``value`` is not that; None where it is."""
        if self.kind == "flag":
            return None if type(value) is bool else "true or false"
        if self.kind == "choice":
            known = isinstance(value, str) and value in self.choices
            return None if known else " or ".join(self.choices)
        if self.kind == "array":
            if value is None and self.optional:
                return None
            shaped = isinstance(value, np.ndarray) and value.ndim in self.axes and value.size > 0
            return None if shaped else f"an array of {' or '.join(map(str, self.axes))} axes, not empty"
        if self.kind in ("wholes", "numbers"):
            refused = [self._number_refusal(each) for each in (value if isinstance(value, tuple) else (None,))]
            return next((f"a list, each {expected}" for expected in refused if expected is not None), None)
        return self._number_refusal(value)

    def _number_refusal(self, value: Any) -> str | None:
        whole = self.kind in ("whole", "wholes")
        is_number = type(value) is int or (not whole and type(value) is float and math.isfinite(value))
        if is_number and self.least <= value <= self.most:
            return None
        what, largest = ("a whole number", LARGEST_WHOLE) if whole else ("a finite number", LARGEST_NUMBER)
        if is_number and whole and value > self.most:
            return f"{what} of at most {self.most}"
        # the usual limits are told to those alone who exceed them
        if self.most == largest and not (is_number and abs(value) > largest):
            return what if self.least == -largest else f"{what}, {limit(self.least)} or more"
        return f"{what} from {limit(self.least)} to {limit(self.most)}"


def limit(number: float) -> str:
    """A limit as people write it: ``1e30``, not ``1e+30``."""
    if isinstance(number, int):
        return str(number)
    return re.sub(r"e([+-])0*", lambda found: f"e{found[1].strip('+')}", f"{number:g}")


def whole(default: int, label: str, *, least: int = 0, most: int = LARGEST_WHOLE, hint: str = "") -> Any:
    """A parameter that counts."""
    return _parameter(default, Parameter("whole", label, hint, least, most))


def number(
    default: float, label: str, *, least: float = -LARGEST_NUMBER, most: float = LARGEST_NUMBER, hint: str = ""
) -> Any:
    """A parameter that measures; any number within its limits, which its hint ends with where they are its own."""
    if most != LARGEST_NUMBER:
        limits = f"{limit(least)} to {limit(most)}"
        hint = f"{hint} ({limits})" if hint else limits
    return _parameter(default, Parameter("number", label, hint, least, most))


def flag(default: bool, label: str, *, hint: str = "") -> Any:
    """A parameter that is on or off."""
    return _parameter(default, Parameter("flag", label, hint))


def choice(default: str, label: str, choices: Mapping[str, str], *, hint: str = "") -> Any:
    """A parameter of a few values, each with its label on screen."""
    return _parameter(default, Parameter("choice", label, hint, choices=choices))


def wholes(default: tuple[int, ...], label: str, *, least: int = 0, hint: str = "") -> Any:
    """A parameter that lists whole numbers."""
    return _parameter(default, Parameter("wholes", label, hint, least, LARGEST_WHOLE))


def numbers(default: tuple[float, ...], label: str, *, hint: str = "") -> Any:
    """A parameter that lists numbers."""
    return _parameter(default, Parameter("numbers", label, hint))


def array(
    label: str,
    axes: tuple[int, ...],
    *,
    counts: tuple[str, ...] = (),
    flags: bool = False,
    optional: bool = False,
    hint: str = "",
) -> Any:
    """A parameter that is an array, made read-only, float64 or bool; None by default where it is optional."""
    parameter = Parameter("array", label, hint, axes=axes, flags=flags, counts=counts, optional=optional)
    return field(default=None if optional else MISSING, metadata={"parameter": parameter})


def _parameter(default: Any, parameter: Parameter) -> Any:
    return field(default=default, metadata={"parameter": parameter})


@dataclass(frozen=True)
class Part:
    """A choice of a family, known by its ``kind`` in files and by its ``title`` on screen.

    Raises ExperimentError for a parameter that is not what was declared. ``formula`` is a line of mathematics,
    ``about`` a sentence for the person who chooses.
    """

    family: ClassVar[str]
    kinds: ClassVar[dict[str, type[Any]]]
    kind: ClassVar[str]
    title: ClassVar[str]
    formula: ClassVar[str] = ""
    about: ClassVar[str] = ""

    def __init_subclass__(cls, family: str | None = None, **options: Any) -> None:
        super().__init_subclass__(**options)
        if family is not None:
            cls.family = family
            cls.kinds = {}
        if "kind" in vars(cls):
            cls.kinds[cls.kind] = cls

    def __post_init__(self) -> None:
        for name, parameter in self.parameters():
            value = getattr(self, name)
            if parameter.kind == "array" and value is not None:
                value = closed_flags(value) if parameter.flags else frozen(value, f"{self.family} {self.kind} {name}")
                object.__setattr__(self, name, value)
            expected = parameter.refusal(value)
            if expected is not None:
                received = f"shape {value.shape}" if isinstance(value, np.ndarray) else repr(value)
                raise ExperimentError(f"{self.family} {self.kind} {name}", expected, received)
        self.check()

    def check(self) -> None:
        """Raise ExperimentError where parameters, each good by itself, do not go together."""

    @classmethod
    def parameters(cls) -> Iterator[tuple[str, Parameter]]:
        """Name and description of each parameter."""
        for declared in fields(cls):
            if "parameter" in declared.metadata:
                yield declared.name, declared.metadata["parameter"]

    @classmethod
    def can_start(cls) -> bool:
        """Whether it can be made without being given anything."""
        return all(f.default is not MISSING or f.default_factory is not MISSING for f in fields(cls))

    def axis_names(self, counted: str) -> Sequence[str] | None:
        """What the places of an axis of its arrays are called, where the part alone knows; ``counted`` is its count."""
        return None

    def arrays(self) -> Iterator[NDArray[Any]]:
        """The arrays that it holds."""
        for name, parameter in self.parameters():
            if parameter.kind == "array" and getattr(self, name) is not None:
                yield getattr(self, name)

    def to_plain(self, put: Callable[[NDArray[Any]], Any]) -> dict[str, Any]:
        """Kind and parameters as plain values, for JSON; ``put`` says what stands for an array."""
        plain: dict[str, Any] = {"kind": self.kind}
        for name, parameter in self.parameters():
            value = getattr(self, name)
            if parameter.kind == "array" and value is not None:
                value = put(value)
            plain[name] = list(value) if isinstance(value, tuple) else value
        return plain

    @classmethod
    def of_kind(cls, kind: str) -> type[Self]:
        """The part of this family called ``kind``; raises ExperimentError."""
        if kind not in cls.kinds:
            raise ExperimentError(f"{cls.family} kind", " or ".join(cls.kinds), repr(kind))
        found: type[Self] = cls.kinds[kind]
        return found

    @classmethod
    def described(cls, name: str) -> Parameter:
        """The parameter called ``name``; raises ExperimentError."""
        known = dict(cls.parameters())
        if name not in known:
            field_name = f"{cls.family} {cls.kind}"
            raise ExperimentError(field_name, f"parameters {', '.join(known) or '(none)'}", repr(name))
        return known[name]


def load_family(package: str, path: list[str]) -> None:
    """Import every module of a family's folder, so that each of its parts is known."""
    for module in iter_modules(path):
        import_module(f"{package}.{module.name}")


def closed_flags(values: Any) -> NDArray[np.bool_]:
    """A read-only bool array of its own."""
    flags = np.array(values, dtype=bool, order="C")
    flags.flags.writeable = False
    return flags
