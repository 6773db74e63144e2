"""CheckDrawer: one's own numbers for any stage, and what is to be said of them."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import QCheckBox, QFileDialog, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from attn_gui.files.layout import layout
from attn_gui.model import view_choices
from attn_gui.model.check import CheckAnswer, CheckAsk, Checked, GivenTable, too_large
from attn_gui.model.session import Session
from attn_gui.model.stages import STAGES
from attn_gui.model.trace import Head
from attn_gui.views.check.check_model import CheckModel
from attn_gui.views.check.check_table import CheckTable
from attn_gui.views.check.given_list import GivenList
from attn_gui.views.check.kept import Key
from attn_gui.views.check.legend import Legend
from attn_gui.views.check.work import Work
from attn_gui.views.context import Context
from attn_gui.views.drawers.drawer import Drawer, table_height
from attn_gui.views.top_bar import Dropdown

SLOT = "check"
STAGE, ON_DEMAND = "check_stage", "check_on_demand"
FIRST_STAGE = "A"
SIDE_WIDTHS, SIDE_HEIGHT, GAP = (320, 560), 156, 24
FILTER = "Tables (*.csv *.tsv *.txt);;All files (*)"


class CheckDrawer(Drawer):
    """A table is judged as it is typed, or with the button alone where ``live`` is off: then nothing is said before."""

    title = "Check my work"

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(context, parent)
        self.work = Work(context, self)
        self._results: dict[Key, Checked] = {}
        self._asked: CheckAsk | None = None
        self._pressed: set[Key] = set()  # what the button was pressed for, while nothing is judged by itself
        self._fault = ""
        self.stage = Dropdown("Stage")
        self.stage.setMaxVisibleItems(len(STAGES))
        self.open = QPushButton("Open CSV…")
        self.open.setToolTip("Numbers with tabs, semicolons or commas between them; labels around them are left out")
        self.printed = QPushButton()
        self.clear = QPushButton("Clear")
        self.clear.setToolTip("Empty this table")
        self.button = QPushButton("Check")
        self.button.setToolTip("Judge this table")
        self.live_box = QCheckBox("As I type")
        self.live_box.setToolTip("Judge every table while it is typed")
        self.model = CheckModel(self)
        self.table = CheckTable(context, self.model)
        undo_stack = self.work.undo_stack
        self.table.extra_actions = [
            make(self.table) for make in (undo_stack.createUndoAction, undo_stack.createRedoAction)
        ]
        self.summary = QLabel()
        self.summary.setWordWrap(True)
        self.summary.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.legend = Legend(context.look)
        self.given = GivenList()
        controls = (self.stage, self.printed, self.open, self.clear, self.button, self.live_box, self.legend)
        self.fill(*controls, body=self._body())
        self.stage.chosen.connect(self.show_stage)
        self.open.clicked.connect(self._choose_file)
        self.printed.clicked.connect(self.take_printed)
        self.clear.clicked.connect(lambda: self.work.clear(self.key))
        self.button.clicked.connect(self.check)
        self.live_box.toggled.connect(self._set_live)
        self.model.edited.connect(self.work.put)
        self.table.undo_asked.connect(undo_stack.undo)
        self.table.redo_asked.connect(undo_stack.redo)
        self.given.chosen.connect(self._go_to)
        self.work.changed.connect(self._on_work)
        self.work.not_read.connect(self._on_not_read)
        context.selection.head_changed.connect(lambda head: self._refresh_if_visible())
        context.document.changed.connect(self._on_document)
        context.feed.answered.connect(self._on_answered)
        self.refresh()

    @property
    def live(self) -> bool:
        """Whether tables are judged as they are typed."""
        return not view_choices.flag(self.context.document.session, ON_DEMAND)

    @property
    def key(self) -> Key:
        """The table that is shown: its stage and head."""
        names, heads = self.work.stages, self.context.document.experiment.heads
        first = FIRST_STAGE if FIRST_STAGE in names or not names else names[0]
        name = view_choices.word(self.context.document.session, STAGE, names, first)
        head: Head = self.context.selection.head
        if not STAGES[name].per_head or (head == "mean" and (not STAGES[name].square or heads == 1)):
            return name, 0
        return name, head if head == "mean" else min(head, heads - 1)

    def show_stage(self, name: str) -> None:
        """Show what was typed for the stage called ``name``."""
        self.context.document.keep_view(**{STAGE: name})
        self.refresh()

    def check(self) -> None:
        """Have the table that is shown judged."""
        self._pressed.add(self.key)
        self._ask(anew=True)
        self._show_results()

    def take_printed(self) -> None:
        """Take over the tables that ship with the example."""
        shipped = self.work.printed
        if shipped is not None:
            self.work.put(shipped.title, *shipped.tables)
            if self.key not in [(table.stage, table.head) for table in shipped.tables]:
                self.show_stage(shipped.tables[0].stage)

    def open_file(self, path: Path) -> None:
        """Read the numbers of the table that is shown from a file."""
        self.work.read(self.key, path)

    def refresh(self) -> None:
        e, names, shipped = self.context.document.experiment, self.work.stages, self.work.printed
        reason = too_large(e)
        if reason:
            self.empty.say("Nothing to check", f"{reason}.")
        else:
            self.empty.say("Nothing to check", "Every stage is hidden while the exercise is on.")
        self.show_empty(bool(reason) or not names)
        if reason or not names:
            self.keep_asks({})
            return
        key = name, _ = self.key
        self.stage.show_choices([(n, STAGES[n].entry, None) for n in names], name)
        self.printed.setVisible(shipped is not None)
        self.printed.setText("" if shipped is None else shipped.title)
        with QSignalBlocker(self.live_box):
            self.live_box.setChecked(self.live)
        self.model.show_table(self.work.table(key), layout(e, name))
        self.table.fit_columns()
        self.table.setAccessibleName(f"My {GivenTable(*key, ()).name(e.heads)}")
        self._show_results()
        self._ask()
        self.updateGeometry()

    def body_height(self, width: int) -> int:
        return max(SIDE_HEIGHT, table_height(self.table, width - SIDE_WIDTHS[0] - GAP))

    def _body(self) -> QWidget:
        body, side = QWidget(), QWidget()
        side.setMinimumWidth(SIDE_WIDTHS[0])
        side.setMaximumWidth(SIDE_WIDTHS[1])
        column = QVBoxLayout(side)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(self.summary)
        column.addWidget(self.given, 1)
        row = QHBoxLayout(body)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self.table, 100)  # what is said stands beside the numbers, also where these are few
        row.addSpacing(GAP)
        row.addWidget(side, 2)
        row.addStretch(1)
        return body

    def _ask(self, anew: bool = False) -> None:
        """Have the tables judged, where that is wanted."""
        if self.live or anew:
            tables = tuple(self.work.tables())
            self._asked = CheckAsk(tables) if tables else None
        self.keep_asks({} if self._asked is None else {SLOT: self._asked})

    def _on_work(self, changed: set[Key]) -> None:
        self._pressed -= changed  # what is other than it was has to be judged anew
        self._fault = ""
        if not self.table.held:
            self.table.reason.withdraw()
        self.refresh()

    def _set_live(self, on: bool) -> None:
        self._pressed.clear()
        if not self.table.held:
            self.table.reason.withdraw()
        self.context.document.keep_view(**{ON_DEMAND: not on})
        self._asked = None
        self._results.clear()
        self.refresh()

    def _go_to(self, stage: str, head: Head) -> None:
        if STAGES[stage].per_head and self.context.document.experiment.heads > 1:
            self.context.selection.set_head(head)
        self.show_stage(stage)

    def _on_document(self, before: Session, after: Session) -> None:
        self._fault = ""
        if before.named.name != after.named.name or before.current != after.current:
            self._results.clear()
        if not self.live and before.experiment is not after.experiment:
            self._pressed.clear()
            self._asked = None
        self._refresh_if_visible()

    def _refresh_if_visible(self) -> None:
        if self.isVisible():
            self.refresh()

    def _choose_file(self) -> None:
        folder = str(self.context.settings.export_folder)
        name, _ = QFileDialog.getOpenFileName(self.window(), f"My {self.key[0]}", folder, FILTER)
        if name:
            self.open_file(Path(name))

    def _on_not_read(self, reason: str) -> None:
        self._fault = reason
        self._show_results()

    def _on_answered(self, slot: str, answer: object) -> None:
        if slot != SLOT or not isinstance(answer, CheckAnswer) or answer.ask != self._asked:
            return
        trace = self.context.feed.trace
        if trace is None or trace.experiment is not self.context.document.experiment:
            return  # about numbers that are on their way out
        self._results = {(result.table.stage, result.table.head): result for result in answer.results}
        self._show_results()

    def _result(self, key: Key) -> Checked | None:
        """What may be said of a table now."""
        if not self.live and key not in self._pressed:
            return None
        found = self._results.get(key)
        return found if found is not None and found.table == self.work.table(key) else None

    def _show_results(self) -> None:
        key, blank = self.key, self.work.table(self.key).is_blank
        now = self._result(key)
        if now is not None or not self.live or blank:
            # while a table is judged anew, what was said of the cells that stay is left standing
            self.model.show_verdicts(now)
        self.given.show_tables([self._line(table) for table in self.work.tables()], key)
        self.clear.setEnabled(not blank)
        self.button.setEnabled(not blank and not self.live)
        self.summary.setObjectName("error" if self._fault else "")
        self.summary.setText(self._fault or self._words(key, now))
        self.summary.style().unpolish(self.summary)
        self.summary.style().polish(self.summary)

    def _line(self, table: GivenTable) -> tuple[Key, str, str]:
        """A table in the list of those given, and all that is said of it."""
        key, result = (table.stage, table.head), self._result((table.stage, table.head))
        said = "not checked" if result is None or result.fault else result.score
        name = table.name(self.context.document.experiment.heads)
        return key, f"{name}   {said}", "" if result is None else result.summary

    def _words(self, key: Key, result: Checked | None) -> str:
        table = self.work.table(key)
        if result is None and table.is_blank:
            rows, columns = table.shape
            name = table.name(self.context.document.experiment.heads)
            return f"Type or paste your {name}: {rows} × {columns} numbers, with as many decimals as you like."
        unsaved = " It is too large to be saved with the session." if self.work.is_too_large(key) else ""
        if result is not None:
            return result.summary + unsaved
        return ("Checking…" if self.live else "Check says how much of it is right.") + unsaved
