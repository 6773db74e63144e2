"""Painting that cannot bring the program down: a fault in it is reported, and what it was to draw is left out.

An exception that leaves a paint override keeps the painter that its frames hold alive. The next painter on the same
widget then finds it occupied, which ends the process.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from PySide6.QtGui import QPainter

Paint = TypeVar("Paint", bound=Callable[..., None])

# kind and place of what was reported: what is painted again is not reported again
_reported: set[tuple[str, str, int | None]] = set()


def guarded(paint: Paint) -> Paint:
    """Decorates every override of Qt that paints.

    A painter that is handed over comes back as it was, whatever happens; one that the override made itself is ended.
    """

    @wraps(paint)
    def paint_or_report(self: object, *arguments: Any) -> None:
        given = arguments[0] if isinstance(arguments[0], QPainter) else None
        if given is not None:
            given.save()
        try:
            paint(self, *arguments)
        except Exception as error:
            _end_painters(error, given)
            _report(error)
        finally:
            if given is not None:
                given.restore()

    return cast(Paint, paint_or_report)


def _end_painters(error: BaseException | None, given: QPainter | None) -> None:
    """End the painters that the frames of ``error``, and of what led to it, hold, but not the one ``given``."""
    passed: set[int] = set()
    while error is not None and id(error) not in passed:
        passed.add(id(error))
        for frame, _ in traceback.walk_tb(error.__traceback__):
            for value in frame.f_locals.values():
                if isinstance(value, QPainter) and value is not given and value.isActive():
                    value.end()
        error = error.__cause__ or error.__context__


def _report(error: Exception) -> None:
    place = traceback.extract_tb(error.__traceback__)[-1]
    key = (type(error).__qualname__, place.filename, place.lineno)
    if key not in _reported:
        _reported.add(key)
        sys.excepthook(type(error), error, error.__traceback__)
