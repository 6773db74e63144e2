"""What is typed and not yet taken belongs to what it was typed for: it is committed before one leaves that, or dropped.

Fields say when typing begins and ends; whoever leaves what the window shows asks for a commit first.
"""

from __future__ import annotations

from functools import cache
from typing import Protocol

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QAbstractSpinBox, QApplication, QComboBox, QSlider, QWidget
from shiboken6 import isValid

# they change a value without taking the focus, and so without the field's losing it
_TURNED = (QComboBox, QSlider, QAbstractSpinBox)


class HalfTyped(Protocol):
    """A field with text that differs from the value that it stands for."""

    @property
    def refused(self) -> bool:
        """Whether the text was not taken, and the person has been told why."""

    def commit(self) -> bool:
        """Have the text take effect; False where it is refused just now, with the reason beside it."""

    def drop(self) -> None:
        """Show the value that is in force again."""


def begin(field: HalfTyped) -> None:
    """``field`` holds text that is not in force. What was being typed elsewhere is committed."""
    _typing().begin(field)


def end(field: HalfTyped) -> None:
    """``field`` shows what is in force, or is just having its text taken."""
    _typing().end(field)


def commit() -> bool:
    """Have what is half typed take effect, before leaving what it is typed for.

    False where it is refused: one had better stay then, to read the reason. What was refused before is no obstacle.
    """
    return _typing().commit()


def drop(*, refused: bool = False) -> None:
    """Forget what is half typed: what it was typed for is no more. ``refused``: also what was refused before."""
    _typing().drop(refused)


class _Typing(QObject):
    """The fields that hold text of their own. While there are any, a press or a key elsewhere commits them first."""

    def __init__(self) -> None:
        super().__init__(QApplication.instance())
        self._fields: list[HalfTyped] = []
        self._watching = False

    def begin(self, field: HalfTyped) -> None:
        if field not in self._fields:
            self.commit()
            self._fields.append(field)
        self._watch()

    def end(self, field: HalfTyped) -> None:
        if field in self._fields:
            self._fields.remove(field)
            self._watch()

    def commit(self) -> bool:
        taken = [field.commit() for field in self._present()]
        return all(taken)

    def drop(self, refused: bool) -> None:
        for field in self._present():
            if refused or not field.refused:
                field.drop()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        kind = event.type()
        if kind == QEvent.Type.Shortcut:
            return not self.commit()
        pressed = kind == QEvent.Type.MouseButtonPress and isinstance(watched, QWidget)
        turned = kind == QEvent.Type.Wheel and isinstance(watched, _TURNED)
        if (pressed or turned) and not any(_within(watched, field) for field in self._fields):
            self.commit()
        return False

    def _present(self) -> list[HalfTyped]:
        # a field may have been deleted with the window that it was in
        self._fields = [field for field in self._fields if isValid(field)]
        self._watch()
        return list(self._fields)

    def _watch(self) -> None:
        wanted, application = not all(field.refused for field in self._fields), QApplication.instance()
        if application is not None and wanted != self._watching:
            self._watching = wanted
            (application.installEventFilter if wanted else application.removeEventFilter)(self)


@cache
def _typing() -> _Typing:
    return _Typing()


def _within(watched: QObject | None, field: object) -> bool:
    """Whether ``watched`` is ``field`` or part of it, such as its menu, which is a window of its own."""
    while watched is not None:
        if watched is field:
            return True
        watched = watched.parent()
    return False
