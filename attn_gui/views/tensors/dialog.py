"""TensorsDialog: what is in a file of tensors, said in words, and opened as it is read there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QHBoxLayout, QLabel, QProgressBar, QVBoxLayout, QWidget

from attn_gui.control.opening import Looked, TensorOpening
from attn_gui.files.summary import printable
from attn_gui.model.tensors.checks import Problem, doubts, problems
from attn_gui.model.tensors.offers import offers
from attn_gui.model.tensors.reading import Reading
from attn_gui.views.buttons import give_letters
from attn_gui.views.context import Context
from attn_gui.views.tensors.file_row import TITLE, FileRow
from attn_gui.views.tensors.problems_view import ProblemsView
from attn_gui.views.tensors.reading_tabs import ReadingTabs
from attn_gui.views.tensors.words import headline, is_mask_alone

SIZE = QSize(800, 580)
STEPS = 1000
TOPIC = "file"
EMPTY = "Choose a file with attention weights, scores, or Q, K and V, or a folder with a file a layer."


class TensorsDialog(QDialog):
    """Stands beside the window, not in front of it. Nothing there changes until "Open" is pressed and all is read.

    ``may_discard`` asks about unsaved work before another document takes its place.
    """

    def __init__(
        self,
        context: Context,
        opening: TensorOpening,
        may_discard: Callable[[], bool],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._context = context
        self._opening = opening
        self._may_discard = may_discard
        self._looked: Looked | None = None
        self._paths: tuple[Path, ...] = ()
        self._fault = ""
        self._working = False
        self.reading: Reading | None = None
        self.problems: tuple[Problem, ...] = ()
        self.setWindowTitle(TITLE)
        self.setModal(False)
        self.resize(SIZE)
        self.file_row = FileRow(context.settings)
        self.headline = QLabel()
        self.offers = QLabel()
        self.tabs = ReadingTabs(context, opening)
        self.faults = ProblemsView()
        self.note = QLabel()
        self.progress = QProgressBar()
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
        self.ok = self.buttons.button(QDialogButtonBox.StandardButton.Ok)
        self.ok.setText("&Open")
        self.ok.setDefault(True)
        give_letters(self.buttons)
        cancel = self.buttons.button(QDialogButtonBox.StandardButton.Cancel)
        self._first_controls = (None, self.file_row.browse, self.file_row.folder, cancel)
        # it gets the focus while there is nothing to open, and Enter is not to close then
        cancel.setAutoDefault(False)
        self._lay_out()
        self._connect()
        self._begin(None)

    def sizeHint(self) -> QSize:
        return SIZE

    def choose(self) -> None:
        """Ask for a file, or several of one folder, and look into them."""
        self.file_row.choose()

    def open_paths(self, paths: Sequence[Path]) -> None:
        """Show what there is in ``paths``; what is wrong with them is said here, and nothing changes."""
        self._paths = tuple(path.absolute() for path in paths)
        self._begin(None)
        self._opening.look(self._paths)
        self.show()
        self.raise_()
        self.activateWindow()

    def accept(self) -> None:
        """Open what is in the file, as it is read."""
        looked, reading = self._looked, self.reading
        if looked is None or reading is None or not self.ok.isEnabled():
            return
        self._fault = ""
        if is_mask_alone(reading):
            self._opening.use_mask(looked, reading)
        elif self._may_discard():
            self._opening.open(looked, reading, self.tabs.token_page.special)

    def reject(self) -> None:
        """Give up what is going on; what is being opened first, and the dialog stays."""
        opening = self._opening.opening
        self._opening.cancel()
        if opening:
            self._on_fault("Cancelled. Nothing was opened.")
        else:
            super().reject()

    def _lay_out(self) -> None:
        self.headline.setObjectName("title")
        self.offers.setObjectName("muted")
        for label in (self.headline, self.offers, self.note):
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setWordWrap(True)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.progress.setRange(0, STEPS)
        self.progress.setAccessibleName("Progress of reading")
        self.progress.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 16, 16, 12)
        column.setSpacing(8)
        for part in (self.file_row, self.headline, self.offers):
            column.addWidget(part)
        column.addWidget(self.tabs, 1)
        column.addWidget(self.faults)
        column.addWidget(self.note)
        foot = QHBoxLayout()
        foot.setSpacing(8)
        foot.addWidget(self.progress, 1)
        foot.addWidget(self.buttons, 1)
        column.addLayout(foot)

    def _connect(self) -> None:
        opening = self._opening
        opening.working_changed.connect(self._on_working)
        opening.progressed.connect(lambda part: self.progress.setValue(int(part * STEPS)))
        opening.looked.connect(self._begin)
        opening.opened.connect(self._on_opened)
        for failed in (opening.not_looked, opening.not_opened):
            failed.connect(self._on_fault)
        self.file_row.chosen.connect(self.open_paths)
        self.tabs.changed.connect(self._take)
        self.tabs.waiting_changed.connect(self._refresh)
        self.faults.remedied.connect(self._remedy)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)

    def _begin(self, looked: Looked | None) -> None:
        """Start on a file that was looked into; None: on none yet."""
        self._looked, self._fault = looked, ""
        self.reading = None if looked is None else looked.reading
        self.file_row.show_file(self._paths, looked)
        self.tabs.begin(looked, self.file_row.start)
        self._refresh()
        if looked is not None:
            self._announce(self.headline.text())

    def _take(self, reading: Reading) -> None:
        self.reading, self._fault = reading, ""
        self._refresh()

    def _remedy(self, reading: Reading) -> None:
        self._take(reading)
        if self.ok.isEnabled():
            self.ok.setFocus()  # Enter would undo it, where the question is then asked the other way round

    def _refresh(self) -> None:
        """Say what will be opened, and what keeps it from being opened."""
        looked, reading = self._looked, self.reading
        told: tuple[str, ...] = ()
        asked: tuple[Problem, ...] = ()
        self.problems = ()
        if looked is not None and reading is not None:
            contents = looked.contents
            found = problems(contents, reading)
            # that a mask has no scores is none: it is for those in the window
            alone = is_mask_alone(reading)
            self.problems = tuple(p for p in found if not alone or p.part is not None or p.field)
            asked = doubts(contents, reading)
            told = tuple(f"{'✓' if each.possible else '–'} {each.text}" for each in offers(contents, reading))
            self.tabs.show_reading(looked, reading, self.problems)
            self.headline.setText(headline(contents, reading))
        else:
            self.headline.setText("")
        self.offers.setText("\n".join(told))
        for label in (self.headline, self.offers):
            label.setVisible(bool(label.text()))
        self.faults.show_problems(self.problems, asked)
        self._judge()

    def _judge(self) -> None:
        """Whether it can be opened, and if not why."""
        reading = self.reading
        self.ok.setText("&Use as mask" if reading is not None and is_mask_alone(reading) else "&Open")
        waits, fault = "", self._fault
        if self._working:
            waits = "Reading…"
        elif reading is None:
            waits = EMPTY
        elif self.tabs.token_page.fault:
            fault = fault or "The names of the tokens cannot be read."
        elif not self.problems:
            waits = self.tabs.waits_for
        self.ok.setEnabled(not (reading is None or waits or self.problems or self.tabs.token_page.fault))
        if self.ok.isEnabled() and self.focusWidget() in self._first_controls:
            self.ok.setFocus()  # nothing needs to be done but to open it
        self._say(fault or waits, fault=bool(fault))

    def _say(self, text: str, *, fault: bool) -> None:
        style = "error" if fault else "muted"
        if self.note.objectName() != style:
            self.note.setObjectName(style)
            self.note.style().unpolish(self.note)
            self.note.style().polish(self.note)
        shown = f"⚠ {text}" if fault else text
        if fault and shown != self.note.text():
            self._announce(text)
        self.note.setText(shown)
        self.note.setVisible(bool(text))

    def _announce(self, text: str) -> None:
        if self.isVisible():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, text))

    def _on_working(self, working: bool) -> None:
        self._working = working
        self.progress.setValue(0)
        self.progress.setVisible(working)
        self._judge()

    def _on_fault(self, text: str) -> None:
        self._fault = text
        self._judge()

    def _on_opened(self, looked: Looked) -> None:
        name = printable(looked.paths[0].name)
        if self.reading is not None and is_mask_alone(self.reading):
            self._context.notices.info(f"The mask of {name} is in place; undo brings back what was there", TOPIC)
        else:
            if len(looked.paths) == 1:
                self._context.settings.add_recent(looked.paths[0])
            sentence = self.headline.text().splitlines()[0].replace("Opens", "opened", 1)
            self._context.notices.info(f"{name}: {sentence}", TOPIC)
        super().accept()
