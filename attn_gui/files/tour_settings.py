"""What the settings of a tour do: each makes of a scene the next."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from attn_gui.files import examples
from attn_gui.files.errors import FileError
from attn_gui.files.tour_text import Setting
from attn_gui.model.cache import with_past
from attn_gui.model.edits import delete_tokens, insert_tokens, rename_tokens, set_cells
from attn_gui.model.errors import ExperimentError
from attn_gui.model.experiment import Experiment
from attn_gui.model.instruments import LARGEST_EXPONENT
from attn_gui.model.masks import choosable
from attn_gui.model.normalisers import Normaliser
from attn_gui.model.reshape import with_heads, with_variant
from attn_gui.model.session import NamedExperiment
from attn_gui.model.starting import choosable_parts, started
from attn_gui.model.tokens import TokenSequence
from attn_gui.model.tour import DRAWERS, INSTRUMENTS, PLACES, Instrument, Scene
from attn_gui.model.variant import Variant


@dataclass(frozen=True)
class _Value:
    """The value of a setting, where faults of it are told."""

    path: Path
    line: int
    text: str

    def fault(self, expected: str) -> FileError:
        return FileError(self.path, f"line {self.line}", expected, f"“{self.text}”")

    def part(self, text: str) -> _Value:
        return replace(self, text=text.strip())

    def split(self, sign: str | None, expected: str) -> tuple[_Value, _Value]:
        parts = self.text.split(sign, 1)
        if len(parts) != 2:
            raise self.fault(expected)
        return self.part(parts[0]), self.part(parts[1])

    def one_of(self, choices: Sequence[str]) -> str:
        if self.text not in choices:
            raise self.fault(f"one of {', '.join(choices)}")
        return self.text

    def whole(self) -> int:
        if not self.text.isdecimal():
            raise self.fault("a whole number")
        return int(self.text)

    def number(self) -> float:
        try:
            return float(self.text)
        except ValueError:
            raise self.fault("a number") from None

    def token(self, of: TokenSequence) -> int:
        """The place of a token by its name; ``the#2`` is the second of that name, ``#2`` the second token."""
        name, _, which = self.text.partition("#")
        places = [place for place, token in enumerate(of.tokens) if name in ("", token)]
        nth = int(which) if which.isdecimal() else 1
        if not 1 <= nth <= len(places) or which not in ("", str(nth)):
            raise self.fault(f"one of the tokens {', '.join(of.tokens)}")
        return places[nth - 1]

    def dimension(self, of: TokenSequence) -> int:
        names = [of.dimension_name(column) for column in range(of.width)]
        return names.index(self.one_of(names))


def scene_after(path: Path, settings: Iterable[Setting], before: Scene | None) -> Scene:
    """The scene that ``settings`` make of the one before; the first begins with an example. Raises FileError.

    What is pointed at, the drawer and the instrument are those of this scene alone.
    """
    scene = None if before is None else replace(before, highlight=None, drawer=None, instrument=None)
    for setting in settings:
        value = _Value(path, setting.line, setting.value)
        if setting.key == "example":
            scene = _example(value)
            continue
        if setting.key not in _KEYS:
            known = ", ".join(("example", *_KEYS))
            raise FileError(path, f"line {setting.line}", f"one of the keys {known}", f"“{setting.key}”")
        if scene is None:
            raise FileError(path, f"line {setting.line}", "“example: ” first of all", f"“{setting.key}”")
        try:
            scene = _KEYS[setting.key](scene, value)
        except ExperimentError as error:
            where = f"line {setting.line}: {error.field}"
            raise FileError(path, where, error.expected, error.received) from error
    if scene is None:
        raise FileError(path, "", "“example: ” in the first block of settings", "none")
    return scene


def place_of(path: Path, line: int, scene: Scene, query: str, key: str) -> tuple[int, int]:
    """The cell of a query and a key by their names."""
    e = scene.named.experiment
    return _Value(path, line, query).token(e.tokens), _Value(path, line, key).token(e.keys)


def _example(value: _Value) -> Scene:
    try:
        named = examples.load(value.text)
    except FileError as error:
        raise value.fault(error.expected) from error
    head, query, key = named.focus or (0, 0, 0)
    # the text of the tour takes the place of the note, which speaks of the example as shipped
    return Scene(NamedExperiment(named.name, named.experiment), head, (query, key))


def _with(scene: Scene, experiment: Experiment) -> Scene:
    """``scene`` of another experiment, in which places that are no more give way to the nearest."""
    head = min(scene.head, experiment.heads - 1) if isinstance(scene.head, int) else scene.head
    query, key = scene.cell
    cell = min(query, experiment.n_q - 1), min(key, experiment.n_k - 1)
    return replace(scene, named=NamedExperiment(scene.named.name, experiment), head=head, cell=cell)


def _changing(change: Callable[[Experiment, _Value], Experiment]) -> Callable[[Scene, _Value], Scene]:
    return lambda scene, value: _with(scene, change(scene.named.experiment, value))


def _variant(e: Experiment, value: _Value) -> Experiment:
    return with_variant(e, Variant(value.one_of([str(v) for v in Variant])))


def _mask(e: Experiment, value: _Value) -> Experiment:
    rules = {rule.kind: rule for rule in choosable()}
    return replace(e, rule=started(rules[value.one_of(list(rules))], e))


def _scale(e: Experiment, value: _Value) -> Experiment:
    return replace(e, scoring=replace(e.scoring, scale=None if value.text == "1/sqrt(d_k)" else value.number()))


def _normaliser(e: Experiment, value: _Value) -> Experiment:
    kinds = {part.kind: part for part in choosable_parts(Normaliser)}
    return replace(e, scoring=replace(e.scoring, normaliser=started(kinds[value.one_of(list(kinds))], e)))


def _set(e: Experiment, value: _Value) -> Experiment:
    """``set: is x1 = 2``"""
    place, number = value.split("=", "“token dimension = number”")
    token, dimension = place.split(None, "“token dimension = number”")
    at = token.token(e.tokens), dimension.dimension(e.tokens)
    return set_cells(e, "tokens", at[0], at[1], number.number())


def _append(e: Experiment, value: _Value) -> Experiment:
    """``append: today = 1, 0``"""
    name, numbers = value.split("=", "“token = number, number, …”")
    row = [value.part(text).number() for text in numbers.text.split(",")]
    if len(row) != e.tokens.width:
        raise value.fault(f"{e.tokens.width} numbers after “=”")
    return insert_tokens(e, "tokens", e.n_q, [name.text], [row])


def _rename(e: Experiment, value: _Value) -> Experiment:
    """``rename: is = was``"""
    was, name = value.split("=", "“token = name”")
    return rename_tokens(e, "tokens", [was.token(e.tokens)], [name.text])


def _keep(e: Experiment, value: _Value) -> Experiment:
    count = value.whole()
    if not 1 <= count <= e.n_q:
        raise value.fault(f"1 to {e.n_q} tokens")
    return delete_tokens(e, "tokens", range(count, e.n_q)) if count < e.n_q else e


def _head(scene: Scene, value: _Value) -> Scene:
    if value.text == "mean":
        return replace(scene, head="mean")
    heads = scene.named.experiment.heads
    return replace(scene, head=int(value.one_of([str(h) for h in range(1, heads + 1)])) - 1)


def _select(scene: Scene, value: _Value) -> Scene:
    query, key = value.split(None, "“query key”")
    return replace(scene, cell=place_of(value.path, value.line, scene, query.text, key.text))


def _instrument(scene: Scene, value: _Value) -> Scene:
    """``instrument: saturation 64 1``, with d_k and a scale, or a kind alone."""
    kind, *numbers = value.text.split()
    made = Instrument(value.part(kind).one_of(INSTRUMENTS))
    if numbers:
        if kind != "saturation" or len(numbers) != 2:
            raise value.fault("“saturation d_k scale” or a kind alone")
        # the sliders have no other places
        d_k, scale = value.part(numbers[0]), value.part(numbers[1])
        if d_k.text not in [str(2**k) for k in range(LARGEST_EXPONENT + 1)]:
            raise d_k.fault(f"a power of 2 up to {2**LARGEST_EXPONENT}")
        if scale.text == "root":
            return replace(scene, instrument=replace(made, d_k=int(d_k.text)))
        steps = -2 * math.log2(scale.number()) if scale.number() > 0 else -1.0
        if not steps.is_integer() or not 0 <= steps <= 2 * LARGEST_EXPONENT:
            raise scale.fault("root, or a power of 1/√2")
        made = replace(made, d_k=int(d_k.text), scale=scale.number())
    return replace(scene, instrument=made)


_KEYS: dict[str, Callable[[Scene, _Value], Scene]] = {
    "variant": _changing(_variant),
    "heads": _changing(lambda e, value: with_heads(e, value.whole())),
    "mask": _changing(_mask),
    "scale": _changing(_scale),
    "normaliser": _changing(_normaliser),
    "set": _changing(_set),
    "append": _changing(_append),
    "rename": _changing(_rename),
    "keep": _changing(_keep),
    "cache": _changing(lambda e, value: with_past(e, value.whole())),
    "head": _head,
    "select": _select,
    "highlight": lambda scene, value: replace(scene, highlight=value.one_of(PLACES)),
    "drawer": lambda scene, value: replace(scene, drawer=value.one_of(DRAWERS)),
    "instrument": _instrument,
}
