"""StepsView: the steps of a derivation, to read, to follow back and to copy."""

from __future__ import annotations

from PySide6.QtCore import QMimeData, QSize, Qt, QUrl, Signal
from PySide6.QtGui import QPalette, QTextCursor, QTextDocument
from PySide6.QtWidgets import QFrame, QTextBrowser, QWidget

from attn_gui.files.derivation_text import plain_text
from attn_gui.model.derivation import Derivation, Operand
from attn_gui.views.context import Context
from attn_gui.views.help.formula_object import CHARACTER, TYPE, FormulaObject, formula_of
from attn_gui.views.look import number_font
from attn_gui.views.why.typeset import typeset


class StepsView(QTextBrowser):
    """Tab goes from number to number, Enter follows one. ``pointed``: at what number the pointer or the focus is."""

    followed = Signal(object)
    pointed = Signal(str)

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._derivation: Derivation | None = None
        self._operands: list[Operand] = []
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setOpenLinks(False)
        self.setUndoRedoEnabled(False)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setBackgroundRole(QPalette.ColorRole.AlternateBase)
        self.viewport().setBackgroundRole(QPalette.ColorRole.AlternateBase)
        self.document().documentLayout().registerHandler(TYPE, FormulaObject(self))
        self.anchorClicked.connect(self._follow)
        self.highlighted.connect(self._point)
        context.look.changed.connect(self._set_anew)
        context.settings.changed.connect(self._on_setting)

    @property
    def derivation(self) -> Derivation | None:
        return self._derivation

    def show_derivation(self, derivation: Derivation) -> None:
        """Show the steps of ``derivation``; what is looked at stays in sight where it is the same cell as before."""
        same = self._derivation is not None and self._derivation.cell == derivation.cell
        down = self.verticalScrollBar().value() if same else 0
        self._derivation = derivation
        self._set_anew()
        self.verticalScrollBar().setValue(down)

    def forget(self) -> None:
        """Let go of the steps."""
        self._derivation, self._operands = None, []
        self.clear()
        self.setAccessibleName("")
        self.setAccessibleDescription("")

    def needed_height(self, width: int) -> int:
        """Pixels for every step where it is ``width`` wide."""
        document = self.document()
        before = document.textWidth()
        document.setTextWidth(width)
        height = document.size().height()
        document.setTextWidth(before)
        return int(height) + 1

    def operand_at(self, link: QUrl) -> Operand | None:
        """The operand that a link stands for."""
        text = link.fragment()
        return self._operands[int(text)] if text.isdigit() and int(text) < len(self._operands) else None

    def sizeHint(self) -> QSize:
        return QSize(0, 0)

    def focusNextPrevChild(self, next: bool) -> bool:  # the name of Qt's own
        moved = super().focusNextPrevChild(next)
        if self.hasFocus():
            # a link that has the focus is selected, and said as one that is pointed at
            self._point(QUrl(self.textCursor().charFormat().anchorHref()))
        return moved

    def createMimeDataFromSelection(self) -> QMimeData:
        cursor = self.textCursor()
        raw = self.document().toRawText()
        start, end = cursor.selectionStart(), cursor.selectionEnd()
        text = "".join(self._formula_at(at) if raw[at] == CHARACTER else raw[at] for at in range(start, end))
        data = QMimeData()
        # between the cells of the table stand signs of its own
        data.setText(text.translate({0x2029: "\t", 0x2028: "\n", 0xA0: " ", 0xFDD0: "\n", 0xFDD1: "\n"}).strip())
        return data

    def _formula_at(self, position: int) -> str:
        cursor = QTextCursor(self.document())
        cursor.setPosition(position + 1)
        return formula_of(cursor.charFormat()).text

    def _set_anew(self) -> None:
        derivation = self._derivation
        if derivation is None:
            return
        document: QTextDocument = self.document()
        font = number_font()
        if font != document.defaultFont():
            document.setDefaultFont(font)  # it lays out what is there once more
        decimals = self._context.settings.decimals
        self._operands = typeset(document, derivation, decimals, self._context.look.theme)
        self.moveCursor(QTextCursor.MoveOperation.Start)
        self.setAccessibleName(f"Steps of {derivation.what}")
        self.setAccessibleDescription(plain_text(derivation, decimals))

    def _on_setting(self, name: str) -> None:
        if name == "decimals":
            self._set_anew()

    def _follow(self, link: QUrl) -> None:
        operand = self.operand_at(link)
        if operand is not None:
            self.followed.emit(operand)

    def _point(self, link: QUrl) -> None:
        operand = self.operand_at(link)
        self.pointed.emit("" if operand is None else operand.name)
