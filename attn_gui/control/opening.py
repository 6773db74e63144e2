"""TensorOpening: looking into files of tensors and opening them, in the worker."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from numpy.typing import NDArray
from PySide6.QtCore import QObject, Signal

from attn_gui.control.document import Document
from attn_gui.control.jobs import Jobs
from attn_gui.control.storage import reason
from attn_gui.control.worker import Priority, Steps, Worker, at_once
from attn_gui.files.errors import FileError
from attn_gui.files.tensors import looking, masking, opening, previewing
from attn_gui.model.biases.additive import Additive
from attn_gui.model.errors import ExperimentError
from attn_gui.model.experiment import Experiment
from attn_gui.model.session import NamedExperiment, Session
from attn_gui.model.tensors.info import Contents
from attn_gui.model.tensors.proposals import propose
from attn_gui.model.tensors.reading import Reading

LOOK = "look into tensors"
PREVIEW = "preview mask"
OPEN = "open tensors"
Flags = tuple[bool, ...]
EDITED = "Nothing was opened, since you went on editing. Open it again to leave what is in the window."


@dataclass(frozen=True, eq=False)
class Looked:
    """What is in the files that were chosen, and how that is read unless the person says otherwise."""

    paths: tuple[Path, ...]
    contents: Contents
    reading: Reading


class TensorOpening(Jobs):
    """One file, folder or set of files at a time.

    ``looked`` or ``not_looked`` answers :meth:`look`, ``previewed`` or ``not_previewed`` :meth:`preview`; ``opened`` or
    ``not_opened`` :meth:`open`, and the document is another only with ``opened``. ``working_changed`` tells whether
    one looks or opens.
    """

    looked = Signal(object)
    not_looked = Signal(str)
    previewed = Signal(object)
    not_previewed = Signal(str)
    opened = Signal(object)
    not_opened = Signal(str)

    def __init__(self, worker: Worker, document: Document, parent: QObject | None = None) -> None:
        super().__init__(worker, parent)
        self._document = document

    @property
    def opening(self) -> bool:
        """Whether what was looked at is being opened."""
        return self._worker.running(OPEN)

    def look(self, paths: Sequence[Path]) -> None:
        """Say what is in one file, one folder, or several files of a folder."""
        wanted = tuple(path.absolute() for path in paths)
        self.cancel()
        self._submit(LOOK, lambda: _looked(wanted), self.looked.emit, self.not_looked.emit)

    def preview(self, contents: Contents, reading: Reading) -> None:
        """Say what the mask allows in each of its meanings."""
        self._worker.submit(
            PREVIEW,
            at_once(lambda: previewing.previews(contents, reading)),
            Priority.TRACE,
            self.previewed.emit,
            lambda error: self._fail(error, self.not_previewed.emit),
        )

    def open(self, looked: Looked, reading: Reading, special: tuple[Flags, Flags]) -> None:
        """Put what was ``looked`` at, as the person reads it, in place of the document.

        special: which of the names of the queries, and of those of the keys, are special tokens, where anyone knows.
        """
        before = self._document.session

        def on_made(session: Session) -> None:
            if not self._document.session.same_work(before):
                self.not_opened.emit(EDITED)
                return
            self._document.open(session, None)
            self.opened.emit(looked)

        self._submit(OPEN, lambda: _session(looked.contents, reading, special), on_made, self.not_opened.emit)

    def use_mask(self, looked: Looked, reading: Reading) -> None:
        """Have a mask that came alone act on the experiment of the document, as one undo step."""
        before = self._document.experiment

        def on_made(made: Experiment) -> None:
            if self._document.experiment is not before:
                self.use_mask(looked, reading)
                return
            self._document.apply(f"Mask: {looked.paths[0].name}", made)
            self.opened.emit(looked)

        self._submit(OPEN, at_once(lambda: _masked(before, looked.contents, reading)), on_made, self.not_opened.emit)

    def cancel(self) -> None:
        """Give up what is being looked at or opened."""
        for key in (LOOK, PREVIEW, OPEN):
            self._worker.cancel(key)
        self.working_changed.emit(False)

    def _fail(self, error: BaseException, tell: Callable[[str], None]) -> None:
        tell(said(error))
        if not isinstance(error, FileError | ExperimentError | MemoryError):
            raise error


def _session(contents: Contents, reading: Reading, special: tuple[Flags, Flags]) -> Steps:
    session: Session = yield from opening.session_of(contents, reading)
    if not any(map(any, special)):
        return session
    return replace(session, experiments=tuple(_marked(named, *special) for named in session.experiments))


def _marked(named: NamedExperiment, queries: Flags, keys: Flags) -> NamedExperiment:
    """With the special tokens marked, where there are as many tokens as ``queries`` and ``keys`` speak of."""
    e = named.experiment
    changes = {
        field: sequence.with_column("special", flags)
        for field, sequence, flags in (("tokens", e.tokens, queries), ("context", e.context, keys))
        if sequence is not None and len(sequence) == len(flags)
    }
    return replace(named, experiment=replace(e, **changes))  # type: ignore[arg-type]


def _masked(experiment: Experiment, contents: Contents, reading: Reading) -> Experiment:
    """``experiment`` with the mask in place of its rule, and with what it adds in place of what another file added."""
    e = experiment
    rule, bias, pads, sequences = masking.mask_alone(contents, reading, e.heads, e.n_q, e.n_k - len(e.appended))
    biases = tuple(each for each in e.scoring.biases if not isinstance(each, Additive))
    added = (*biases, bias) if bias is not None else biases
    masked = replace(e, rule=rule, scoring=replace(e.scoring, biases=added))
    if pads is not None:
        masked = _with_keys(masked, "pad", pads)
    if sequences is not None:
        queries, keys = sequences
        masked = replace(masked, tokens=masked.tokens.with_column("segment", queries))
        masked = _with_keys(masked, "segment", keys)
    return masked


def _with_keys(e: Experiment, name: str, column: NDArray[Any]) -> Experiment:
    """With ``column`` [past and present keys] beside the keys."""
    past = None if e.past is None else e.past.with_column(name, column[: e.offset])
    present = e.present_keys.with_column(name, column[e.offset :])
    return replace(e, past=past, context=present) if e.variant.is_cross else replace(e, past=past, tokens=present)


def said(error: BaseException) -> str:
    """What went wrong, as a sentence that begins with the file's name where it is one's fault."""
    if isinstance(error, FileError):
        return f"{error.path.name}: {reason(error)}"
    if isinstance(error, ExperimentError):
        return f"{str(error)[:1].upper()}{str(error)[1:]}"
    if isinstance(error, MemoryError):
        return "It takes more memory than there is"
    return "Something unexpected went wrong"


def _looked(paths: tuple[Path, ...]) -> Steps:
    contents = yield from looking.look(paths)
    return Looked(paths, contents, propose(contents))
