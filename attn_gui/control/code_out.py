"""CodeOut: what is on screen as a script or as LaTeX, on the clipboard or in a file, written by the worker."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtGui import QGuiApplication

from attn_gui.control.feed import Feed
from attn_gui.control.notices import Notices
from attn_gui.control.settings import Settings
from attn_gui.control.storage import reason
from attn_gui.control.worker import Priority, Worker, at_once
from attn_gui.files.code.latex import latex
from attn_gui.files.code.page import Script
from attn_gui.files.code.scripts import numpy_script, pytorch_script
from attn_gui.files.errors import FileError
from attn_gui.model.errors import ExperimentError
from attn_gui.model.trace import Trace

TOPIC = "code"
COPY = "copy as code"
# not a name that anything else is given: the file is replaced without asking
BESIDE = "{}.data.npz"


@dataclass(frozen=True)
class CodeForm:
    """A kind of code: its title, and who writes it, given decimals and the name of a file for many numbers."""

    title: str
    write: Callable[[Trace, int, str | None], Script]


FORMS: Mapping[str, CodeForm] = {
    "pytorch": CodeForm("PyTorch", lambda trace, decimals, beside: pytorch_script(trace.experiment, beside, decimals)),
    "numpy": CodeForm("NumPy", lambda trace, decimals, beside: numpy_script(trace.experiment, beside, decimals)),
    "latex": CodeForm("LaTeX", lambda trace, decimals, beside: Script(latex(trace, decimals), {})),
}


class CodeOut(QObject):
    """Copies and saves what is shown when it is asked to; how it went is said as a notice on ``code``."""

    def __init__(
        self, worker: Worker, feed: Feed, settings: Settings, notices: Notices, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._worker = worker
        self._feed = feed
        self._settings = settings
        self._notices = notices

    def copy(self, form: str) -> None:
        """Put the code on the clipboard, in one piece."""
        trace, decimals, made = self._feed.trace, self._settings.decimals, FORMS[form]
        if trace is None:
            self._notices.warn("Nothing is computed yet: there is nothing to copy", TOPIC)
            return
        self._worker.submit(
            COPY,
            at_once(lambda: made.write(trace, decimals, None).text),
            Priority.TRACE,
            lambda text: self._on_text(text, made.title),
            lambda error: self._on_failure(f"Not copied as {made.title}", error),
        )

    def save(self, form: str, path: Path) -> None:
        """Write the code to ``path``, and numbers beyond some hundred into a file beside it."""
        trace, decimals, made = self._feed.trace, self._settings.decimals, FORMS[form]
        if trace is None:
            self._notices.warn(f"Nothing is computed yet: {path.name} was not written", TOPIC)
            return
        self._worker.submit(
            f"save code {path}",
            at_once(lambda: _saved(made.write(trace, decimals, BESIDE.format(path.stem)), path)),
            Priority.TRACE,
            lambda beside: self._on_saved(path, beside),
            lambda error: self._on_failure(f"{path.name} was not written", error),
            owed=True,
        )

    def _on_text(self, text: str, title: str) -> None:
        QGuiApplication.clipboard().setText(text)
        self._notices.info(f"Copied as {title}", TOPIC)

    def _on_saved(self, path: Path, beside: str | None) -> None:
        self._settings.export_folder = path.parent
        numbers = "" if beside is None else f", with its numbers in {beside}"
        self._notices.info(f"{path.name} is written to {path.parent}{numbers}", TOPIC)

    def _on_failure(self, what: str, error: BaseException) -> None:
        why = str(error) if isinstance(error, ExperimentError) else reason(error)
        self._notices.error(f"{what}: {why}", TOPIC)
        if not isinstance(error, ExperimentError | FileError | MemoryError):
            raise error


def _saved(script: Script, path: Path) -> str | None:
    script.save(path)
    return script.beside if script.arrays else None
