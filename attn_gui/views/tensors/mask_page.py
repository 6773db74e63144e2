"""MaskPage: a mask with each meaning that it may have, so that the person sees which one is meant."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QButtonGroup,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QRadioButton,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from attn_gui.files.tensors.previewing import MaskPreview, proposed
from attn_gui.model.mask_import import Meaning
from attn_gui.model.tensors.reading import Reading
from attn_gui.views.context import Context
from attn_gui.views.masks.cells import LARGEST
from attn_gui.views.masks.import_dialog import ABOUT
from attn_gui.views.masks.pattern_view import PatternView
from attn_gui.views.tensors.rows_model import RowsModel

TITLES: dict[Meaning, str] = {
    "allowed": "&True = may attend",
    "blocked": "True = block&ed",
    "additive": "A&dded to the scores",
}
PATTERN = 132
COLUMN = 164
FLAGS: tuple[Meaning, ...] = ("allowed", "blocked")
ADDED: tuple[Meaning, ...] = ("additive",)
UNSEEN = "This mask is too large to be shown and counted here."
READING = "Reading the mask…"
ASKED = "A mask of true and false: which of the two may attend?"
CHOSEN = "A mask of true and false. With one of its meanings every query has a key to attend to: that one is chosen."
AGREES = "A mask of true and false. With one of its meanings it blocks what has weight 0: that one is chosen."


class MaskPage(QWidget):
    """``changed(reading)`` comes with the meaning that the person, or the mask itself, decides for."""

    changed = Signal(object)

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._reading: Reading | None = None
        self._previews: tuple[MaskPreview, ...] = ()
        self._unseen: tuple[Meaning, ...] = ()  # what a mask that is too large to be shown may mean
        self.meanings = {meaning: MeaningColumn(context, meaning) for meaning in TITLES}
        self.note = QLabel()
        self.note.setTextFormat(Qt.TextFormat.PlainText)
        self.note.setWordWrap(True)
        self.rows = RowsModel(self)
        self.table = QTableView()
        self.table.setModel(self.rows)
        self.table.setObjectName("list")
        self.table.setAccessibleName("Keys allowed a row")
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.table.setTabKeyNavigation(False)
        self.table.setShowGrid(False)
        self.table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        self.table.horizontalHeader().setHighlightSections(False)
        self.table.verticalHeader().setDefaultSectionSize(self.fontMetrics().lineSpacing() + 4)
        self._group = QButtonGroup(self)
        row = QHBoxLayout()
        row.setSpacing(16)
        for column in self.meanings.values():
            self._group.addButton(column.choice)
            row.addWidget(column)
        row.addWidget(self.table, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 12, 12, 12)
        layout.setSpacing(8)
        layout.addWidget(self.note)
        layout.addLayout(row, 1)
        self._group.buttonClicked.connect(lambda button: self._take())
        self._show()

    @property
    def undecided(self) -> bool:
        """Whether nobody has said yet what the mask means, and it could be more than one thing."""
        return self._reading is None or (self._reading.meaning is None and len(self._offered) != 1)

    @property
    def _offered(self) -> tuple[Meaning, ...]:
        """What the mask may mean."""
        return self._unseen or tuple(preview.meaning for preview in self._previews)

    def wait_for(self, reading: Reading) -> None:
        """What the mask of ``reading`` allows is being worked out."""
        self._reading, self._previews, self._unseen = reading, (), ()
        self._show(READING)

    def show_unseen(self, reading: Reading, flags: bool) -> None:
        """Offer what the mask of ``reading`` may mean, which is too large to be shown; ``flags``: true and false."""
        self.wait_for(reading)
        self._unseen = FLAGS if flags else ADDED
        self._show(UNSEEN)

    def show_reading(self, reading: Reading) -> None:
        """Show which meaning ``reading`` has."""
        self._reading = reading
        self._check()

    def show_previews(self, previews: tuple[MaskPreview, ...]) -> None:
        """Show what each meaning allows. Of several the one that the file itself speaks for is proposed."""
        self._previews = previews
        self._show()
        reading = self._reading
        meaning = proposed(previews)
        if reading is not None and reading.meaning is None and meaning is not None:
            self.changed.emit(replace(reading, meaning=meaning))

    def refuse(self, fault: str) -> None:
        """There is nothing to show, and ``fault`` is why."""
        self._previews, self._unseen = (), ()
        self._show(f"⚠ {fault}")

    def _show(self, note: str = "") -> None:
        by_meaning: dict[Meaning | None, MaskPreview] = {preview.meaning: preview for preview in self._previews}
        for meaning, column in self.meanings.items():
            column.show_preview(by_meaning.get(meaning), unseen=meaning in self._unseen)
        tokens = self._reading.tokens if self._reading is not None else None
        self.rows.show(self._previews, tokens or ())
        self.table.setVisible(bool(self._previews))
        chosen = by_meaning.get(proposed(self._previews))
        about = ASKED if chosen is None else AGREES if chosen.agrees else CHOSEN
        self.note.setText(note or (about if len(self._previews) > 1 else ""))
        self.note.setVisible(bool(self.note.text()))
        self._check()

    def _check(self) -> None:
        meaning = None if self._reading is None else self._reading.meaning
        if meaning is None and len(self._offered) == 1:
            meaning = self._offered[0]
        self._group.setExclusive(False)  # else the last one could not be unchecked
        for each, column in self.meanings.items():
            column.choice.setChecked(each == meaning)
        self._group.setExclusive(True)

    def _take(self) -> None:
        chosen = next(meaning for meaning, column in self.meanings.items() if column.choice.isChecked())
        if self._reading is not None and chosen != self._reading.meaning:
            self.changed.emit(replace(self._reading, meaning=chosen))


class MeaningColumn(QWidget):
    """One way to read a mask: the choice, what it looks like, and how much it allows."""

    def __init__(self, context: Context, meaning: Meaning) -> None:
        super().__init__()
        self._meaning = meaning
        self.choice = QRadioButton(TITLES[meaning])
        self.choice.setToolTip(ABOUT[meaning])
        self.pattern = PatternView(context.look, PATTERN)
        self.facts = QLabel()
        self.facts.setObjectName("muted")
        self.facts.setWordWrap(True)
        self.facts.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.facts.setFixedWidth(COLUMN)
        self.setFixedWidth(COLUMN)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        for part in (self.choice, self.pattern, self.facts):
            column.addWidget(part)
        column.addStretch(1)

    def show_preview(self, preview: MaskPreview | None, *, unseen: bool) -> None:
        """Show ``preview``; without one the choice alone if ``unseen``, else nothing: it cannot have this meaning."""
        self.setVisible(unseen or preview is not None)
        self.pattern.setVisible(preview is not None)
        self.facts.setVisible(preview is not None)
        if preview is not None:
            text = facts(preview)
            self.facts.setText(text)
            self.choice.setAccessibleDescription(text)
            self.pattern.show_cells(preview.allowed[0][:LARGEST, :LARGEST], f"Pattern of {self._meaning}")


def facts(preview: MaskPreview) -> str:
    """How much ``preview`` allows, in lines."""
    least, most = int(preview.per_row.min()), int(preview.per_row.max())
    if least == most:
        keys = f"{most:,} key{'s' if most != 1 else ''} allowed in every row"
    else:
        keys = f"{least:,} to {most:,} keys allowed a row"
    rows = "no row" if not preview.empty else f"{preview.empty:,} row{'s' if preview.empty != 1 else ''}"
    lines = [keys, f"{rows} fully masked"]
    if preview.biased:
        lines.append("Other numbers are added to the scores")
    if max(preview.allowed.shape[1:]) > LARGEST:
        lines.append(f"Drawn: the first {LARGEST} tokens")
    return "\n".join(f"{line[:1].upper()}{line[1:]}" for line in lines)
