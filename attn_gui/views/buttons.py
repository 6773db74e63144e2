"""Letters for the buttons that Qt names: on some systems it leaves them out."""

from __future__ import annotations

from PySide6.QtWidgets import QDialogButtonBox, QMessageBox

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
