"""TokenReading: names of tokens from pasted text, files and tokenizers, in the worker."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from attn_gui.control.opening import said
from attn_gui.control.worker import Priority, Steps, Worker
from attn_gui.files.errors import FileError
from attn_gui.files.tensors import token_lists
from attn_gui.files.tensors.opening import ids_of
from attn_gui.files.tensors.token_lists import TokenList
from attn_gui.model.errors import ExperimentError
from attn_gui.model.tensors.info import Contents
from attn_gui.model.tensors.reading import Reading

JOB = "tokens of {}"
QUERIES, KEYS = "queries", "keys"


class TokenReading(QObject):
    """Answers by ``which`` names are asked for, the queries' or the keys'; only the latest question of each counts.

    ``found`` brings a TokenList, ``refused`` the reason why there is none; ``tokenizer`` tells that a file is one, and
    needs a text.
    """

    found = Signal(str, object)
    refused = Signal(str, str)
    tokenizer = Signal(str, object)

    def __init__(self, worker: Worker, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._worker = worker

    def split(self, which: str, text: str, tokenizer: Path | None, item: int) -> None:
        """The names that ``text`` lists, of that ``item`` of the batch if of several, or that ``tokenizer`` makes."""
        self._submit(which, lambda: _split(text, tokenizer, item))

    def open(self, which: str, path: Path, contents: Contents, reading: Reading) -> None:
        """The names that a file lists; a tokenizer names the ids of the queries' tokens in ``contents``, if there are.

        What is read as token ids in ``reading`` are those. Of lists for several items of a batch it is the item opened.
        """
        named = which == QUERIES
        self._submit(which, lambda: _read(path, contents if named else None, reading))

    def forget(self, which: str) -> None:
        """What is being read for ``which`` is wanted no more."""
        self._worker.cancel(JOB.format(which))

    def _submit(self, which: str, make: Callable[[], Steps]) -> None:
        self._worker.submit(
            JOB.format(which), make, Priority.TRACE, partial(self._tell, which), partial(self._fail, which)
        )

    def _tell(self, which: str, answer: TokenList | Path) -> None:
        if isinstance(answer, Path):
            self.tokenizer.emit(which, answer)
        else:
            self.found.emit(which, answer)

    def _fail(self, which: str, error: BaseException) -> None:
        self.refused.emit(which, said(error))
        if not isinstance(error, FileError | ExperimentError | MemoryError):
            raise error


def _split(text: str, tokenizer: Path | None, item: int) -> Steps:
    if tokenizer is None:
        return TokenList(token_lists.parsed(text, item))
    return (yield from token_lists.text_steps(tokenizer, text))


def _read(path: Path, contents: Contents | None, reading: Reading) -> Steps:
    """A TokenList, or the path where it is a tokenizer that needs a text."""
    tokenizer = token_lists.tokenizer_in(path)
    yield 0.5  # it may be large, and is not read further once nobody wants it
    if tokenizer is None:
        return TokenList(token_lists.read(path, reading.batch))
    ids = None if contents is None else ids_of(contents, reading)
    return path if ids is None else token_lists.of_ids(path, ids, tokenizer)
