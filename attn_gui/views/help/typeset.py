"""From a page's Markdown to a document in the colours of a theme, with its formulas set and its headings found."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import (
    QBrush,
    QFont,
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextFrameFormat,
    QTextLength,
    QTextTable,
)

from attn_gui.views.help.formula_object import CHARACTER, formula_format
from attn_gui.views.help.mathematics.linear import linear
from attn_gui.views.help.mathematics.parsing import parsed
from attn_gui.views.help.pages import FORMULA, Page, anchor_of
from attn_gui.views.theme import Theme

MARGIN = 24
LEADING = 4.0  # pixels between lines, besides the font's own
HEADINGS = {1: 1.6, 2: 1.25, 3: 1.08}
# one character of the private use area for each formula, while the Markdown is read
_FIRST = 0xE000
_LAST = 0xF8FF


def typeset(document: QTextDocument, page: Page, theme: Theme, points: float, *, as_text: bool) -> dict[str, int]:
    """Fill ``document`` with ``page`` and return the position of each heading by its anchor.

    as_text: formulas on one line of text, as a screen reader reads them.
    """
    sources: list[tuple[str, bool]] = []

    def stand_in(match: object) -> str:
        alone, inline = match["alone"], match["inline"]  # type: ignore[index]
        sources.append((alone or inline, alone is not None))
        return chr(_FIRST + len(sources) - 1)

    font = QFont(document.defaultFont())
    font.setPointSizeF(points)
    document.setDefaultFont(font)
    document.setDocumentMargin(MARGIN)
    document.setMarkdown(FORMULA.sub(stand_in, page.markdown))
    cursor = QTextCursor(document)
    cursor.beginEditBlock()
    _set_blocks(document, theme, points)
    _set_tables(document, theme)
    _set_links(document, theme)
    _set_formulas(document, sources, theme, points, as_text=as_text)
    cursor.endEditBlock()
    return {anchor_of(block.text()): block.position() for block in _blocks(document) if _level(block)}


def _blocks(document: QTextDocument) -> list[QTextBlock]:
    found = []
    block = document.begin()
    while block.isValid():
        found.append(block)
        block = block.next()
    return found


def _level(block: QTextBlock) -> int:
    return block.blockFormat().headingLevel()


def _set_blocks(document: QTextDocument, theme: Theme, points: float) -> None:
    for block in _blocks(document):
        cursor = QTextCursor(block)
        form = QTextBlockFormat()
        form.setLineHeight(LEADING, QTextBlockFormat.LineHeightTypes.LineDistanceHeight.value)
        cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock, QTextCursor.MoveMode.KeepAnchor)
        level = _level(block)
        if level:
            text = cursor.charFormat()
            # Markdown's own size, which goes before points
            text.clearProperty(QTextFormat.Property.FontSizeAdjustment)
            text.setFontPointSize(points * HEADINGS.get(level, 1.0))
            text.setFontWeight(QFont.Weight.DemiBold)
            cursor.setCharFormat(text)
            form.setTopMargin(0 if level == 1 else 20)
            form.setBottomMargin(8)
        elif block.blockFormat().hasProperty(QTextFormat.Property.BlockCodeFence):
            form.setBackground(theme.colour("window"))
            form.setLeftMargin(0)
            form.setNonBreakableLines(False)
            ends = not block.next().blockFormat().hasProperty(QTextFormat.Property.BlockCodeFence)
            form.setBottomMargin(10 if ends else 0)
        elif cursor.currentTable() is not None:
            form.setBottomMargin(0)
            form.setLineHeight(0.0, QTextBlockFormat.LineHeightTypes.SingleHeight.value)
        else:
            form.setBottomMargin(4 if block.textList() is not None else 10)
        cursor.mergeBlockFormat(form)


def _set_tables(document: QTextDocument, theme: Theme) -> None:
    for frame in document.rootFrame().childFrames():
        if not isinstance(frame, QTextTable):
            continue
        form = frame.format()
        form.setBorder(1)
        form.setBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
        form.setBorderBrush(QBrush(theme.colour("line")))
        form.setBorderCollapse(True)
        form.setCellPadding(6)
        form.setCellSpacing(0)
        form.setBottomMargin(12)
        form.setTopMargin(4)
        form.setAlignment(Qt.AlignmentFlag.AlignLeft)
        form.setWidth(QTextLength())
        frame.setFormat(form)
        middle = QTextCharFormat()
        middle.setVerticalAlignment(QTextCharFormat.VerticalAlignment.AlignMiddle)
        for row in range(1, frame.rows()):
            for column in range(frame.columns()):
                frame.cellAt(row, column).setFormat(middle)
        for column in range(frame.columns()):
            cell = frame.cellAt(0, column)
            first, last = cell.firstCursorPosition(), cell.lastCursorPosition()
            first.setPosition(last.position(), QTextCursor.MoveMode.KeepAnchor)
            head = QTextCharFormat()
            head.setFontWeight(QFont.Weight.DemiBold)
            first.mergeCharFormat(head)
            left = QTextBlockFormat()
            left.setAlignment(Qt.AlignmentFlag.AlignLeft)
            first.mergeBlockFormat(left)


def _set_links(document: QTextDocument, theme: Theme) -> None:
    """Links in the theme's colour: Qt takes that of when it read them."""
    for block in _blocks(document):
        fragments = []
        iterator = block.begin()
        while not iterator.atEnd():
            fragments.append(iterator.fragment())
            iterator += 1
        for fragment in fragments:
            if not fragment.charFormat().isAnchor():
                continue
            cursor = QTextCursor(document)
            cursor.setPosition(fragment.position())
            cursor.setPosition(fragment.position() + fragment.length(), QTextCursor.MoveMode.KeepAnchor)
            form = QTextCharFormat()
            form.setForeground(theme.colour("accent"))
            form.setFontUnderline(True)
            cursor.mergeCharFormat(form)


def _set_formulas(
    document: QTextDocument, sources: list[tuple[str, bool]], theme: Theme, points: float, *, as_text: bool
) -> None:
    raw = document.toRawText()
    # from the end: what is put in place of a character may be longer than it
    for position in reversed([at for at, sign in enumerate(raw) if _FIRST <= ord(sign) <= _LAST]):
        source, alone = sources[ord(raw[position]) - _FIRST]
        cursor = QTextCursor(document)
        cursor.setPosition(position)
        cursor.setPosition(position + 1, QTextCursor.MoveMode.KeepAnchor)
        if as_text:
            cursor.insertText(linear(parsed(source)))
        else:
            # as large in a table, where it has room
            full = alone or cursor.currentTable() is not None
            size = points * (1.12 if alone else 1.0)
            cursor.insertText(CHARACTER, formula_format(source, size, theme.colour("text"), display=full))
        if alone:
            form = QTextBlockFormat()
            form.setLeftMargin(MARGIN)
            form.setTopMargin(4)
            form.setBottomMargin(14)
            form.setLineHeight(0.0, QTextBlockFormat.LineHeightTypes.SingleHeight.value)
            cursor.mergeBlockFormat(form)
