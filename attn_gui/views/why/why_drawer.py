"""WhyDrawer: every step to one number, each of its operands a way back to where it came from."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QFontMetrics, QGuiApplication, QHideEvent, QKeySequence
from PySide6.QtWidgets import QLabel, QMenu, QToolButton, QWidget

from attn_gui.files.derivation_text import latex, markdown, plain_text
from attn_gui.files.derivation_text.plain import headed
from attn_gui.model.answers import NotYet
from attn_gui.model.derivation import Cell, Derivation, DerivationAsk, Operand, Parameter
from attn_gui.model.stage_shape import stages_of
from attn_gui.views.context import Context
from attn_gui.views.cut_text import beginning
from attn_gui.views.drawers.drawer import Drawer
from attn_gui.views.look import number_font
from attn_gui.views.why.steps_view import StepsView
from attn_gui.views.why.trail import Trail
from attn_gui.views.why.typeset import PADDING

SLOT = "why.steps"
COPIES: dict[str, tuple[str, Callable[[Derivation, int], str]]] = {
    "text": ("&Text", plain_text),
    "markdown": ("&Markdown", markdown),
    "latex": ("&LaTeX", latex),
}


class WhyDrawer(Drawer):
    """Follows the selected cell; a cell of another stage is shown when it is asked for.

    show_parameter: shows where a parameter is set.
    """

    title = "Why"

    def __init__(
        self, context: Context, show_parameter: Callable[[Parameter], None], parent: QWidget | None = None
    ) -> None:
        super().__init__(context, parent)
        self._show_parameter = show_parameter
        self.trail = Trail(context.selection, context.arranging)
        self.steps = StepsView(context)
        self.setFocusProxy(self.steps)
        self.back = QAction("&Back", self)
        self.back.setShortcut(QKeySequence("Alt+Left"))
        self.back.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        self.back.setToolTip("Back to the number before (Alt+Left)")
        self.back.triggered.connect(self._go_back)
        self.addAction(self.back)
        back = QToolButton()
        back.setDefaultAction(self.back)
        self.told, self.pointed = QLabel(), QLabel()
        self.told.setObjectName("title")
        self.told.setTextFormat(Qt.TextFormat.PlainText)
        self.pointed.setObjectName("muted")
        self.pointed.setTextFormat(Qt.TextFormat.PlainText)
        self.copy_button = self._copy_button()
        self.fill(back, self.copy_button, self.told, self.pointed, body=self.steps)
        self.row_height = QFontMetrics(number_font()).lineSpacing() + 2 * PADDING
        self.empty.say("Starting torch", "The steps fill in as soon as it is there.")
        self.steps.followed.connect(self._follow)
        self.steps.pointed.connect(self.pointed.setText)
        selection = context.selection
        selection.cell_changed.connect(lambda query, key: self._follow_selection())
        selection.head_changed.connect(lambda head: self._follow_selection())
        selection.why_asked.connect(self.go)
        context.arranging.changed.connect(self._on_arranged)
        context.document.changed.connect(lambda before, after: self._ask())
        context.feed.answered.connect(self._on_answer)
        context.settings.changed.connect(lambda name: self._tell())
        if selection.why is not None:
            self.go(selection.why)
        self._tell()

    def go(self, cell: Cell | DerivationAsk) -> None:
        """Show the derivation of ``cell``."""
        self.trail.go(cell)
        self._ask()

    def refresh(self) -> None:
        self.show_empty(self.steps.derivation is None)
        self._ask()

    def body_height(self, width: int) -> int:
        return self.steps.needed_height(width)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        # when it is opened again, numbers of an older trace would be shown for a moment
        self.steps.forget()

    def copy(self, form: str) -> None:
        """Put the derivation on the clipboard as ``text``, ``markdown`` or ``latex``."""
        derivation = self.steps.derivation
        if derivation is not None:
            QGuiApplication.clipboard().setText(COPIES[form][1](derivation, self.context.settings.decimals))

    def _copy_button(self) -> QToolButton:
        button = QToolButton()
        button.setText("Copy…")
        button.setToolTip("Copy every step")
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(button)
        for form, (text, _) in COPIES.items():
            menu.addAction(text).triggered.connect(lambda checked=False, form=form: self.copy(form))
        button.setMenu(menu)
        return button

    def _ask(self) -> None:
        e = self.context.document.experiment
        if self.trail.here.stage not in stages_of(e):
            self.trail.follow_selection()
        self.back.setEnabled(self.trail.can_go_back)
        self.keep_asks({SLOT: self.trail.here})

    def _on_answer(self, slot: str, answer: object) -> None:
        if slot != SLOT:
            return
        if isinstance(answer, Derivation):
            self.steps.show_derivation(answer)
        else:
            self.steps.forget()
            if isinstance(answer, NotYet):
                self.empty.say("Not yet", "An output takes the weights of every row, which are on their way.")
            else:
                self.empty.say("Hidden", "The exercise hides this number until it is checked.")
        self.show_empty(self.steps.derivation is None)
        self._tell()
        self.updateGeometry()

    def _tell(self) -> None:
        derivation = self.steps.derivation
        self.copy_button.setEnabled(derivation is not None)
        self.told.setText("" if derivation is None else beginning(headed(derivation, self.context.settings.decimals)))
        self.pointed.setText("")

    def _follow(self, operand: Operand) -> None:
        if isinstance(operand.source, Cell):
            self.go(operand.source)
        elif operand.source is not None:
            self._show_parameter(operand.source)

    def _go_back(self) -> None:
        self.trail.back()
        self._ask()

    def _on_arranged(self) -> None:
        # where one has gone to a number of one's own, one stays there
        if not self.trail.can_go_back:
            self._follow_selection()

    def _follow_selection(self) -> None:
        if not self.trail.moving:
            self.trail.follow_selection()
            self._ask()
