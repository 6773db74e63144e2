"""Copying from a heatmap: a value, a row or the matrix as text in full precision, made by the worker."""

from __future__ import annotations

from typing import Any

import numpy as np
from PySide6.QtCore import QObject
from PySide6.QtGui import QGuiApplication

from attn_gui.control.exports import MAX_COPIED_CELLS
from attn_gui.control.feed import Feed
from attn_gui.control.notices import Notices
from attn_gui.control.worker import Priority, Steps, Worker
from attn_gui.files.numbers import row_text
from attn_gui.model.answers import Block
from attn_gui.model.asks import BlockAsk
from attn_gui.model.precision import Precision
from attn_gui.model.trace import Head

ROWS_A_STEP = 64


class Copying(QObject):
    """One copy at a time."""

    def __init__(self, feed: Feed, worker: Worker, notices: Notices, slot: str, parent: QObject) -> None:
        super().__init__(parent)
        self._feed = feed
        self._worker = worker
        self._notices = notices
        self._slot = f"{slot}.copy"
        self._what = ""
        feed.answered.connect(self._on_answer)

    def copy(self, what: str, stage: str, head: Head, rows: slice, columns: slice) -> None:
        """Put rows and columns of ``stage`` on the clipboard, tab separated; ``what`` names them to the person."""
        experiment = self._feed.experiment
        if experiment is None:
            return
        shape = experiment.n_q, experiment.n_k
        (top, bottom, _), (left, right, _) = rows.indices(shape[0]), columns.indices(shape[1])
        cells = (bottom - top) * (right - left)
        if cells > MAX_COPIED_CELLS:
            self._notices.warn(f"{what} is {cells:,} numbers: better exported to a file (File, Export)", "copy")
            return
        self._what = what
        self._feed.ask(self._slot, None)
        self._feed.ask(self._slot, BlockAsk(stage, head, (top, bottom), (left, right)))

    def _on_answer(self, slot: str, answer: object) -> None:
        experiment = self._feed.experiment
        if slot != self._slot or not isinstance(answer, Block) or experiment is None:
            return
        self._feed.ask(self._slot, None)
        block, precision = answer.values, experiment.precision
        self._worker.submit(
            f"{self._slot}.text", lambda: _text(block, precision), Priority.TRACE, self._on_text, self._on_failure
        )

    def _on_text(self, text: str) -> None:
        QGuiApplication.clipboard().setText(text)
        self._notices.info(f"Copied {self._what}", "copy")

    def _on_failure(self, error: BaseException) -> None:
        self._notices.error(f"{self._what} could not be copied: {error}", "copy")


def _text(block: np.ndarray[Any, Any], precision: Precision) -> Steps:
    """``block`` [rows, columns] as lines of tab-separated numbers."""
    lines = []
    for start in range(0, len(block), ROWS_A_STEP):
        lines += [
            row_text(row, precision).decode("ascii").replace(",", "\t") for row in block[start : start + ROWS_A_STEP]
        ]
        yield start / len(block)
    return "\n".join(lines)
