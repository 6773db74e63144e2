"""The Compare drawer: what was pinned beside what is there now, or one head beside another."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtGui import QAction, QHideEvent
from PySide6.QtWidgets import QFileDialog, QLabel, QMenu, QPushButton, QToolButton, QWidget

from attn_gui.control.comparing import Comparing
from attn_gui.control.original import Original
from attn_gui.files.errors import FileError
from attn_gui.model import view_choices
from attn_gui.model.comparison import Comparison, Side, comparable
from attn_gui.model.stages import STAGES
from attn_gui.model.trace import Trace
from attn_gui.views.bands import LOWEST_ROW
from attn_gui.views.compare import words
from attn_gui.views.compare.body import CompareBody
from attn_gui.views.compare.pin_actions import PinActions
from attn_gui.views.context import Context
from attn_gui.views.drawers.drawer import Drawer
from attn_gui.views.top_bar import Dropdown

FIRST_STAGE = "N"
PINNED, ORIGINAL = "pinned", "original"
TOPIC = "compare"
# characters of the widest choice of the other side: "Pinned", "Head 128"
LONGEST_SIDE = 8


class CompareDrawer(Drawer):
    """Follows the selected head.

    The other side is the pinned experiment, what the experiment was originally, or a head that was chosen.
    """

    title = "Compare"
    row_height = LOWEST_ROW

    def __init__(self, context: Context, pins: PinActions, parent: QWidget | None = None) -> None:
        super().__init__(context, parent)
        self._pinned = pins.pinned
        self._original = Original(context.worker, context.feed, context.document, self)
        self.comparing = Comparing(context.worker, context.feed, self)
        self.stage, self.against = Dropdown("Stage"), Dropdown("Compare with")
        self.stage.setMaxVisibleItems(len(STAGES))
        self.against.setMinimumContentsLength(LONGEST_SIDE)
        self.told = QLabel()
        self.told.setObjectName("muted")
        self.save_csv = QAction("Save as &CSV…", self)
        self.save_csv.setStatusTip("Save the difference, every number exact")
        self.body = CompareBody(context, self.comparing)
        self.compare_heads = QPushButton("Compare two heads")
        self.empty.add_button(_button(pins.pin))
        self.empty.add_button(self.compare_heads)
        controls = self.stage, self.against, _button(pins.pin), _button(pins.unpin), self._outlet(), self.told
        self.fill(*controls, body=self.body)
        self._connect()
        self.refresh()

    def refresh(self) -> None:
        trace = self.context.feed.trace
        comparison = None if trace is None else self._comparison(trace)
        self.comparing.compare(comparison if self.isVisible() else None)
        if trace is not None and comparison is not None:
            self._offer(trace, comparison)
        self._show(trace, comparison)

    def body_height(self, width: int) -> int:
        return self.body.needed_height(width)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.comparing.compare(None)

    def _connect(self) -> None:
        context = self.context
        self.stage.chosen.connect(lambda name: self._choose(compare_stage=name))
        self.against.chosen.connect(lambda name: self._choose(compare_with=name))
        self.compare_heads.clicked.connect(self._compare_heads)
        self.save_csv.triggered.connect(self.ask_and_save)
        self._pinned.changed.connect(self._on_pinned)
        self._original.changed.connect(self._refresh_if_visible)
        context.selection.head_changed.connect(lambda head: self._refresh_if_visible())
        context.feed.traced.connect(lambda trace: self._refresh_if_visible())
        context.feed.passed.connect(self._on_passed)
        context.arranging.changed.connect(self._refresh_if_visible)
        self.comparing.changed.connect(self._on_compared)
        self.comparing.figures_changed.connect(self.updateGeometry)
        self.comparing.written.connect(self._on_written)
        self.comparing.not_written.connect(self._on_not_written)

    def _outlet(self) -> QToolButton:
        """What can be taken out of the difference."""
        heatmap = self.body.difference.heatmap
        menu = QMenu(self)
        menu.addActions([heatmap.menu.copy_matrix, heatmap.menu.copy_picture])
        menu.addSeparator()
        menu.addActions([self.save_csv, heatmap.menu.save_picture])
        button = QToolButton()
        button.setText("Copy or save…")
        button.setAccessibleName("Copy or save the difference")
        button.setToolTip("Copy or save the difference")
        button.setMenu(menu)
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        return button

    def _comparison(self, trace: Trace) -> Comparison | None:
        """What to compare, None where the other side is the pinned experiment and there is none.

        Nor where a side hides stages: what is shown beside them would tell of them.
        """
        e, head = trace.experiment, self.context.selection.head
        if self._hides(trace):
            return None
        right = Side(trace, min(head, e.heads - 1) if isinstance(head, int) else head)
        other = self._against(trace)
        of_heads = other not in (PINNED, ORIGINAL)
        if other == ORIGINAL:
            self._original.want()
        beside = trace if of_heads else self._original.trace if other == ORIGINAL else self._pinned.trace
        if beside is None:
            return None
        if of_heads:
            left = Side(beside, int(other.split()[1]) - 1)
        else:
            left = Side(beside, min(head, beside.experiment.heads - 1) if isinstance(head, int) else head)
        possible = [name for name, reason in comparable(left.experiment, e) if reason is None]
        stage = view_choices.word(self.context.document.session, "compare_stage", possible, FIRST_STAGE)
        arrangement = self.context.arranging.arrangement
        return Comparison(left, right, stage, of_heads, "original" if other == ORIGINAL else "pinned", arrangement)

    def _hides(self, trace: Trace) -> bool:
        sides = [trace] if self._pinned.trace is None else [trace, self._pinned.trace]
        return any(side.experiment.hidden for side in sides)

    def _against(self, trace: Trace) -> str:
        """The other side: ``pinned``, ``original`` or ``head 2``."""
        original = [] if self._original.experiment is None else [ORIGINAL]
        usual = ORIGINAL if original and self._pinned.trace is None else PINNED
        pinned = [] if self._pinned.trace is None else [PINNED]
        possible = [*pinned, *original, *_heads_of(trace)]
        return view_choices.word(self.context.document.session, "compare_with", possible, usual)

    def _offer(self, trace: Trace, comparison: Comparison) -> None:
        stages = comparable(comparison.left.experiment, trace.experiment)
        self.stage.show_choices([(n, STAGES[n].entry, reason) for n, reason in stages], comparison.stage)
        pinned = self._pinned.trace is not None
        heads = _heads_of(trace) if trace.experiment.heads > 1 else []
        sides = [(PINNED, "Pinned", None if pinned else "nothing is pinned")]
        if self._original.experiment is not None:
            sides.append((ORIGINAL, "Original", None))
        sides += [(name, name.capitalize(), None) for name in heads]
        self.against.show_choices(sides, self._against(trace))

    def _show(self, trace: Trace | None, comparison: Comparison | None) -> None:
        """The comparison, or why there is none."""
        self.compare_heads.setVisible(trace is not None and trace.experiment.heads > 1)
        if trace is None:
            self.empty.say("Starting torch", "Then an experiment can be pinned.")
        elif self._hides(trace):
            self.empty.say("Stages are hidden", "Nothing is compared with an exercise that hides some.")
        elif self.comparing.waiting:
            self.empty.say("Not every row is computed yet", "The outputs are compared once all of them are there.")
        elif comparison is None and self._against(trace) == ORIGINAL:
            self.empty.say("The original is being computed", "Then it stands beside the present experiment.")
        elif comparison is None:
            self.empty.say("Nothing is pinned", "Pin this experiment, then change something: here you see what it did.")
        self.show_empty(comparison is None or self.comparing.waiting)

    def _on_compared(self) -> None:
        pair = self.comparing.pair
        if pair is not None:
            comparison = pair.comparison
            original = comparison.other == ORIGINAL
            name = self.context.document.session.named.name if original else self._pinned.name
            left, right = words.headings(comparison, name)
            self.body.name_sides(left, right)
            names = words.side_names(comparison)
            told = [
                words.of_heads(comparison),
                words.drawn(comparison),
                words.left_out(comparison, names),
                words.held(comparison, pair.held),
            ]
            self.told.setText(words.BETWEEN.join(part for part in told if part))
            self.told.setVisible(bool(self.told.text()))
        self._show(self.context.feed.trace, self.comparing.asked)
        self.updateGeometry()

    def _on_pinned(self) -> None:
        if self._pinned.trace is not None:
            self.context.document.keep_view(compare_with=PINNED)
        self._refresh_if_visible()

    def _on_passed(self, part: float) -> None:
        if part == 1:
            self.comparing.again()

    def _choose(self, **choice: str) -> None:
        self.context.document.keep_view(**choice)
        self.refresh()

    def _compare_heads(self) -> None:
        """Another head than the selected one beside it."""
        selected = self.context.selection.head
        if selected == "mean":
            self.context.selection.set_head(0)
        self._choose(compare_with="head 2" if self.context.selection.head == 0 else "head 1")

    def _refresh_if_visible(self) -> None:
        if self.isVisible():
            self.refresh()

    def ask_and_save(self) -> None:
        """Ask for a place and save the difference there as CSV."""
        pair = self.comparing.pair
        if pair is None:
            return
        name = f"{self.context.document.title}, difference of {pair.comparison.stage}.csv".replace("/", "-")
        folder = self.context.settings.export_folder
        path, _ = QFileDialog.getSaveFileName(self, "Save the difference", str(folder / name), "CSV (*.csv)")
        if path:
            self.comparing.write_csv(Path(path))

    def _on_written(self, path: Path) -> None:
        self.context.settings.export_folder = path.parent
        self.context.notices.info(f"Saved {path.name}", TOPIC)

    def _on_not_written(self, error: BaseException) -> None:
        text = str(error) if isinstance(error, FileError) else f"The difference could not be saved: {error}"
        self.context.notices.error(text, TOPIC)


def _heads_of(trace: Trace) -> list[str]:
    return [f"head {head + 1}" for head in range(trace.experiment.heads)]


def _button(action: QAction) -> QToolButton:
    button = QToolButton()
    button.setDefaultAction(action)
    return button
