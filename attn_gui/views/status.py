"""The status bar: sizes, precision and device, whether the rows sum to 1, progress, and notices."""

from __future__ import annotations

from math import ceil

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QProgressBar, QSizePolicy, QToolButton, QWidget

from attn_gui.control.notices import Kind, Notice
from attn_gui.model.answers import NotYet, RowSums
from attn_gui.model.asks import RowSumsAsk
from attn_gui.model.errors import NoTorch, TooLarge
from attn_gui.model.experiment import Experiment
from attn_gui.model.trace import Trace
from attn_gui.views.context import Context
from attn_gui.views.figures import shown
from attn_gui.views.nothing_yet import nothing_yet

SLOT = "status"
PATIENCE_MS = 300
HEIGHT = 28
INFO_MS = 8_000
# how far from 1 a sum has to be for its four decimals to show it
SHOWN = 5e-5
SIGNS = {Kind.INFO: "", Kind.WARNING: "⚠ ", Kind.ERROR: "⚠ "}


class Status(QWidget):
    """One line: what is shown on the left, what is happening or was refused on the right."""

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._sums: RowSums | None = None
        self._notice: Notice | None = None
        self.facts = QLabel(nothing_yet(context.feed))
        self.facts.setObjectName("muted")
        self.facts.setAccessibleName("What is shown")
        self.notice = QLabel()
        self.notice.setTextFormat(Qt.TextFormat.PlainText)
        self.notice.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.notice.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.dismiss = QToolButton()
        self.dismiss.setText("✕")
        self.dismiss.setAutoRaise(True)
        self.dismiss.setAccessibleName("Dismiss the message")
        self.progress = QProgressBar()
        self.progress.setRange(0, 100)
        self.progress.setFixedWidth(160)
        self.progress.setAccessibleName("Computing")
        self.cancel = QToolButton()
        self.cancel.setText("Cancel")
        self.rows = QToolButton()
        self.rows.setAutoRaise(True)
        self.rows.setText("Stop")
        self.rows.setAccessibleName("Stop computing rows")
        self.rows.setToolTip("What is not computed yet stays as it is; what comes into sight is computed all the same")
        # progress comes and goes within: the panels above keep their size
        self.setFixedHeight(HEIGHT)
        row = QHBoxLayout(self)
        row.setContentsMargins(4, 0, 4, 0)
        row.setSpacing(8)
        row.addWidget(self.facts)
        row.addWidget(self.rows)
        row.addWidget(self.notice, 1)
        row.addWidget(self.dismiss)
        row.addWidget(self.progress)
        row.addWidget(self.cancel)
        for field in (self.rows, self.dismiss, self.progress, self.cancel):
            field.hide()
        self._patience = QTimer(self)
        self._patience.setSingleShot(True)
        self._patience.setInterval(PATIENCE_MS)
        self._patience.timeout.connect(self._show_progress)
        self._fade = QTimer(self)
        self._fade.setSingleShot(True)
        self._fade.setInterval(INFO_MS)
        self._fade.timeout.connect(self._clear)
        self.dismiss.clicked.connect(self._clear)
        self.cancel.clicked.connect(context.feed.cancel)
        self.rows.clicked.connect(self._stop_or_go_on)
        context.feed.busy_changed.connect(self._on_busy)
        context.feed.progressed.connect(lambda part: self.progress.setValue(int(part * 100)))
        context.feed.passed.connect(self._on_pass)
        context.feed.traced.connect(self._on_traced)
        context.feed.answered.connect(self._on_answer)
        context.feed.failed.connect(self._on_failure)
        context.notices.said.connect(self._on_notice)
        context.notices.withdrawn.connect(self._on_withdrawn)
        context.document.path_changed.connect(self._on_document)
        context.selection.head_changed.connect(lambda head: context.feed.ask(SLOT, RowSumsAsk(head)))
        context.feed.ask(SLOT, RowSumsAsk(context.selection.head))

    def _on_busy(self, busy: bool) -> None:
        if busy:
            self._patience.start()
        else:
            self._patience.stop()
            self.progress.hide()
            self.cancel.hide()

    def _show_progress(self) -> None:
        if self._context.feed.trace is not None:
            self.progress.setValue(0)
            self.progress.show()
            self.cancel.show()

    def _on_traced(self, trace: Trace) -> None:
        self.rows.hide()
        if self._notice is not None and self._notice.topic == "compute":
            self._clear()

    def _on_answer(self, slot: str, answer: object) -> None:
        trace = self._context.feed.trace
        if slot != SLOT or trace is None:
            return
        if isinstance(answer, RowSums):
            self._show_facts(trace, row_sum_fact(answer, trace.experiment))
        elif isinstance(answer, NotYet):
            self._on_pass(trace.part())
        elif answer is None:
            self._show_facts(trace, "weights hidden until the exercise is solved")

    def _on_pass(self, part: float) -> None:
        trace = self._context.feed.trace
        if trace is not None and part < 1:
            self._show_facts(trace, f"{int(part * 100)}% of the rows computed")
        self._offer_rows(part < 1)

    def _offer_rows(self, some_missing: bool) -> None:
        """Offer to stop the pass that is on its way, or to go on with it."""
        passing = self._context.feed.passing
        self.rows.setText("Stop" if passing else "Go on")
        self.rows.setAccessibleName("Stop computing rows" if passing else "Go on computing rows")
        self.rows.setVisible(some_missing)

    def _stop_or_go_on(self) -> None:
        feed = self._context.feed
        (feed.stop_pass if feed.passing else feed.resume_pass)()
        trace = feed.trace
        if trace is not None:
            self._on_pass(trace.part())

    def _show_facts(self, trace: Trace, last: str) -> None:
        self.facts.setText("  ·  ".join([*_facts(trace), last]))

    def _on_failure(self, error: BaseException) -> None:
        if self._context.feed.trace is None:
            self.facts.setText(nothing_yet(self._context.feed))
        if isinstance(error, NoTorch):
            return  # it has a bar of its own
        kept = " The last result is still shown." if self._context.feed.trace is not None else ""
        if isinstance(error, TooLarge):
            text = f"Too large to compute: {error}. Use fewer tokens or heads, or a lower precision."
        elif "OutOfMemory" in type(error).__name__ or isinstance(error, MemoryError):
            text = f"Out of memory on {self._context.document.device}. Use fewer tokens or heads."
        else:
            text = f"Could not compute: {error}."
        self._context.notices.error(text + kept, "compute")

    def _on_document(self) -> None:
        """What was refused was refused to the person at other work than this, or before it was saved."""
        if self._notice is not None and self._notice.kind is Kind.ERROR:
            self._clear()

    def _on_notice(self, notice: Notice) -> None:
        self._notice = notice
        theme = self._context.look.theme
        colour = {Kind.INFO: theme.muted, Kind.WARNING: theme.warning, Kind.ERROR: theme.error}[notice.kind]
        self.notice.setStyleSheet(f"color: {colour}")
        self.notice.setText(SIGNS[notice.kind] + notice.text)
        self.notice.setToolTip(notice.text)
        self.notice.setAccessibleName(notice.text)
        self.dismiss.show()
        if notice.kind is Kind.INFO:
            self._fade.start()
        else:
            self._fade.stop()
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self.notice, notice.text))

    def _on_withdrawn(self, topic: str) -> None:
        if self._notice is not None and self._notice.topic == topic:
            self._clear()

    def _clear(self) -> None:
        self._notice = None
        self._fade.stop()
        self.notice.clear()
        self.notice.setToolTip("")
        self.dismiss.hide()


def _facts(trace: Trace) -> list[str]:
    e = trace.experiment
    tokens = f"{e.n_q:,} token{'s' if e.n_q != 1 else ''}"
    if e.variant.is_cross:
        tokens += f" over {e.n_k:,} keys"
    if e.has_queries:
        sizes = f"d {e.d_model}" if e.weights is not None else f"d_k {e.d_k}"
        sizes += f", {e.heads} heads of {e.d_k}" if e.heads > 1 else ""
    else:
        sizes = f"{e.heads} head{'s' if e.heads != 1 else ''}" + (f", d_v {e.d_v}" if e.has_values else "")
    device = "CPU" if trace.device == "cpu" else trace.device.upper()
    return [tokens, sizes, f"{e.precision} on {device}"]


def row_sum_fact(sums: RowSums, experiment: Experiment) -> str:
    """Whether the rows of N sum to 1, in words; what they sum to where they need not, and why they need not."""
    masked, off = int(sums.empty.sum()), int(sums.off.sum())
    parts = []
    if not sums.judged and masked < len(sums.sums):
        found = sums.sums[~sums.empty]
        low, high = (shown(float(end), 2) for end in (found.min(), found.max()))
        between = f"rows sum to {low}" if low == high else f"rows sum to {low} to {high}"
        parts.append(f"{between} ({_unjudged(experiment)})")
    elif off:
        worst = int(abs(sums.sums - 1).argmax())
        parts.append(
            f"{off} row{'s' if off > 1 else ''} do not sum to 1 (row {worst + 1}: {shown(sums.sums[worst], 6)})"
        )
    elif masked < len(sums.sums):
        apart = float(abs(sums.sums[~sums.empty] - 1).max())
        # of few bits they do so only nearly, and the sums beside the rows show it
        nearly = f" within {ceil(apart * 1000) / 1000:g}" if apart >= SHOWN else ""
        parts.append(("other rows" if masked else "rows") + f" sum to 1{nearly}")
    if masked:
        parts.insert(0, f"⚠ {masked} row{'s' if masked > 1 else ''} fully masked")
    return ", ".join(parts)


def _unjudged(experiment: Experiment) -> str:
    """Why rows need not sum to 1."""
    scoring = experiment.scoring
    if not experiment.has_scores:
        return "weights as given"
    if scoring.sums_to_one:
        return "masked in some heads"
    return scoring.normaliser.name if scoring.sinks is None else f"{scoring.normaliser.name} with sinks"
