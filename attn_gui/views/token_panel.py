"""TokenPanel: step 1 of the formula, the tokens X and, in cross-attention, the context X′."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtGui import QAction, QKeySequence, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QMenu, QStackedWidget, QToolButton, QVBoxLayout, QWidget

from attn_gui.model.edits import Side
from attn_gui.model.session import Session
from attn_gui.views.changed_block import changed_tokens
from attn_gui.views.context import Context
from attn_gui.views.drawers.segments import Segments
from attn_gui.views.edit_actions import EditActions
from attn_gui.views.foot_scroll import FootScroll
from attn_gui.views.panel import Panel
from attn_gui.views.token_actions import TokenActions
from attn_gui.views.token_table import TokenTable

if TYPE_CHECKING:
    from attn_gui.views.sentence_dialog import SentenceDialog

BUTTON_HEIGHT = 24
# pixels: a panel is never narrower, and is widened for its table's first columns up to the second
LEAST_WIDTHS = (240, 300)

# the tables and how they are called, in full and in short
SIDES: dict[Side, tuple[str, str]] = {"tokens": ("Queries X", "X"), "context": ("Context X′", "X′")}


class TokenPanel(Panel):
    """The token tables, of which one is in sight, and what can be done to them."""

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(context, "1", "Tokens", "X", parent)
        self.tables: dict[Side, TokenTable] = {
            "tokens": TokenTable(context, "tokens"),
            "context": TokenTable(context, "context"),
        }
        self.actions_on_tokens = TokenActions(context, list(self.tables.values()), self)
        self.edit_actions = EditActions(self.tables["tokens"])
        self.text_to_tokens = QAction("Te&xt → tokens…", self)
        self.text_to_tokens.setIconText("Text…")
        self.text_to_tokens.setShortcut(QKeySequence("Ctrl+T"))
        self.text_to_tokens.setStatusTip("Split a sentence into tokens with embeddings")
        self.text_to_tokens.setToolTip("Text → tokens: split a sentence into tokens with embeddings (Ctrl+T)")
        self.text_to_tokens.triggered.connect(self._open_dialog)
        self.addAction(self.text_to_tokens)
        self._dialog: SentenceDialog | None = None
        self._menus = [
            self._menu("To&kens", self.actions_on_tokens.for_tokens()),
            self._menu("Di&mensions", self.actions_on_tokens.for_dimensions()),
        ]
        self.switch = Segments(context.look, "Tokens shown", [(side, name) for side, (name, _) in SIDES.items()])
        for side, (name, _) in SIDES.items():
            self.switch.button(side).setToolTip(name)
        self.switch.chosen.connect(self._on_chosen)
        self.title_layout.addStretch(1)
        self.title_layout.addWidget(self.switch)
        self._stack = QStackedWidget()
        self._feet = QStackedWidget()
        for side, table in self.tables.items():
            self._stack.addWidget(table)
            self._feet.addWidget(_alone(FootScroll(table, context.look)))
            table.extra_actions += [None, self.text_to_tokens]
            table.setProperty("side", side)
        self.set_body(self._stack)
        self.set_footer(self._footer_widget())
        for table in self.tables.values():
            table.tokens.figures_changed.connect(self._keep_room)
        context.document.changed.connect(lambda before, after: self._refresh())
        context.document.revisited.connect(self._reveal)
        self._refresh()
        self._keep_room()

    @property
    def side(self) -> Side:
        """Which table is in sight."""
        return "context" if self._stack.currentIndex() == 1 else "tokens"

    @property
    def table(self) -> TokenTable:
        """The table in sight."""
        return self.tables[self.side]

    def show_side(self, side: Side) -> None:
        """Bring a table into sight."""
        for stack in (self._stack, self._feet):
            stack.setCurrentIndex(1 if side == "context" else 0)
        with QSignalBlocker(self.switch):
            self.switch.show_value(side)
        self._keep_room()
        self.actions_on_tokens.use(self.tables[side])

    def actions_for_menu(self) -> list[QAction | None]:
        """For the Edit menu: the clipboard of any table, tokens, dimensions, text."""
        menus = [menu.menuAction() for menu in self._menus]
        return [*self.edit_actions.actions(), None, *menus, None, self.text_to_tokens]

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._name_sides()

    def _name_sides(self) -> None:
        """Write the names of the switch in full where there is room for them beside the title."""
        for text in (0, 1):
            for side, names in SIDES.items():
                self.switch.button(side).setText(names[text])
            if self.switch.sizeHint().width() <= self.title_room:
                return

    def _menu(self, title: str, actions: list[QAction]) -> QMenu:
        menu = QMenu(title, self)
        menu.addActions(actions)
        return menu

    def _footer_widget(self) -> QWidget:
        footer = QWidget()
        column = QVBoxLayout(footer)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._feet)
        row = QHBoxLayout()
        row.setSpacing(4)
        for action in (self.actions_on_tokens.add_token, self.actions_on_tokens.add_dimension):
            row.addWidget(_button(action))
        row.addStretch(1)
        row.addWidget(_button(self.text_to_tokens))
        column.addLayout(row)
        return footer

    def _on_chosen(self, value: str) -> None:
        self.show_side("context" if value == "context" else "tokens")

    def _refresh(self) -> None:
        experiment = self.context.document.experiment
        cross = experiment.variant.is_cross
        if not cross and self.side == "context":
            self.show_side("tokens")
        self.switch.setVisible(cross)
        # the switch says what the formula says otherwise
        self.formula.setVisible(not cross)
        self._name_sides()
        given = experiment.weights is None
        self.text_to_tokens.setEnabled(not given)

    def _reveal(self, before: Session, after: Session) -> None:
        """Show what an undo or a redo changed."""
        for side, table in self.tables.items():
            old, new = getattr(before.experiment, side), getattr(after.experiment, side)
            if old is None or new is None or (side == "context" and not after.experiment.variant.is_cross):
                continue
            model = table.tokens
            block = changed_tokens(old, new, model.width + 1 if model.has_pad else None)
            if block is not None and block.right < model.columnCount():
                if side != self.side:
                    self.show_side(side)
                table.reveal(block)

    def _keep_room(self) -> None:
        self.table.keep_room(self, LEAST_WIDTHS)

    def _open_dialog(self) -> None:
        if self._dialog is None:
            from attn_gui.views.sentence_dialog import SentenceDialog

            self._dialog = SentenceDialog(self.context, self.window())
        self._dialog.open_for(self.side)


def _alone(widget: QWidget) -> QWidget:
    """A page with ``widget`` on it: a stack shows its pages whether or not they want to be seen."""
    page = QWidget()
    layout = QVBoxLayout(page)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.addWidget(widget)
    return page


def _button(action: QAction) -> QToolButton:
    button = QToolButton()
    button.setDefaultAction(action)
    button.setAutoRaise(True)
    button.setFixedHeight(BUTTON_HEIGHT)
    button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextOnly)
    button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    button.setAccessibleName(action.text().replace("&", ""))
    return button
