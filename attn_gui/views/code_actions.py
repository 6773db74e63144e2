"""CodeActions: what is on screen as code, for the menus."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QFileDialog, QMenu, QWidget

from attn_gui.views.context import Context

if TYPE_CHECKING:
    from attn_gui.control.code_out import CodeOut

COPIES = {
    "pytorch": ("&PyTorch", "a PyTorch script that prints the same numbers"),
    "numpy": ("&NumPy", "a NumPy script that prints the same numbers"),
    "latex": ("&LaTeX", "LaTeX matrices"),
}
FILTERS = {"pytorch": "PyTorch script (*.py)", "numpy": "NumPy script (*.py)", "latex": "LaTeX (*.tex)"}
SCRIPT, DOCUMENT = ".py", ".tex"


class CodeActions:
    """``menu`` copies as PyTorch, NumPy or LaTeX; ``save`` asks where and in which form, and writes a file."""

    def __init__(self, context: Context, parent: QWidget) -> None:
        self._context = context
        self._parent = parent
        self._made: CodeOut | None = None
        self.menu = QMenu("Copy &as", parent)
        for form, (text, what) in COPIES.items():
            action = self.menu.addAction(text)
            action.setStatusTip(f"Put what is on screen on the clipboard as {what}")
            action.triggered.connect(lambda checked=False, form=form: self._out().copy(form))
        self.save = QAction("Save scr&ipt…", parent)
        self.save.setStatusTip("Write what is on screen as a PyTorch or NumPy script, or as LaTeX")
        self.save.triggered.connect(self._choose_and_save)

    def _out(self) -> CodeOut:
        if self._made is None:
            # imported when first needed: the first window does not wait for it
            from attn_gui.control.code_out import CodeOut

            c = self._context
            self._made = CodeOut(c.worker, c.feed, c.settings, c.notices, self._parent)
        return self._made

    def _choose_and_save(self) -> None:
        from attn_gui.views.export_dialog import file_name_of

        name = file_name_of(self._context.document.session.named.name)
        start = self._context.settings.export_folder / f"{name}{SCRIPT}"
        chosen, kind = QFileDialog.getSaveFileName(
            self._parent, "Save as a script", str(start), ";;".join(FILTERS.values())
        )
        if not chosen:
            return
        path = Path(chosen)
        form = next((form for form, text in FILTERS.items() if text == kind), "pytorch")
        # what is typed says more than the kind that stood there
        if path.suffix == DOCUMENT:
            form = "latex"
        ending = DOCUMENT if form == "latex" else SCRIPT
        self._out().save(form, path if path.suffix == ending else path.with_name(path.name + ending))
