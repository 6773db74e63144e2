"""Buttons: letters for those that Qt names, which on some systems it leaves out, and those that look like links."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QDialogButtonBox, QMessageBox, QToolButton

from attn_gui.views.theme import Theme

TEXTS = {
    "Ok": "&OK",
    "Save": "&Save",
    "Discard": "&Discard",
    "Cancel": "&Cancel",
    "Close": "&Close",
}


def give_letters(box: QDialogButtonBox | QMessageBox) -> None:
    """Have every standard button of ``box`` answer to Alt and a letter."""
    for button in box.buttons():
        text = TEXTS.get(str(box.standardButton(button).name))
        if text is not None and "&" not in button.text():
            button.setText(text)


def link_style(theme: Theme) -> str:
    """The style sheet of tool buttons that look like links."""
    return (
        f"QToolButton {{ color: {theme.accent}; background: transparent; border: none; padding: 0; }}"
        "QToolButton:hover, QToolButton:focus { text-decoration: underline; }"
    )


def arrow_button(action: QAction, arrow: Qt.ArrowType) -> QToolButton:
    """A small button that shows ``arrow`` and does what ``action`` does."""
    button = QToolButton()
    button.setDefaultAction(action)
    button.setArrowType(arrow)
    button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonIconOnly)
    button.setAutoRaise(True)
    button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    button.setAccessibleName(action.text())
    return button
