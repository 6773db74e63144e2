"""Notices: what the program has to say, and where."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from PySide6.QtCore import QObject, Signal


class Kind(StrEnum):
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True)
class Notice:
    """A sentence for the person; ``topic`` tells notices on one matter, of which only the latest stands."""

    text: str
    kind: Kind = Kind.INFO
    topic: str = "general"


class Notices(QObject):
    """Where any part of the program says something; a view shows it, and a screen reader speaks it."""

    said = Signal(object)
    withdrawn = Signal(str)

    def info(self, text: str, topic: str = "general") -> None:
        self.said.emit(Notice(text, Kind.INFO, topic))

    def warn(self, text: str, topic: str = "general") -> None:
        self.said.emit(Notice(text, Kind.WARNING, topic))

    def error(self, text: str, topic: str = "general") -> None:
        self.said.emit(Notice(text, Kind.ERROR, topic))

    def withdraw(self, topic: str) -> None:
        """The matter of ``topic`` is settled."""
        self.withdrawn.emit(topic)
