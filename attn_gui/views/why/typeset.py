"""The steps of a derivation as a document: a table of name, formula, and numbers that are links."""

from __future__ import annotations

import math
from dataclasses import dataclass

from PySide6.QtGui import (
    QFont,
    QFontMetricsF,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFrameFormat,
    QTextLength,
    QTextTable,
    QTextTableFormat,
)

from attn_gui.files.derivation_text.line import arithmetic, number
from attn_gui.model.derivation import Derivation, Operand, Step
from attn_gui.model.derivation.writing import Writing, writing
from attn_gui.views.help.formula_object import CHARACTER, formula_format
from attn_gui.views.help.mathematics.formula import formula
from attn_gui.views.theme import Theme

PADDING = 4
# pixels between the columns
GAP = 20


@dataclass(frozen=True)
class Formats:
    """How the parts of a step look."""

    plain: QTextCharFormat
    name: QTextCharFormat
    muted: QTextCharFormat
    link: QTextCharFormat


def typeset(document: QTextDocument, derivation: Derivation, decimals: int, theme: Theme) -> list[Operand]:
    """Fill ``document`` with the steps and return the operands that its links ``#0``, ``#1``, ... stand for."""
    font = document.defaultFont()
    formats = _formats(font, theme)
    points = font.pointSizeF()
    document.clear()
    document.setDocumentMargin(0)
    cursor = QTextCursor(document)
    cursor.beginEditBlock()
    table = cursor.insertTable(len(derivation.steps), 3, _table(derivation, font, points))
    _align(table)
    operands: list[Operand] = []
    for row, step in enumerate(derivation.steps):
        table.cellAt(row, 0).firstCursorPosition().insertText(step.name, formats.name)
        sign = formula_format(step.formula.latex, points, theme.colour("muted"), display=False)
        table.cellAt(row, 1).firstCursorPosition().insertText(CHARACTER, sign)
        _numbers(table.cellAt(row, 2).firstCursorPosition(), writing(step, decimals), formats, operands)
        if step.note:
            table.cellAt(row, 2).lastCursorPosition().insertText(f"   {step.note}", formats.muted)
    cursor.endEditBlock()
    return operands


def _align(table: QTextTable) -> None:
    """Each row on one line, the first column at the very edge."""
    for row in range(table.rows()):
        for column in range(table.columns()):
            cell = table.cellAt(row, column)
            form = cell.format().toTableCellFormat()
            form.setVerticalAlignment(QTextCharFormat.VerticalAlignment.AlignMiddle)
            if column == 0:
                form.setLeftPadding(0)
            cell.setFormat(form)


def _numbers(cursor: QTextCursor, written: Writing, formats: Formats, operands: list[Operand]) -> None:
    """The arithmetic, its operands as links, and what comes of it."""
    pieces, result = arithmetic(written), number(written.result)
    for piece in pieces:
        if piece.operand is None or piece.operand.source is None:
            form = QTextCharFormat(formats.plain)
        else:
            form = QTextCharFormat(formats.link)
            form.setAnchorHref(f"#{len(operands)}")
            operands.append(piece.operand)
        if piece.operand is not None:
            form.setToolTip(piece.operand.name)
        cursor.insertText(piece.text, form)
    if "".join(piece.text for piece in pieces) != result:
        cursor.insertText(" = ", formats.plain)
        cursor.insertText(result, formats.name)


def _formats(font: QFont, theme: Theme) -> Formats:
    plain, name, muted, link = (QTextCharFormat() for _ in range(4))
    for form, role in ((plain, "text"), (name, "text"), (muted, "muted"), (link, "accent")):
        form.setFont(font)
        form.setForeground(theme.colour(role))
    name.setFontWeight(QFont.Weight.DemiBold)
    link.setAnchor(True)
    link.setUnderlineStyle(QTextCharFormat.UnderlineStyle.DotLine)
    return Formats(plain, name, muted, link)


def _table(derivation: Derivation, font: QFont, points: float) -> QTextTableFormat:
    """Names and formulas are as wide as the widest; the numbers have the rest, and wrap."""
    bold = QFont(font)
    bold.setWeight(QFont.Weight.DemiBold)
    metrics = QFontMetricsF(bold)

    def formula_width(step: Step) -> float:
        return formula(step.formula.latex, points, False).size.width()

    names = max(metrics.horizontalAdvance(step.name) for step in derivation.steps)
    formulas = max(formula_width(step) for step in derivation.steps)
    made = QTextTableFormat()
    made.setBorder(0)
    made.setBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_None)
    made.setCellSpacing(0)
    made.setCellPadding(PADDING)
    fixed = QTextLength.Type.FixedLength
    made.setColumnWidthConstraints(
        [
            QTextLength(fixed, math.ceil(names) + GAP),
            QTextLength(fixed, math.ceil(formulas) + GAP),
            QTextLength(QTextLength.Type.PercentageLength, 100),
        ]
    )
    return made
