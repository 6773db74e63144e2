"""The window: the layout is the formula, read from left to right."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QGuiApplication, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QMainWindow, QMessageBox, QToolButton, QVBoxLayout, QWidget

from attn_gui.control.document import Unsaved
from attn_gui.control.exports import Exports
from attn_gui.control.recovery import Recovery
from attn_gui.control.storage import Storage
from attn_gui.control.worker import Priority, at_once
from attn_gui.files import examples
from attn_gui.files.errors import FileError
from attn_gui.model.derivation import Parameter
from attn_gui.model.experiment import Experiment
from attn_gui.model.session import NamedExperiment, Session
from attn_gui.model.session_title import session_title
from attn_gui.model.structured import structured_experiment
from attn_gui.model.tables import tables_of
from attn_gui.views import half_typed
from attn_gui.views.bar import Bar
from attn_gui.views.buttons import give_letters
from attn_gui.views.capture.model_actions import ModelActions
from attn_gui.views.closing import Closing
from attn_gui.views.code_actions import CodeActions
from attn_gui.views.compare.pin_actions import PinActions
from attn_gui.views.context import Context
from attn_gui.views.dock import Dock
from attn_gui.views.file_actions import FileActions
from attn_gui.views.find_bar import FindBar
from attn_gui.views.folding import Foldable, Folding, Whole
from attn_gui.views.formula import Formula
from attn_gui.views.hint_line import HintLine
from attn_gui.views.layers.layer_switch import LayerSwitch
from attn_gui.views.menus import Menus
from attn_gui.views.more_button import MoreButton
from attn_gui.views.painting import guarded
from attn_gui.views.recovery_bar import RecoveryBar
from attn_gui.views.sentence_bar import SentenceBar
from attn_gui.views.status import Status
from attn_gui.views.top_bar import TopBar
from attn_gui.views.torch_bar import TorchBar
from attn_gui.views.tour_actions import TourActions
from attn_gui.views.why_line import WhyLine

if TYPE_CHECKING:
    from attn_gui.views.drawers.drawer import Drawer
    from attn_gui.views.exercise.mode import ExerciseMode
    from attn_gui.views.walk.walk_bar import WalkBar

FIRST_SIZE = (1280, 720)
# pixels of a window's frame, about
FRAME = (8, 40)
LEAST_SIZE = (960, 640)
LONG_NOTE = (
    "{count} invented words, some passages of which come again. Head 1 looks near, head 2 at the first word, head 3 at "
    "what followed this word before, head 4 at the same word."
)


@dataclass(frozen=True)
class Services:
    """What the window needs besides the Context: files in and out."""

    storage: Storage
    recovery: Recovery
    exports: Exports


class MainWindow(QMainWindow):
    """Puts the views together; what they show and do is theirs."""

    first_painted = Signal()

    def __init__(self, context: Context, services: Services) -> None:
        super().__init__()
        self.context = context
        self.services = services
        self._painted = False
        self.walk: WalkBar | None = None
        self.exercise: ExerciseMode | None = None
        # connected first: what is half typed for what was shown is gone when the views come to show something else
        context.document.changed.connect(lambda before, after: half_typed.drop())
        self.setAcceptDrops(True)
        # not every system keeps windows within the screen, of which there is only a stand-in where nothing is shown
        shown = QGuiApplication.platformName() != "offscreen"
        room = self.screen().availableSize() - QSize(*FRAME) if shown else QSize(*FIRST_SIZE)
        self.setMinimumSize(QSize(*LEAST_SIZE).boundedTo(room))
        self.resize(QSize(*FIRST_SIZE).boundedTo(room))
        self.setDockNestingEnabled(True)
        self.top_bar = TopBar(context, examples.names())
        self.layers = LayerSwitch(context, self.top_bar)
        self.top_bar.row.addWidget(self.layers)
        self.more = MoreButton(context)
        self.top_bar.row.addWidget(self.more)
        self.sentence = SentenceBar(context)
        self.hint = HintLine(context, self)  # shown from the start: without a parent it would be a window
        self.formula = Formula(context)
        self.find_bar = FindBar(context, self.formula.go_to)
        self.why = WhyLine(context)
        self.recovery_bar = RecoveryBar(context, services.recovery)
        self.torch_bar = TorchBar(context)
        self.pins = PinActions(context, self)
        self.docks = [
            Dock("Projections", "weights", lambda: _weights_drawer(context), self),
            Dock("Stages", "stages", lambda: _stages_drawer(context), self),
            Dock("Heads", "heads", lambda: _heads_drawer(context), self),
            Dock("Scoring", "scoring", lambda: _scoring_drawer(context), self),
            Dock("Why", "why", lambda: _why_drawer(context, self.show_parameter), self),
            Dock("Compare", "compare", lambda: _compare_drawer(context, self.pins), self),
            Dock("Flow", "flow", lambda: _flow_drawer(context), self),
            Dock("Check my work", "check", lambda: _check_drawer(context), self),
            Dock("Layers", "layers", lambda: _layers_drawer(context), self),
            Dock("Intervene", "intervene", lambda: _intervene_drawer(context, self.models), self),
        ]
        for dock in self.docks:
            self.addDockWidget(Qt.DockWidgetArea.BottomDockWidgetArea, dock)
            dock.hide()
        for first, second in zip(self.docks, self.docks[1:], strict=False):
            self.tabifyDockWidget(first, second)
        centre = QWidget()
        column = self._column = QVBoxLayout(centre)
        column.setContentsMargins(12, 8, 12, 4)
        column.setSpacing(8)
        column.addWidget(self.torch_bar)
        column.addWidget(self.recovery_bar)
        column.addWidget(self.top_bar)
        column.addWidget(self.sentence)
        column.addWidget(self.hint)
        column.addWidget(self.find_bar)
        column.addWidget(self.formula, 100)
        column.addWidget(self.why)
        column.addStretch(1)
        strip = self._drawer_strip()
        column.addWidget(strip)
        self._last_to_fold = [Whole(self.sentence, column.spacing()), Whole(strip, column.spacing())]
        self.setCentralWidget(centre)
        self.folding = Folding(centre, column, self._foldable)
        self.statusBar().addWidget(Status(context), 1)
        self.statusBar().setSizeGripEnabled(False)
        self.files = FileActions(self, self._begin)
        self.models = ModelActions(self, self._begin)
        self.code = CodeActions(context, self)
        self.closing = Closing(self)
        self.tours = TourActions(self)
        self.menus = Menus(self)
        self.hint.tour_wanted.connect(lambda: self.tours.start(0))
        self.first_painted.connect(lambda: context.worker.submit("canvas", at_once(_load_canvas), Priority.ASK))
        self.top_bar.example_chosen.connect(self.open_example)
        context.selection.why_asked.connect(lambda cell: self._show_drawer("why"))
        context.document.changed.connect(lambda before, after: self._refresh(after))
        context.document.unsaved_changed.connect(self._mark_modified)
        context.document.path_changed.connect(lambda: self._refresh(context.document.session))
        services.storage.opened.connect(lambda path: self._begin())
        self._refresh(context.document.session)
        self._look_where_told()
        self._restore()

    def tell_above(self, bar: Bar) -> None:
        """Put ``bar`` above everything."""
        self._column.insertWidget(0, bar)

    def open_example(self, name: str) -> None:
        """Put a shipped example in place of the current experiment, as one undo step."""
        if not half_typed.commit():
            return
        try:
            session = examples.load_session(name)
        except FileError as error:
            self.context.notices.error(str(error), "example")
            return
        self.context.notices.withdraw("example")
        self.context.selection.set_painting(False)
        self.context.document.depart(f"Example: {name}", session)
        self._begin()

    def open_long_example(self, count: int) -> None:
        """Make a structured text of ``count`` words and put it in place of the current experiment, as one undo step."""
        notices, document = self.context.notices, self.context.document
        notices.info(f"Writing a text of {count:,} words", "example")
        visiting = document.visiting

        def show(experiment: Experiment) -> None:
            if document.visiting and not visiting:
                # in the tour it would go with the tour
                notices.warn(f"The text of {count:,} words was not shown, since a tour was begun", "example")
                return
            notices.withdraw("example")
            note = LONG_NOTE.format(count=f"{count:,}")
            middle = count // 2
            named = NamedExperiment(f"{count:,} words", experiment, note, focus=(0, middle, middle - 1))
            self.context.selection.set_painting(False)
            self.context.document.depart(f"Example: {named.name}", named)
            self._begin()

        self.context.worker.submit(
            "long example", at_once(lambda: structured_experiment(count)), Priority.ASK, show, self._on_no_example
        )

    def _foldable(self) -> list[Foldable]:
        numbers = [] if self.walk is None else [self.walk.numbers]
        return [self.hint, self.sentence.note_folding, *numbers, self.formula, *self._last_to_fold]

    def walk_through(self) -> None:
        """Start the walk through the computation, or leave it."""
        if self.walk is None:
            from attn_gui.control.walking import Walking
            from attn_gui.views.walk.walk_bar import WalkBar

            context = self.context
            walking = Walking(context.document, context.selection, context.highlight, self)
            self.walk = WalkBar(context, walking, self.why)
            self._column.insertWidget(self._column.indexOf(self.why), self.walk)
            self.menus.panels.add(self.walk)
        self.walk.toggle()

    def show_parameter(self, parameter: Parameter) -> None:
        """Show where a parameter of the computation is set."""
        context = self.context
        if parameter.table in ("scale", "softcap"):
            self.more.open()
        elif any(table.name == parameter.table for table in tables_of(context.document.experiment)):
            from attn_gui.views.drawers.weights_drawer import WeightsDrawer

            drawer = self._show_drawer("weights")
            if isinstance(drawer, WeightsDrawer):
                drawer.show_cell(parameter.table, parameter.row, parameter.column)
        elif parameter.table in tuple("QKVAN"):  # given, and too large for a table
            self._show_drawer("weights")
        else:
            self._show_drawer("scoring")

    def _show_drawer(self, name: str) -> QWidget | None:
        """Open the drawer called ``name``, or bring it to the front, and go there; its content."""
        dock = next(dock for dock in self.docks if dock.objectName() == name)
        if dock.isHidden():
            dock.toggleViewAction().trigger()
        else:
            dock.raise_()
        drawer = dock.widget()
        if drawer is not None:
            drawer.setFocus()
        return drawer

    def _on_no_example(self, error: BaseException) -> None:
        self.context.notices.error(f"The example could not be made: {error}", "example")

    def new_session(self) -> None:
        """Start anew on the Karina example, after asking about unsaved work."""
        if self.may_discard():
            self.context.document.open(Session((examples.load(examples.names()[0]),)), None)
            self._begin()

    def _begin(self) -> None:
        """With another document: nothing that was refused for the one before stays in a field."""
        half_typed.drop(refused=True)
        self._look_where_told()

    def _look_where_told(self) -> None:
        """Select what the note of the experiment speaks of."""
        focus = self.context.document.session.named.focus
        if focus is not None:
            self.context.selection.set_head(focus[0])
            self.context.selection.set_cell(focus[1], focus[2])

    def may_discard(self) -> bool:
        """Whether all unsaved work is saved, or may go; what is half typed is part of it."""
        return half_typed.commit() and all(self._may_go(work) for work in self.context.document.unsaved)

    def _may_go(self, work: Unsaved) -> bool:
        document = self.context.document
        here = document.session.same_work(work.session)
        box = QMessageBox(self)
        box.setIcon(QMessageBox.Icon.Question)
        box.setText(f"Save the changes to “{work.name}”?")
        since = "" if here else f"They were made before “{session_title(document.session)}” was chosen. "
        box.setInformativeText(since + "They are lost otherwise.")
        buttons = QMessageBox.StandardButton
        box.setStandardButtons(buttons.Save | buttons.Discard | buttons.Cancel)
        box.setDefaultButton(buttons.Save)
        give_letters(box)
        chosen = box.exec()
        if chosen == buttons.Save:
            return self.files.save_and_wait(None if here else work)
        return chosen == buttons.Discard

    @guarded
    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self._painted:
            self._painted = True
            QTimer.singleShot(0, self.first_painted.emit)

    def closeEvent(self, event: QCloseEvent) -> None:
        if not self.closing.may_close():
            event.ignore()
            return
        self.tours.leave()  # what the window looks like is kept as it was before
        self.context.settings.keep_window(self.saveGeometry(), self.saveState())
        self.context.settings.sync()
        self.services.recovery.close()
        event.accept()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if _local_files(event.mimeData().urls()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        paths = _local_files(event.mimeData().urls())
        if paths and half_typed.commit():
            event.acceptProposedAction()
            self.files.arriving.take(paths)

    def _drawer_strip(self) -> QWidget:
        strip = QWidget()
        row = QHBoxLayout(strip)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        for dock in self.docks:
            button = QToolButton()
            button.setDefaultAction(dock.toggleViewAction())
            row.addWidget(button)
        row.addStretch(1)
        return strip

    def _refresh(self, session: Session) -> None:
        named: NamedExperiment = session.named
        path = self.context.document.path
        self.setWindowTitle(f"{path.name if path is not None else session_title(session)}[*] – attn_gui")
        self.setWindowFilePath(str(path) if path is not None else "")
        self._mark_modified()
        self.context.selection.fit(named.experiment)
        if named.exercise is not None and self.exercise is None:
            from attn_gui.views.exercise.mode import ExerciseMode

            self.exercise = ExerciseMode(self)

    def _mark_modified(self) -> None:
        modified = self.context.document.modified
        # Qt draws the title anew even where nothing changes
        if modified != self.isWindowModified():
            self.setWindowModified(modified)

    def _restore(self) -> None:
        geometry, state = self.context.settings.window
        if not geometry.isEmpty():
            self.restoreGeometry(geometry)
        if not state.isEmpty():
            self.restoreState(state)


def _load_canvas() -> None:
    # ahead of the first picture, in the worker, and after the first paint, which does not wait for pyqtgraph
    import attn_gui.views.heatmap.canvas  # noqa: F401


# the drawers are imported when they are first opened: the first paint does not wait for them


def _weights_drawer(context: Context) -> Drawer:
    from attn_gui.views.drawers.weights_drawer import WeightsDrawer

    return WeightsDrawer(context)


def _stages_drawer(context: Context) -> Drawer:
    from attn_gui.views.drawers.stages_drawer import StagesDrawer

    return StagesDrawer(context)


def _heads_drawer(context: Context) -> Drawer:
    from attn_gui.views.drawers.heads_drawer import HeadsDrawer

    return HeadsDrawer(context)


def _scoring_drawer(context: Context) -> Drawer:
    from attn_gui.views.drawers.scoring_drawer import ScoringDrawer

    return ScoringDrawer(context)


def _compare_drawer(context: Context, pins: PinActions) -> Drawer:
    from attn_gui.views.compare.compare_drawer import CompareDrawer

    return CompareDrawer(context, pins)


def _check_drawer(context: Context) -> Drawer:
    from attn_gui.views.check.check_drawer import CheckDrawer

    return CheckDrawer(context)


def _layers_drawer(context: Context) -> Drawer:
    from attn_gui.views.layers.layers_drawer import LayersDrawer

    return LayersDrawer(context)


def _intervene_drawer(context: Context, models: ModelActions) -> Drawer:
    from attn_gui.views.intervene.intervene_drawer import InterveneDrawer

    return InterveneDrawer(context, models.changes, models.open)


def _flow_drawer(context: Context) -> Drawer:
    from attn_gui.views.flow.drawer import FlowDrawer

    return FlowDrawer(context)


def _why_drawer(context: Context, show_parameter: Callable[[Parameter], None]) -> Drawer:
    from attn_gui.views.why.why_drawer import WhyDrawer

    return WhyDrawer(context, show_parameter)


def _local_files(urls: list[QUrl]) -> list[Path]:
    """The files that ``urls`` stand for; none where one of them lies elsewhere."""
    return [Path(url.toLocalFile()) for url in urls] if all(url.isLocalFile() for url in urls) else []
