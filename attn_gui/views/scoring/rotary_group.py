"""Rotary positions: by frequencies, or by cosines and sines from a file."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import ClassVar

from PySide6.QtWidgets import QFileDialog, QWidget

from attn_gui.control.storage import reason
from attn_gui.control.worker import Priority, at_once
from attn_gui.files import rotary_tables
from attn_gui.files.errors import FileError
from attn_gui.files.summary import printable
from attn_gui.model.errors import ExperimentError
from attn_gui.model.parts import Part
from attn_gui.model.rotary import Rotary
from attn_gui.model.rotary.frequencies import Frequencies
from attn_gui.model.rotary.imported import ImportedRotary
from attn_gui.views.context import Context
from attn_gui.views.scoring.part_group import PartGroup

FROM_FILE = "file"
JOB = "rotary file"
TITLE = "A file with cos and sin, or one .npy for each"
FILTER = f"Rotary tables ({' '.join(f'*{ending}' for ending in rotary_tables.ENDINGS)});;All files (*)"
# by the scaling, the parameters that it alone looks at
_OF_SCALING = {
    "factor": {"linear", "ntk", "yarn", "llama3"},
    "original_length": {"yarn", "llama3"},
    "fast": {"yarn"},
    "slow": {"yarn"},
    "high": {"llama3"},
    "low": {"llama3"},
}


class RotaryGroup(PartGroup):
    """How queries and keys are turned. Files are read in the worker."""

    title = "Rotary positions"
    field = "rotary"
    family = Rotary
    opening: ClassVar[Mapping[str, str]] = {FROM_FILE: "Cos and sin from a file…"}

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(context, parent)
        self._folder: Path | None = None

    def hidden(self, part: Part) -> set[str]:
        if isinstance(part, ImportedRotary):
            return {"width"}  # it is that of the tables
        if not isinstance(part, Frequencies):
            return set()
        return {name for name, scalings in _OF_SCALING.items() if part.scaling not in scalings}

    def told(self, part: Part) -> str:
        if not isinstance(part, ImportedRotary):
            return super().told(part)
        positions, pairs = part.cos.shape
        return f"{positions:,} position{'s' * (positions != 1)} × {pairs:,} pair{'s' * (pairs != 1)}"

    def open(self, choice: str) -> None:
        """Ask for the file, or for the two, and read."""
        folder = self._folder or self.context.settings.export_folder
        names, _ = QFileDialog.getOpenFileNames(self.window(), TITLE, str(folder), FILTER)
        if names:
            self.load([Path(name) for name in names])

    def load(self, paths: list[Path]) -> None:
        """Turn queries and keys by the tables of ``paths``; why they cannot be is said here, and nothing changes."""
        self._folder = paths[0].parent
        e = self.context.document.experiment
        present = e.scoring.rotary
        layout = "halves" if present is None else present.layout
        self.say("")
        self.formula.setText(f"Reading {_named(paths)}…")
        self.formula.show()
        self.context.worker.submit(
            JOB,
            at_once(partial(rotary_tables.read, paths, layout=layout, d_k=e.d_k)),
            Priority.ASK,
            partial(self._on_read, paths, self._shown()),
            self._on_failure,
        )

    def _shown(self) -> tuple[Path | None, str]:
        """The document that is shown, whatever is edited in it."""
        document = self.context.document
        return document.path, document.session.named.name

    def _on_read(self, paths: list[Path], meant: tuple[Path | None, str], rotary: ImportedRotary) -> None:
        if self._shown() != meant:
            self.show_experiment(self.context.document.experiment)
            self.say(f"⚠ {_named(paths)} not used: something else was opened meanwhile")
            return
        try:
            changed = self.changed(self.context.document.experiment, rotary)
        except ExperimentError as error:
            self.refused(error)
            return
        self.apply(f"{self.title}: {_named(paths)}", changed)

    def _on_failure(self, error: BaseException) -> None:
        self.show_experiment(self.context.document.experiment)
        where = printable(error.path.name) if isinstance(error, FileError) else "Not read"
        self.say(f"⚠ {where}: {reason(error)}")
        if not isinstance(error, FileError | MemoryError):
            raise error


def _named(paths: list[Path]) -> str:
    return " and ".join(printable(path.name) for path in paths)
