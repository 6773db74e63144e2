"""TokenPanel: step 1 of the formula, the tokens X and the other tables that keys and values come from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeySequence, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QMenu, QStackedWidget, QToolButton, QVBoxLayout, QWidget

from attn_gui.model.edits import Side
from attn_gui.model.experiment import Experiment
from attn_gui.model.session import Session
from attn_gui.model.view_choices import flag
from attn_gui.views.changed_block import changed_tokens
from attn_gui.views.context import Context
from attn_gui.views.drawers.segments import Segments
from attn_gui.views.edit_actions import EditActions
from attn_gui.views.foot_scroll import FootScroll
from attn_gui.views.panel import Panel
from attn_gui.views.token_actions import TokenActions
from attn_gui.views.token_columns import POSITIONS
from attn_gui.views.token_table import TokenTable

if TYPE_CHECKING:
    from attn_gui.views.sentence_dialog import SentenceDialog

BUTTON_HEIGHT = 24
# pixels: a panel is never narrower, and is widened for its table's first columns up to the second
LEAST_WIDTHS = (240, 300)
# and for what is known of each token besides, up to this, and to this share of all panels
WITH_COLUMNS = 400
SHARE = 0.31

# the tables, with their names in full and where there is little room
NAMES: dict[Side, tuple[str, str]] = {
    "tokens": ("Tokens X", "X"),
    "context": ("Context X′", "X′"),
    "values": ("Values", "V"),
    "past": ("Cache", "Cache"),
}
ABOUT: dict[Side, str] = {
    "tokens": "Tokens that ask, and in self-attention are asked",
    "context": "Tokens that are asked: keys and values come from them",
    "values": "Embeddings of their own that values come from; the tokens are those of the keys",
    "past": "Tokens before the present ones: others look at them, and they look no longer",
}


def sides_of(experiment: Experiment) -> list[Side]:
    """The token tables that ``experiment`` uses."""
    sides: list[Side] = ["tokens"]
    if experiment.variant.is_cross:
        sides.append("context")
    if experiment.values is not None:
        sides.append("values")
    return [*sides, "past"] if experiment.past is not None else sides


class TokenPanel(Panel):
    """The token tables, of which one is in sight, and what can be done to them."""

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(context, "1", "Tokens", "X", parent)
        # those that an experiment uses, made when it first does
        self.tables: dict[Side, TokenTable] = {}
        first = TokenTable(context, "tokens")
        self.actions_on_tokens = TokenActions(context, first, self)
        self.edit_actions = EditActions(first)
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
        self.show_positions = QAction("P&osition column", self)
        self.show_positions.setCheckable(True)
        self.show_positions.setStatusTip("Show where each token stands even while nothing depends on it")
        self.show_positions.triggered.connect(self._keep_positions)
        self._offered: list[Side] = []
        self.switch = Segments(context.look, "Tokens shown", [])
        self.switch.chosen.connect(self._on_chosen)
        self.title_layout.addStretch(1)
        self.title_layout.addWidget(self.switch)
        self.stack = QStackedWidget()
        self._feet = QStackedWidget()
        self._take(first)
        self.set_body(self.stack)
        self.set_footer(self._footer_widget())
        context.document.changed.connect(lambda before, after: self._refresh())
        context.document.revisited.connect(self._reveal)
        self._refresh()
        self._keep_room()

    @property
    def side(self) -> Side:
        """Which table is in sight."""
        return list(self.tables)[self.stack.currentIndex()]

    @property
    def table(self) -> TokenTable:
        """The table in sight."""
        return self.tables[self.side]

    def drive_bands(self, on: bool) -> None:
        """Whether this panel's height is what the shared rows have to fill."""
        self.tables["tokens"].follower.drive(on)

    def show_side(self, side: Side) -> None:
        """Bring a table into sight."""
        for stack in (self.stack, self._feet):
            stack.setCurrentIndex(list(self.tables).index(side))
        if side in self._offered:
            self.switch.show_value(side)
        self._keep_room()
        self.actions_on_tokens.use(self.tables[side])
        self._allow_text()

    def actions_for_menu(self) -> list[QAction | None]:
        """For the Edit menu: the clipboard of any table, tokens, dimensions, text."""
        menus = [menu.menuAction() for menu in self._menus]
        return [*self.edit_actions.actions(), None, *menus, None, self.text_to_tokens]

    def _take(self, table: TokenTable) -> None:
        """Have ``table`` as one of those that may be in sight."""
        self.tables[table.side] = table
        table.setProperty("side", table.side)
        self.stack.addWidget(table)
        self._feet.addWidget(_alone(FootScroll(table, self.context.look)))
        self.actions_on_tokens.serve(table)
        table.extra_actions += [None, self.text_to_tokens]
        table.tokens.figures_changed.connect(self._keep_room)
        # as Tab goes, they stand in one place
        QWidget.setTabOrder(self.tables["tokens"], table)

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

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._keep_room()
        self._name_sides()

    def _on_chosen(self, value: str) -> None:
        self.show_side(next(side for side in self._offered if side == value))

    def _refresh(self) -> None:
        session = self.context.document.session
        experiment = session.experiment
        offered = sides_of(experiment)
        if offered != self._offered:
            self._offered = offered
            for side in offered:
                if side not in self.tables:
                    self._take(TokenTable(self.context, side))
            self.switch.offer([(side, NAMES[side][0]) for side in offered])
            for side in offered:
                self.switch.button(side).setToolTip(ABOUT[side])
            self.show_side(self.side if self.side in offered else "tokens")
        several = len(offered) > 1
        self.switch.setVisible(several)
        # the switch says what the formula says otherwise; the names of three tables leave no room for a title
        self.formula.setVisible(not several)
        self.show_title(len(offered) < 3)
        self._name_sides()
        self._allow_text()
        self.show_positions.setChecked(flag(session, POSITIONS))

    def _name_sides(self) -> None:
        """Write the names of the switch in full where there is room for them."""
        cross = self.context.document.experiment.variant.is_cross
        for brief in (False, True):
            for side in self._offered:
                name = NAMES[side][brief]
                self.switch.button(side).setText("Queries X" if side == "tokens" and cross and not brief else name)
            if self.switch.sizeHint().width() <= self.title_room:
                return

    def _allow_text(self) -> None:
        projected = self.context.document.experiment.weights is not None
        self.text_to_tokens.setEnabled(projected and self.side in ("tokens", "context"))

    def _keep_positions(self, on: bool) -> None:
        self.context.document.keep_view(positions=on)
        for table in self.tables.values():
            table.tokens.show_view()

    def _reveal(self, before: Session, after: Session) -> None:
        """Show what an undo or a redo changed."""
        for side, table in self.tables.items():
            old, new = getattr(before.experiment, side), getattr(after.experiment, side)
            if old is None or new is None or side not in self._offered:
                continue
            model = table.tokens
            block = changed_tokens(old, new, model.columns)
            if block is not None and block.right < model.columnCount():
                if side != self.side:
                    self.show_side(side)
                table.reveal(block)

    def _keep_room(self) -> None:
        beside = self.parentWidget()
        room = WITH_COLUMNS if beside is None else min(WITH_COLUMNS, int(SHARE * beside.width()))
        most = max(LEAST_WIDTHS[1], min(LEAST_WIDTHS[1] + self.table.columns_width, room))
        self.table.keep_room(self, (LEAST_WIDTHS[0], most))

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
