"""Closing the window: what was asked for is finished first, unless the person says that it need not be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtWidgets import QMessageBox

from attn_gui.control.notices import Kind, Notice
from attn_gui.views import half_typed

if TYPE_CHECKING:
    from attn_gui.views.main_window import MainWindow

# a save takes less, unless a long computation stands before it
WAIT_MS = 3_000
ROLES = QMessageBox.ButtonRole


class Closing:
    """Whether the window may close now: first come saves that were asked for, then an export, then unsaved work."""

    def __init__(self, window: MainWindow) -> None:
        self._window = window
        self._worker = window.context.worker
        self._exports = window.services.exports
        self._asking = False
        self._after_export = False
        self._failures = 0
        window.context.notices.said.connect(self._on_notice)
        self._exports.finished.connect(lambda path: self._on_export_end(True))
        self._exports.failed.connect(lambda error: self._on_export_end(False))
        self._exports.cancelled.connect(lambda: self._on_export_end(False))

    def may_close(self) -> bool:
        """Ask what there is to ask; what goes on as agreed may close the window later by itself."""
        if self._asking or not half_typed.commit():
            return False
        self._asking = True
        try:
            return self._may_close()
        finally:
            self._asking = False

    def _may_close(self) -> bool:
        saving = self._end_of_saves()
        if saving == "stay" or not self._export_may_end():
            return False
        if saving == "done" and not self._window.may_discard():
            return False
        self._exports.cancel()
        return True

    def _end_of_saves(self) -> Literal["done", "given up", "stay"]:
        """Waits for saves. Why one failed is said in the window, which stays open for it."""
        if not self._worker.owing:
            return "done"
        self._failures = 0
        self._wait()
        if self._worker.owing:
            told = "A computation comes first. The window closes as soon as everything is saved."
            box = self._question("Still saving…", told)
            give_up = box.addButton("Close &without saving", ROLES.DestructiveRole)
            stay = box.addButton("&Keep open", ROLES.RejectRole)
            box.setDefaultButton(stay)
            box.setEscapeButton(stay)

            def look(key: str) -> None:
                if not self._worker.owing:
                    box.done(0)

            self._worker.ended.connect(look)
            box.exec()
            self._worker.ended.disconnect(look)
            pressed = box.clickedButton()
            box.deleteLater()
            if pressed == give_up:
                return "given up"
            if pressed == stay:
                return "stay"
        return "stay" if self._failures else "done"

    def _wait(self) -> None:
        """Wait a moment for saves, holding back what the person types."""
        loop = QEventLoop(self._window)
        timer = QTimer(loop)
        timer.setSingleShot(True)
        timer.timeout.connect(loop.quit)
        timer.start(WAIT_MS)

        def look(key: str) -> None:
            if not self._worker.owing:
                loop.quit()

        self._worker.ended.connect(look)
        loop.exec(QEventLoop.ProcessEventsFlag.ExcludeUserInputEvents)
        self._worker.ended.disconnect(look)
        timer.stop()
        loop.deleteLater()

    def _export_may_end(self) -> bool:
        """Whether no export runs, or the one that does is not wanted any more."""
        if not self._exports.running:
            return True
        box = self._question(
            "An export is running: wait for it or cancel it?", "What a cancelled export was writing is not kept."
        )
        wait = box.addButton("&Wait, then close", ROLES.AcceptRole)
        cancel = box.addButton("&Cancel it and close", ROLES.DestructiveRole)
        stay = box.addButton("&Keep open", ROLES.RejectRole)
        box.setDefaultButton(wait)
        box.setEscapeButton(stay)
        box.exec()
        pressed = box.clickedButton()
        box.deleteLater()
        self._after_export = pressed == wait and self._exports.running
        return pressed == cancel or (pressed == wait and not self._exports.running)

    def _question(self, text: str, more: str) -> QMessageBox:
        box = QMessageBox(self._window)
        box.setIcon(QMessageBox.Icon.Question)
        box.setText(text)
        box.setInformativeText(more)
        return box

    def _on_export_end(self, well: bool) -> None:
        close, self._after_export = self._after_export and well, False
        if close:
            self._window.close()

    def _on_notice(self, notice: Notice) -> None:
        if notice.kind is Kind.ERROR:
            self._failures += 1
