"""ArrangingActions: what of the tokens the heatmaps draw, for the View menu."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

from attn_gui.model.arranging import has_pieces, has_special, why_not
from attn_gui.views.context import Context

HIDE_TEXT, MERGE_TEXT = "&Hide special tokens", "&Merge sub-words"


class ArrangingActions:
    """Two choices, each with the reason where the present text leaves nothing to choose."""

    def __init__(self, context: Context, parent: QWidget) -> None:
        self._context = context
        self.hide = _choice(parent, HIDE_TEXT, "Leave [CLS], <s> and the like out of the heatmaps; no number changes")
        self.merge = _choice(parent, MERGE_TEXT, "One row and one column for the pieces of a word; no number changes")
        self.hide.triggered.connect(lambda on: self._choose(hide_special=on))
        self.merge.triggered.connect(lambda on: self._choose(merge_words=on))

    def put_into(self, menu: QMenu) -> None:
        """Stand in ``menu``, and say what can be chosen when it is opened."""
        menu.addActions([self.hide, self.merge])
        menu.aboutToShow.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Check what is in force, and disable what there is nothing of, with the reason."""
        e, arrangement = self._context.document.experiment, self._context.arranging.arrangement
        too_long = why_not(e)
        for action, text, on, there, nothing in (
            (self.hide, HIDE_TEXT, arrangement.hide_special, has_special, "there are none"),
            (self.merge, MERGE_TEXT, arrangement.merge_words, has_pieces, "no word has several pieces"),
        ):
            reason = too_long or (None if there(e) else nothing)
            action.setText(text if reason is None else f"{text}  ({reason})")
            # what is in force already, for another text, can be given up
            action.setEnabled(reason is None or on)
            action.setChecked(on)

    def _choose(self, **changes: bool) -> None:
        arranging = self._context.arranging
        arranging.choose(replace(arranging.arrangement, **changes))


def _choice(parent: QWidget, text: str, tip: str) -> QAction:
    action = QAction(text, parent)
    action.setCheckable(True)
    action.setStatusTip(tip)
    return action
