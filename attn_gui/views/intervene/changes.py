"""Changes: what can be tried in the model at the selected layer, head and cell, as actions of menus and buttons."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu, QWidget

from attn_gui.control.intervening import Intervening
from attn_gui.model.errors import ExperimentError
from attn_gui.model.intervention import (
    Action,
    Change,
    ChangeMask,
    ChangeTemperature,
    Forbid,
    ReplaceBy,
    Site,
    SwitchOff,
    site_of,
)
from attn_gui.model.layers import stack_of
from attn_gui.model.masks import Combined, MaskRule, choosable
from attn_gui.model.starting import started
from attn_gui.views.context import Context
from attn_gui.views.intervene.words import REPLACEMENTS, layer_name, pair_words, text_of, why_idle

HEAD, LAYER, MODEL = SCOPES = "head", "layer", "model"
TOPIC = "intervene"


class Changes(QObject):
    """``wanted`` comes when one was made from outside the drawer, which then is to be seen.

    scope: whether the next change is for the selected head, for its layer, or for every layer like it.
    """

    wanted = Signal()
    scope_changed = Signal()

    def __init__(self, context: Context, intervening: Intervening, parent: QWidget) -> None:
        super().__init__(parent)
        self._context = context
        self.intervening = intervening
        self.scope = HEAD
        self.off = self._action("Switch &off", "Ctrl+Shift+H", "Have the head give nothing", self._switch_off)
        self.forbid = self._action("&Forbid the pair", "Ctrl+Shift+B", "Take this key from this query", self._forbid)
        self.replace = QMenu("&Replace by", parent)
        for by, (text, _) in REPLACEMENTS.items():
            self.replace.addAction(text).triggered.connect(lambda checked=False, by=by: self._replace(by))
        self.masks = QMenu("Other &mask", parent)
        for rule in _rules():
            self.masks.addAction(rule.title).triggered.connect(lambda checked=False, rule=rule: self._mask(rule))
        self.clear = self._action("&Clear changes", "", "Have the model as it is", intervening.clear)
        self.menu = QMenu("&Intervene in the model", parent)
        self.menu.addActions([self.off, self.replace.menuAction(), self.forbid, self.masks.menuAction()])
        self.menu.addSeparator()
        self.menu.addAction(self.clear)
        context.selection.head_changed.connect(lambda head: self.refresh())
        context.selection.cell_changed.connect(lambda query, key: self.refresh())
        context.document.changed.connect(lambda before, after: self.refresh())
        intervening.changed.connect(self.refresh)
        self.refresh()

    @property
    def possible(self) -> bool:
        """Whether what is shown is a layer of a captured model."""
        session = self._context.document.session
        return session.model is not None and site_of(session, session.current) is not None

    @property
    def temperature(self) -> float:
        """What the last change that speaks of all of the scope divides the scale by; 1 where there is none."""
        if not self.possible:
            return 1.0
        meant = self._action_of(ChangeTemperature(1.0))
        for each in reversed(self.intervening.actions):
            of_heads = each.heads is None or (meant.heads is not None and {*meant.heads} <= {*each.heads})
            of_all = of_heads and {*meant.sites} <= {*each.sites} and each.text is None
            if isinstance(each.change, ChangeTemperature) and of_all:
                return each.change.temperature
        return 1.0

    def set_scope(self, scope: str) -> None:
        """Have the next changes for the head, the layer or the model."""
        self.scope = scope
        self.refresh()
        self.scope_changed.emit()

    def scope_words(self) -> dict[str, str]:
        """What each scope stands for at present."""
        session, head = self._context.document.session, self._context.selection.head
        one = "Every head" if head == "mean" else f"Head {head + 1}"
        return {HEAD: one, LAYER: layer_name(session, session.current), MODEL: "Every layer"}

    def set_temperature(self, temperature: float) -> None:
        """Divide the scale by ``temperature`` where the scope says; raises ExperimentError."""
        self._add(ChangeTemperature(temperature))

    def refresh(self) -> None:
        """Enable what is possible, and name the pair."""
        possible = self.possible
        for action in (self.off, self.forbid, self.replace.menuAction(), self.masks.menuAction()):
            action.setEnabled(possible)
        self.menu.setTitle("&Intervene in the model" if possible else "&Intervene  (open a model first)")
        self.menu.menuAction().setEnabled(possible)
        self.clear.setEnabled(bool(self.intervening.actions))
        if possible:
            e, selection = self._context.document.experiment, self._context.selection
            query, key = min(selection.query, e.n_q - 1), min(selection.key, e.n_k - 1)
            tip = f"Take this key from this query: {pair_words(e, query, key)}"
            if why := self._why_idle(Forbid(query, key)):
                tip += f" ({why})"
            self.forbid.setStatusTip(tip)
            self.forbid.setToolTip(tip)

    def _switch_off(self) -> None:
        self._add(SwitchOff())

    def _forbid(self) -> None:
        selection = self._context.selection
        change = Forbid(selection.query, selection.key)
        if self.possible and (why := self._why_idle(change)):
            pair = pair_words(self._context.document.experiment, change.query, change.key)
            self._context.notices.info(f"{pair} is {why}", TOPIC)
        self._add(change, of_text=True)

    def _replace(self, by: str) -> None:
        if by == "shown":
            # of another layer something else is shown
            self._add(ReplaceBy("shown", self._context.document.experiment), of_text=True, here=True)
        else:
            self._add(ReplaceBy("mean" if by == "mean" else "even"))

    def _mask(self, rule: type[MaskRule]) -> None:
        self._add(ChangeMask(started(rule, self._context.document.experiment)))

    def _why_idle(self, change: Forbid) -> str:
        action = self._action_of(change, of_text=True)
        return why_idle(action, self._context.document.session, self.intervening.actions)

    def _action_of(self, change: Change, *, of_text: bool = False, here: bool = False) -> Action:
        session, head = self._context.document.session, self._context.selection.head
        heads = (head,) if self.scope == HEAD and isinstance(head, int) else None
        places = [session.current] if here or self.scope != MODEL else stack_of(session) or [session.current]
        found = [site_of(session, index) for index in places]
        sites: tuple[Site, ...] = tuple(site for site in found if site is not None)
        return Action(sites, change, heads, text_of(session, session.current) if of_text else None)

    def _add(self, change: Change, *, of_text: bool = False, here: bool = False) -> None:
        if not self.possible:
            return
        try:
            self.intervening.add(self._action_of(change, of_text=of_text, here=here))
        except ExperimentError as error:
            self._context.notices.error(str(error), TOPIC)
        self.wanted.emit()

    def _action(self, text: str, keys: str, tip: str, do: Callable[[], object]) -> QAction:
        action = QAction(text, self)
        if keys:
            action.setShortcut(QKeySequence(keys))
        action.setStatusTip(tip)
        action.setToolTip(tip)
        action.triggered.connect(lambda: do())
        return action


def _rules() -> list[type[MaskRule]]:
    """Rules of places alone: the model knows nothing of the window's columns."""
    return [rule for rule in choosable() if rule is not Combined and not rule.columns]
