"""CombinePanel: the rules that make up the mask, one below another, joined by and, or and not."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QToolButton, QVBoxLayout, QWidget

from attn_gui.model.masks import Causal, Combined, MaskRule, SlidingWindow, Term, choosable
from attn_gui.model.starting import started
from attn_gui.views.context import Context
from attn_gui.views.head_switch import HeadSwitch
from attn_gui.views.heatmap.words import head_name
from attn_gui.views.masks.cells import LARGEST, corner
from attn_gui.views.masks.pattern_view import PatternView
from attn_gui.views.masks.term_row import TermRow
from attn_gui.views.masks.words import described

PATTERN = 122
TEXT_WIDTH = 240
USUAL: tuple[type[MaskRule], ...] = (Causal, SlidingWindow)


class CombinePanel(QFrame):
    """A panel that ``button`` drops down; each change in it is one undo step. A single rule left is that rule."""

    def __init__(self, context: Context, button: QToolButton) -> None:
        # a popup needs a window that it belongs to: Wayland places it by nothing else
        super().__init__(button, Qt.WindowType.Popup)
        self._context = context
        self._button = button
        self.setObjectName("panel")
        self.setAccessibleName("Rules of the mask")
        # a click on the button closes the panel and does not open it again
        self.setAttribute(Qt.WidgetAttribute.WA_NoMouseReplay)
        self.rows: list[TermRow] = []
        self.add = QToolButton()
        self.add.setText("+ Add rule")
        self.add.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.text = QLabel()
        self.text.setWordWrap(True)
        self.text.setMinimumWidth(TEXT_WIDTH)
        self.hint = QLabel("Read from the first to the last. Painted cells stay on top.")
        self.hint.setObjectName("muted")
        self.pattern = PatternView(context.look, PATTERN)
        self.caption = QLabel()
        self.caption.setObjectName("muted")
        self.heads = HeadSwitch(context)
        self._list = QVBoxLayout()
        self._list.setSpacing(8)
        self._lay_out()
        self.add.clicked.connect(self._add)
        context.document.changed.connect(lambda before, after: self._refresh() if self.isVisible() else None)
        context.selection.head_changed.connect(lambda head: self._refresh() if self.isVisible() else None)

    @property
    def terms(self) -> tuple[Term, ...]:
        """The rules of the mask, none where there is no mask but what is painted."""
        rule = self._context.document.experiment.rule
        if isinstance(rule, Combined):
            return rule.terms
        return () if rule.kind == MaskRule.kind else (Term(rule),)

    def open(self) -> None:
        """Drop down under the button, within the screen."""
        self._refresh()
        self.adjustSize()
        self._place()
        self.show()
        (self.rows[0].kind if self.terms else self.add).setFocus(Qt.FocusReason.PopupFocusReason)

    def event(self, event: QEvent) -> bool:
        done = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest and self.isVisible():
            self.adjustSize()
            self._place()
        return done

    def _place(self) -> None:
        corner = self._button.mapToGlobal(QPoint(0, self._button.height() + 4))
        screen = self._button.screen().availableGeometry()
        corner.setX(max(screen.left(), min(corner.x(), screen.right() - self.width())))
        corner.setY(max(screen.top(), min(corner.y(), screen.bottom() - self.height())))
        self.move(corner)

    def _lay_out(self) -> None:
        grid = QGridLayout(self)
        grid.setContentsMargins(16, 12, 16, 12)
        grid.setHorizontalSpacing(24)
        grid.setVerticalSpacing(8)
        left = QVBoxLayout()
        left.setSpacing(8)
        left.addWidget(self.text)
        left.addLayout(self._list)
        left.addWidget(self.add, 0, Qt.AlignmentFlag.AlignLeft)
        left.addStretch(1)
        left.addWidget(self.hint)
        right = QVBoxLayout()
        right.setSpacing(4)
        right.addWidget(self.pattern)
        right.addWidget(self.caption)
        right.addWidget(self.heads)
        right.addStretch(1)
        grid.addLayout(left, 0, 0)
        grid.addLayout(right, 0, 1)
        grid.setColumnStretch(0, 1)

    def _refresh(self) -> None:
        e, head = self._context.document.experiment, self._context.selection.head
        terms = self.terms
        while len(self.rows) < len(terms):
            self._append_row()
        for place, row in enumerate(self.rows):
            if place < len(terms):
                row.show_term(terms[place], e, last=place == len(terms) - 1)
            else:
                row.withdraw()
        words = described(e.rule)
        self.text.setText(words[:1].upper() + words[1:] if terms else "No rule: every query may attend to every key.")
        name = head_name(head) if e.heads > 1 else "the mask"
        small = max(e.n_q, e.n_k) <= LARGEST
        self.caption.setText(f"{name[:1].upper()}{name[1:]}" if small else f"{name}: first {LARGEST} tokens")
        self.pattern.show_cells(corner(e, head), f"Pattern of {name}")

    def _append_row(self) -> None:
        place = len(self.rows)
        row = TermRow(self._context, place, self._change)
        row.up.clicked.connect(lambda: self._move(place, -1))
        row.down.clicked.connect(lambda: self._move(place, 1))
        row.remove.clicked.connect(lambda: self._remove(place))
        self._list.addWidget(row)
        before = self.rows[-1].remove if self.rows else None
        self.rows.append(row)
        last: QWidget | None = before
        for part in (row.join, row.negated, row.kind, row.heads, row.up, row.down, row.remove, self.add):
            if last is not None:
                QWidget.setTabOrder(last, part)
            last = part

    def _add(self) -> None:
        terms = self.terms
        used = {term.rule.kind for term in terms}
        # first those that do something whatever the tokens are
        rules = [*USUAL, *(rule for rule in choosable() if rule is not MaskRule)]
        fresh = next((rule for rule in rules if rule.kind not in used), rules[0])
        self._set((*terms, Term(started(fresh, self._context.document.experiment))), "Mask: add rule")
        self.rows[len(terms)].kind.setFocus(Qt.FocusReason.OtherFocusReason)

    def _change(self, place: int, before: Term, term: Term, label: str, merge: str | None) -> None:
        terms = list(self.terms)
        # what a row says is about the rule that it showed
        if place < len(terms) and terms[place].rule is before.rule:
            terms[place] = term
            self._set(tuple(terms), label, merge)

    def _move(self, place: int, by: int) -> None:
        terms = list(self.terms)
        if not (place < len(terms) and 0 <= place + by < len(terms)):
            return
        terms.insert(place + by, terms.pop(place))
        self._set(tuple(terms), "Mask: move rule")
        row = self.rows[place + by]
        button = row.up if by < 0 else row.down
        (button if button.isEnabled() else row.down if by < 0 else row.up).setFocus(Qt.FocusReason.OtherFocusReason)

    def _remove(self, place: int) -> None:
        terms = self.terms
        if place >= len(terms):
            return
        self._set(terms[:place] + terms[place + 1 :], "Mask: remove rule")
        left = len(terms) - 1
        (self.rows[min(place, left - 1)].remove if left else self.add).setFocus(Qt.FocusReason.OtherFocusReason)

    def _set(self, terms: tuple[Term, ...], label: str, merge: str | None = None) -> None:
        e = self._context.document.experiment
        self._context.document.apply(label, replace(e, rule=_joined(terms)), merge)


def _joined(terms: tuple[Term, ...]) -> MaskRule:
    """The rule that ``terms`` make, the simplest that does."""
    if not terms:
        return MaskRule()
    only = terms[0]
    plain = len(terms) == 1 and not only.negated and only.heads is None
    return only.rule if plain else Combined(terms)
