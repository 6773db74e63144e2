"""The mask: a dropdown of rules, the parameters of the one chosen, more rules beside it, and painting on top."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QHBoxLayout, QToolButton, QWidget

from attn_gui.model.acting import idle
from attn_gui.model.masks import Combined, MaskRule
from attn_gui.model.painted import Painted
from attn_gui.model.session import Session
from attn_gui.model.starting import started
from attn_gui.views.context import Context
from attn_gui.views.masks.cells import idle_parameters
from attn_gui.views.masks.pattern import by_hand
from attn_gui.views.masks.rule_box import Extra, RuleBox
from attn_gui.views.masks.words import described
from attn_gui.views.part_fields import PartFields

if TYPE_CHECKING:
    from attn_gui.views.masks.combine_panel import CombinePanel
    from attn_gui.views.masks.import_dialog import ImportDialog

CUSTOM, FROM_FILE = "custom", "file"
EXTRA: list[Extra] = [
    (CUSTOM, "Custom", "Click or drag over cells of A", by_hand()),
    (FROM_FILE, "From a file…", "Flags, or numbers that are added to the scores (.npy, .npz, .csv)", None),
]


class MaskChoice(QWidget):
    """Chooses experiment.rule, its parameters, and whether clicks on A paint the mask."""

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._panel: CombinePanel | None = None
        self._dialog: ImportDialog | None = None
        self.kind = RuleBox(context.look, "Mask", extra=EXTRA)
        self.fields = PartFields(context.document.experiment.rule, self._take, across=True, after=self.kind)
        self.combine = QToolButton()
        self.combine.setText("+ rule")
        self.combine.setAccessibleName("Combine rules")
        self.combine.setToolTip("Join several rules by and, or and not, for all heads or some")
        self.paint = QToolButton()
        self.paint.setText("Paint")
        self.paint.setCheckable(True)
        self.paint.setToolTip("Click or drag over cells of A to mask them or to allow them again (P). Escape ends it")
        self.clear = QToolButton()
        self.clear.setText("Clear painted")
        self._stop = QShortcut(QKeySequence(Qt.Key.Key_Escape), self)
        self._stop.activated.connect(lambda: context.selection.set_painting(False))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        for field in (self.kind, self.fields, self.combine, self.paint, self.clear):
            row.addWidget(field)
        self.kind.chosen.connect(self.choose)
        self.combine.clicked.connect(self.open_panel)
        self.paint.toggled.connect(self.set_painting)
        self.clear.clicked.connect(self.clear_painted)
        context.selection.painting_changed.connect(self._refresh)
        context.document.changed.connect(self._on_changed)
        self._refresh()

    def choose(self, what: str) -> None:
        """The rule of a kind in place of the present one, painting (CUSTOM), or a mask from a file (FROM_FILE)."""
        if self._is_idle():
            return
        if what == FROM_FILE:
            self._refresh()
            self._open_dialog()
            return
        self._context.selection.set_painting(what == CUSTOM)
        if what != CUSTOM:
            self._choose_rule(MaskRule.of_kind(what))
        self._refresh()

    def set_painting(self, on: bool) -> None:
        """Whether clicks on A paint the mask, if one acts at all."""
        selection = self._context.selection
        if on and self._is_idle():
            selection.painting_changed.emit(False)  # to whoever showed it as chosen
        else:
            selection.set_painting(on)

    def clear_painted(self) -> None:
        """Take away what was painted by hand."""
        e = self._context.document.experiment
        if e.painted:
            self._context.document.apply("Clear painted mask", replace(e, painted=Painted()))

    def open_panel(self) -> None:
        """Show the rules that are combined, under the button."""
        if self._is_idle():
            return
        if self._panel is None:
            from attn_gui.views.masks.combine_panel import CombinePanel

            self._panel = CombinePanel(self._context, self.combine)
        self._panel.open()

    def _is_idle(self) -> bool:
        """Whether no mask acts on the experiment; says so."""
        why_idle = idle(self._context.document.experiment, "mask")
        if why_idle:
            self._context.notices.info(why_idle, "mask")
            self._refresh()
        return bool(why_idle)

    def _on_changed(self, before: Session, after: Session) -> None:
        old, new = before.experiment, after.experiment
        if idle(new, "mask"):
            self._context.selection.set_painting(False)
        masks_alike = new.rule is old.rule and new.painted is old.painted
        # most edits concern no mask, and are to be painted at once
        if not masks_alike or old.has_scores != new.has_scores or idle_parameters(new) != idle_parameters(old):
            self._refresh()

    def _refresh(self) -> None:
        e = self._context.document.experiment
        rule, painting = e.rule, self._context.selection.painting
        why_idle = idle(e, "mask")
        custom = painting or bool(e.painted)
        words = described(rule)
        self.kind.show_rule(rule, words if isinstance(rule, Combined) else "")
        self.kind.name_extra(CUSTOM, "Custom" if rule.kind == "none" or not custom else f"{rule.title} + custom")
        if custom:
            self.kind.show_extra(CUSTOM)
        for control in (self.kind, self.combine, self.paint):
            control.setEnabled(not why_idle)
        self.kind.setToolTip(why_idle or (words if isinstance(rule, Combined) else rule.about))
        self.fields.show_part(rule, idle_parameters(e))
        with QSignalBlocker(self.paint):
            self.paint.setChecked(painting)
        # at other times the key is for whatever has the focus
        self._stop.setEnabled(painting)
        self.clear.setVisible(bool(e.painted))

    def _choose_rule(self, rule: type[MaskRule]) -> None:
        e = self._context.document.experiment
        if rule.kind == "none" and e.painted:
            self._context.document.apply("Mask: none", replace(e, rule=MaskRule(), painted=Painted()))
            self._context.notices.info("The cells masked by hand are gone too; undo brings them back", "mask")
        elif rule is Combined:
            self.open_panel()
        elif rule.kind != e.rule.kind:
            self._context.document.apply(f"Mask: {rule.title.lower()}", replace(e, rule=started(rule, e)))

    def _take(self, rule: MaskRule, label: str, merge: str | None) -> None:
        e = self._context.document.experiment
        if e.rule is self.fields.part:
            self._context.document.apply(label, replace(e, rule=rule), merge)

    def _open_dialog(self) -> None:
        if self._dialog is None:
            from attn_gui.views.masks.import_dialog import ImportDialog

            self._dialog = ImportDialog(self._context, self.window())
        self._dialog.open_file()
