"""From a reading to a session."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Any

import numpy as np

from attn_gui.files.errors import FileError
from attn_gui.files.tensors.digest import digest_of
from attn_gui.files.tensors.implied import allowed_by_file, masked_by, with_mask
from attn_gui.files.tensors.layer_arrays import LETTERS, Arrays, ends_of, found_parts, has_layer, token_ids
from attn_gui.files.tensors.looking import stored_in
from attn_gui.files.tensors.masking import Masked, masked_layer
from attn_gui.files.tensors.stored import Array, Stored
from attn_gui.model.errors import ExperimentError
from attn_gui.model.experiment import Experiment
from attn_gui.model.given import precision_of, widened
from attn_gui.model.layer_place import LayerPlace
from attn_gui.model.mask_import import all_of
from attn_gui.model.masks.document import Document
from attn_gui.model.origin import Origin
from attn_gui.model.session import NamedExperiment, Session
from attn_gui.model.tensors.axes import Axis, Role
from attn_gui.model.tensors.checks import problems, shown_groups, source_of
from attn_gui.model.tensors.info import Contents
from attn_gui.model.tensors.plain import to_plain
from attn_gui.model.tensors.reading import Kind, Part, Reading
from attn_gui.model.tensors.sizes import Sizes, sizes_of
from attn_gui.model.tokens import TokenSequence

_NAMES = {"encoder": "Encoder layer {}", "decoder": "Decoder layer {}", "cross": "Decoder layer {}, cross"}
# cross-attention of which nothing says that a decoder has it
_ALONE = "Layer {}, cross"


def session_of(contents: Contents, reading: Reading) -> Generator[float, None, Session]:
    """A session with an experiment a layer, each with its Origin; yields the part done (0 to 1).

    Large arrays stay in the file. Raises FileError, also with the first of ``checks.problems``.
    """
    wrong = problems(contents, reading)
    if wrong:
        raise FileError(contents.path, "", "a reading that fits", wrong[0].text)
    used = {name for part in reading.used() for name in part.tensors}
    stored = stored_in(replace(contents, tensors=tuple(t for t in contents.tensors if t.name in used)))
    arrays = Arrays(contents, stored, reading)
    todo = [
        (group, layer)
        for group in shown_groups(reading)
        for layer in (sizes_of(contents, reading, group).layers or (None,))
        if reading.layers is None or layer is None or layer in reading.layers
    ]
    found = []
    for done, (group, layer) in enumerate(todo):
        yield done / len(todo)
        found.append(_Layer(contents, reading, stored, arrays, group, layer).named())
    return Session(tuple(found))


def ids_of(contents: Contents, reading: Reading) -> tuple[int, ...] | None:
    """The ids of the queries' tokens, for a tokenizer.json to name; None where the file has none. Raises FileError."""
    for group in reading.groups:
        part = found_parts(reading, group).get(Role.IDS)
        if part is not None:
            sizes = sizes_of(contents, reading, group)
            tensors = tuple(contents.tensor(name) for name in part.tensors)
            stored = stored_in(replace(contents, tensors=tensors))
            arrays = Arrays(contents, stored, replace(reading, parts=(part,)))
            return token_ids(arrays, reading, group, sizes.layers[0] if sizes.layers else None, sizes)
    return None


@dataclass(frozen=True)
class _Layer:
    """One layer of one attention, on its way to an experiment."""

    contents: Contents
    reading: Reading
    stored: Mapping[str, Stored]
    arrays: Arrays
    group: str
    layer: int | None

    @property
    def sizes(self) -> Sizes:
        return sizes_of(self.contents, self.reading, self.group)

    def named(self) -> NamedExperiment:
        try:
            return self._named()
        except ExperimentError as error:
            raise FileError(self.contents.path, error.field, error.expected, error.received) from error

    def _named(self) -> NamedExperiment:
        source = source_of(self.reading, self.group)
        given = self._given()
        if source is Role.HIDDEN:
            experiment = self._of_hidden()
        else:
            experiment = self._experiment(source, given)
        original = self._original(source, given, experiment)
        place = self._place()
        origin = None if source is Role.HIDDEN else self._origin(source, given)
        return NamedExperiment(self._name(), experiment, self._note(), place=place, original=original, origin=origin)

    def _given(self) -> dict[Role, Array]:
        return {
            role: self.arrays.part(part, role, self.layer, self.sizes)
            for role, part in found_parts(self.reading, self.group).items()
            if role in LETTERS and has_layer(part, self.layer)
        }

    def _experiment(self, source: Role | None, given: Mapping[Role, Array]) -> Experiment:
        sizes, V = self.sizes, given.get(Role.V)
        queries, keys = self._tokens()
        names: dict[str, Any] = {"tokens": queries, "key_tokens": keys}
        if source is Role.QKV:
            precision = precision_of(given[Role.Q].dtype)
            e = Experiment.from_qkv(given[Role.Q], given[Role.K], V, **names, precision=precision)
        elif source is Role.SCORES:
            e = Experiment.from_scores(given[Role.SCORES], V, **names)
        else:
            return Experiment.from_weights(given[Role.WEIGHTS], V, **names)
        found = masked_layer(self.contents, self.reading, self.arrays, self.group, self.layer, sizes)
        e = self._masked(e, found)
        shown = allowed_by_file(self.contents, self.reading, self.group, self.layer, given)
        return e if shown is None else with_mask(e, masked_by(shown))

    def _masked(self, e: Experiment, found: Masked) -> Experiment:
        changes: dict[str, Any] = {}
        rules = [found.rule]
        queries, keys = e.tokens, e.context
        if found.pad is not None:
            if keys is not None:
                keys = keys.with_column("pad", found.pad)
            else:
                queries = queries.with_column("pad", found.pad)
        ends = [part for part in self.reading.used(self.group) if part.role is Role.SEQUENCES]
        if ends:
            rules.append(Document())
            by_axis = {axis: part for part in reversed(ends) for axis in part.axes}
            queries = self._in_sequences(queries, by_axis.get(Axis.QUERY, ends[0]))
            if keys is not None:
                keys = self._in_sequences(keys, by_axis.get(Axis.KEY, ends[0]))
        changes |= {"tokens": queries, "context": keys, "rule": all_of(rules)}
        if found.bias is not None:
            changes["scoring"] = replace(e.scoring, biases=(found.bias,))
        return replace(e, **changes)

    def _in_sequences(self, tokens: TokenSequence, part: Part) -> TokenSequence:
        path = self.contents.path
        return tokens.with_column("segment", ends_of(path, self.arrays, part, self.sizes, len(tokens)))

    def _of_hidden(self) -> Experiment:
        part = found_parts(self.reading, self.group)[Role.HIDDEN]
        X = self.arrays.part(part, Role.HIDDEN, self.layer, self.sizes)
        queries, _ = self._tokens()
        names = queries or [f"t{index + 1}" for index in range(len(X))]
        return Experiment.from_tokens(names, widened(X).astype(np.float64), precision=precision_of(X.dtype))

    def _original(self, source: Role | None, given: Mapping[Role, Array], experiment: Experiment) -> Experiment | None:
        """What the file holds beside that which it is made from: its weights, or its scores."""
        e = experiment
        names: dict[str, Any] = {
            "tokens": e.tokens.tokens,
            "key_tokens": None if e.context is None else e.context.tokens,
        }
        if source in (Role.QKV, Role.SCORES) and Role.WEIGHTS in given:
            return Experiment.from_weights(given[Role.WEIGHTS], given.get(Role.V), **names)
        if source is Role.QKV and Role.SCORES in given:
            scored = Experiment.from_scores(given[Role.SCORES], given.get(Role.V), **names)
            return replace(scored, tokens=e.tokens, context=e.context, rule=e.rule)
        return None

    def _tokens(self) -> tuple[Sequence[str] | None, Sequence[str] | None]:
        """Names of the queries, and of the keys where they are not the same tokens."""
        sizes, reading = self.sizes, self.reading
        lists = [names for names in (reading.tokens, reading.key_tokens) if names is not None]
        queries = next((names for names in lists if len(names) == sizes.n_q), None)
        keys = next((names for names in reversed(lists) if len(names) == sizes.n_k), None)
        if queries is None:
            ids = token_ids(self.arrays, reading, self.group, self.layer, sizes)
            if ids is not None and len(ids) == sizes.n_q:
                queries = tuple(map(str, ids))
        cross = any(part.kind == "cross" for part in reading.used(self.group))
        own = reading.key_tokens is not None and keys is reading.key_tokens and queries is not keys
        if cross or sizes.n_q != sizes.n_k or own:
            keys = keys if keys is not None else tuple(f"k{index + 1}" for index in range(sizes.n_k))
            return queries, keys
        return queries, None

    def _origin(self, source: Role | None, given: Mapping[Role, Array]) -> Origin:
        found = found_parts(self.reading, self.group)
        plain = to_plain(self.contents, self.reading, self.layer, self.group, self.sizes)
        files = sorted({part["file"] for part in plain["parts"]})
        path = Path(self.contents.path)
        paths = [path / file for file in files] if self.contents.files else [path]
        shown = [role for role in given if role is not Role.WEIGHTS or source is Role.WEIGHTS]
        if source is Role.QKV:
            shown = [role for role in shown if role is not Role.SCORES]
        expressions = {
            LETTERS[role]: text
            for role in shown
            if (text := self.arrays.source(found[role], role, self.layer, self.sizes))
        }
        return Origin(self.contents.path, digest_of(paths), plain, expressions)

    def _place(self) -> LayerPlace | None:
        parts = self.reading.used(self.group)
        batched = any(Axis.BATCH in part.axes for part in parts)
        if self.layer is None and not batched:
            return None
        layer = self.layer or 0
        module = next((part.module for part in parts if part.module), "")
        kind: Kind = "cross" if any(part.kind == "cross" for part in parts) else "self"
        batch = self.reading.batch if batched else None
        return LayerPlace(layer, module.replace("{}", str(layer)), kind, batch)

    def _name(self) -> str:
        item = f" · item {self.reading.batch + 1}" if self.sizes.batch > 1 else ""
        return f"{self._own_name()}{item}"

    def _own_name(self) -> str:
        if self.layer is not None:
            alone = self.group == "cross" and "decoder" not in self.reading.groups
            return (_ALONE if alone else _NAMES.get(self.group, "Layer {}")).format(self.layer + 1)
        stem = PurePath(self.contents.path).stem
        return f"{stem}, {self.group}" if self.group else stem

    def _note(self) -> str:
        names = [
            part.tensors[part.layers.index(self.layer) if self.layer in part.layers else 0]
            for part in self.reading.used(self.group)
        ]
        return f"From {PurePath(self.contents.path).name}: {', '.join(dict.fromkeys(names))}"
