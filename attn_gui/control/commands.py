"""Undo commands: the one way in which a session changes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtGui import QUndoCommand

from attn_gui.model.session import Session

if TYPE_CHECKING:
    from attn_gui.control.document import Document

MERGEABLE = 1


@dataclass(frozen=True)
class Step:
    """What a command holds, to be kept when Qt's stack is made anew."""

    label: str
    before: Session
    after: Session
    merge: str | None
    departure: bool
    origin: Path | None
    destination: Path | None

    @classmethod
    def of(cls, command: ChangeSession) -> Step:
        c = command
        return cls(c.text(), c.before, c.after, c.merge, c.departure, c.origin, c.destination)


class ChangeSession(QUndoCommand):
    """From one session to the next.

    Both are values that share every array that the change left alone, so what a command keeps is the change. A
    ``departure`` leaves the file that the document was in, which undoing comes back to; redoing it comes back to the
    file that was made of what it led to, if any.
    """

    def __init__(
        self, document: Document, label: str, after: Session, merge: str | None = None, *, departure: bool = False
    ) -> None:
        super().__init__(label)
        self.origin: Path | None = document.path
        self.destination: Path | None = None
        self.departure = departure
        self.done = False
        self._fresh = True
        self._document = document
        self.before = document.session
        self.after = after
        self.merge = merge

    def redo(self) -> None:
        fresh, self._fresh, self.done = self._fresh, False, True
        if self.departure:
            self.origin = self._document.path
            self._document._move_to(self.destination)
        self._document._show(self.after, revisited=not fresh)

    def undo(self) -> None:
        self.done = False
        if self.departure:
            self.destination = self._document.path
            self._document._move_to(self.origin)
        self._document._show(self.before, revisited=True)

    def id(self) -> int:
        return -1 if self.merge is None else MERGEABLE

    def mergeWith(self, later: QUndoCommand) -> bool:
        if not isinstance(later, ChangeSession) or later.merge != self.merge or self.merge is None:
            return False
        if self._document.is_held(self.after):
            return False  # one could not come back to what the file holds
        if later.before.current != self.after.current:
            return False  # of another experiment, which was shown in between
        self.after = later.after
        return True

    def cost(self) -> int:
        """Bytes that only this command keeps alive: the arrays of the state before that the change replaced."""
        kept = {id(array) for array in self.after.arrays()}
        return sum(array.nbytes for array in self.before.arrays() if id(array) not in kept)
