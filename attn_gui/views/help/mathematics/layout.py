"""From nodes to boxes: where each part of a formula stands, in outline as TeX does it (Knuth 1986, appendix G)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from PySide6.QtGui import QFont, QFontMetricsF, QPainterPath

from attn_gui.views.help.mathematics.boxes import Bar, Box, Glyphs, Path, Placed
from attn_gui.views.help.mathematics.nodes import (
    Cases,
    Fenced,
    Fraction,
    Large,
    Node,
    Root,
    Row,
    Scripts,
    Symbol,
)

SCRIPT = 0.74
LEAST_POINTS = 7.0
# em
RELATION_SPACE = 0.28
OPERATOR_SPACE = 0.2
THIN_SPACE = 0.14


@dataclass(frozen=True)
class Setting:
    """The font, and whether it stands alone on its line (``display``): fractions and limits are then at full size."""

    font: QFont
    display: bool

    @property
    def em(self) -> float:
        return QFontMetricsF(self.font).height() * 0.8

    @property
    def thickness(self) -> float:
        return max(1.0, self.em / 18)

    @property
    def axis(self) -> float:
        """How far the middle of fractions and operators is above the baseline."""
        return QFontMetricsF(self.font).xHeight() / 2

    def script(self) -> Setting:
        font = QFont(self.font)
        font.setPointSizeF(max(LEAST_POINTS, self.font.pointSizeF() * SCRIPT))
        return Setting(font, False)

    def scaled(self, factor: float) -> QFont:
        font = QFont(self.font)
        font.setPointSizeF(self.font.pointSizeF() * factor)
        return font


def laid_out(node: Node, setting: Setting) -> Box:
    """The box of ``node``."""
    if isinstance(node, Symbol):
        return _symbol(node, setting)
    if isinstance(node, Large):
        return _large(node, setting)
    if isinstance(node, Row):
        return _row(node, setting)
    if isinstance(node, Fraction):
        return _fraction(node, setting)
    if isinstance(node, Root):
        return _root(node, setting)
    if isinstance(node, Scripts):
        return _scripts(node, setting)
    if isinstance(node, Fenced):
        return _fenced(node, setting)
    return _cases(node, setting)


def _symbol(node: Symbol, setting: Setting) -> Box:
    if node.kind == "space":
        return Box(node.em * setting.em, 0.0, 0.0)
    font = QFont(setting.font)
    font.setItalic(node.kind == "variable")
    if node.kind in ("opening", "closing"):
        return _fence(node.text, setting, setting.em * 0.42)
    return Glyphs(node.text, font)


def _large(node: Large, setting: Setting) -> Box:
    if node.text.isalpha():
        return Glyphs(node.text, setting.font)
    font = setting.scaled(1.6 if setting.display else 1.15)
    ink = QFontMetricsF(font).tightBoundingRect(node.text)
    # its middle on the axis
    return Glyphs(node.text, font, setting.axis + (ink.top() + ink.bottom()) / 2)


def _row(row: Row, setting: Setting) -> Box:
    x = 0.0
    placed: list[tuple[float, float, Box]] = []
    before: Node | None = None
    for k, part in enumerate(row.parts):
        after = row.parts[k + 1] if k + 1 < len(row.parts) else None
        left, right = _spaces(before, part, after)
        x += left * setting.em
        box = laid_out(part, setting)
        placed.append((x, 0.0, box))
        x += box.width + right * setting.em
        before = part
    return Placed(placed, x)


def _spaces(before: Node | None, part: Node, after: Node | None) -> tuple[float, float]:
    """Room before and after ``part``, in em."""
    if isinstance(part, Symbol):
        if part.kind == "relation":
            return (RELATION_SPACE if before is not None else 0.0), (RELATION_SPACE if after is not None else 0.0)
        if part.kind == "operator":
            # a sign rather than a sum
            unary = before is None or (
                isinstance(before, Symbol) and before.kind in ("operator", "relation", "opening", "punctuation")
            )
            return (0.0, 0.0) if unary else (OPERATOR_SPACE, OPERATOR_SPACE)
        if part.kind == "punctuation":
            return 0.0, RELATION_SPACE
    return (THIN_SPACE, 0.0) if _needs_gap(before, part) else (0.0, 0.0)


def _needs_gap(before: Node | None, part: Node) -> bool:
    """After a sum or a fraction, and between a function's name or a product's factors."""
    if before is None or (isinstance(part, Symbol) and part.kind in ("closing", "space")):
        return False
    base = before.base if isinstance(before, Scripts) else before
    if isinstance(before, Symbol) and before.kind in ("opening", "operator", "relation", "space"):
        return False
    if isinstance(base, Large | Fraction):
        return True
    if isinstance(base, Symbol) and base.kind == "upright" and len(base.text) > 1 and base.text.isalpha():
        return not isinstance(part, Fenced) and not (isinstance(part, Symbol) and part.kind == "opening")
    letters = (Scripts, Fraction, Root)
    product = isinstance(before, Scripts) and (isinstance(part, letters) or _is_name(part))
    return (
        product
        or isinstance(part, Large)
        or (_is_name(base) and _is_word(part))
        or (isinstance(part, Fraction | Root) and not (isinstance(base, Symbol) and base.kind != "variable"))
    )


def _is_name(node: Node) -> bool:
    return isinstance(node, Symbol) and node.kind == "variable"


def _is_word(node: Node) -> bool:
    return isinstance(node, Symbol) and node.kind == "upright" and len(node.text) > 1 and node.text[0].isalpha()


def _fraction(node: Fraction, setting: Setting) -> Box:
    inner = replace(setting, display=False) if setting.display else setting.script()
    over, under = laid_out(node.over, inner), laid_out(node.under, inner)
    gap, t, side = setting.em * (0.17 if setting.display else 0.1), setting.thickness, setting.em * 0.1
    width = max(over.width, under.width) + 2 * side
    bar = Bar(width, t, setting.axis)
    up = setting.axis + t / 2 + gap + over.descent
    down = -setting.axis + t / 2 + gap + under.ascent
    parts = [((width - over.width) / 2, -up, over), ((width - under.width) / 2, down, under), (0.0, 0.0, bar)]
    return Placed(parts, width)


def _root(node: Root, setting: Setting) -> Box:
    body = laid_out(node.body, setting)
    t, em = setting.thickness, setting.em
    gap, hook = 0.14 * em + t, 0.52 * em
    # no lower than letters without a tail, so that roots of different letters begin alike
    ascent = max(body.ascent, QFontMetricsF(setting.font).capHeight()) + gap
    descent = max(body.descent, 0.06 * em)
    path = QPainterPath()
    path.moveTo(0.04 * em, -0.38 * ascent)
    path.lineTo(0.15 * em, -0.46 * ascent)
    path.lineTo(0.30 * em, descent - t / 2)
    path.lineTo(hook, -ascent)
    sign = Path(path, hook, ascent + t, descent + t, t)
    room = 0.06 * em
    bar = Bar(body.width + 2 * room + t / 2, t, ascent)
    return Placed([(0.0, 0.0, sign), (hook - t / 2, 0.0, bar), (hook + room, 0.0, body)], hook + body.width + 2 * room)


def _scripts(node: Scripts, setting: Setting) -> Box:
    base = laid_out(node.base, setting)
    small = setting.script()
    below = None if node.below is None else laid_out(node.below, small)
    above = None if node.above is None else laid_out(node.above, small)
    if isinstance(node.base, Large) and (setting.display or node.base.text.isalpha()):
        return _limits(base, below, above, setting)
    metrics = QFontMetricsF(setting.font)
    gap = setting.em * 0.05
    parts: list[tuple[float, float, Box]] = [(0.0, 0.0, base)]
    tall = max(0.0, base.ascent - metrics.capHeight() * 1.1)
    deep = max(0.0, base.descent - metrics.descent())
    if above is not None:
        raised = metrics.capHeight() * 0.55 + tall
        parts.append((base.width + gap, -max(raised, above.descent + 0.3 * metrics.xHeight()), above))
    if below is not None:
        lowered = metrics.xHeight() * 0.32 + deep
        top = below.ascent - metrics.xHeight() * (0.55 if above is not None else 0.85)
        parts.append((base.width + gap * 0.5, max(lowered, top), below))
    return Placed(parts, max(x + box.width for x, _, box in parts) + gap)


def _limits(base: Box, below: Box | None, above: Box | None, setting: Setting) -> Box:
    width = max(box.width for box in (base, below, above) if box is not None)
    gap = setting.em * 0.14
    parts = [((width - base.width) / 2, 0.0, base)]
    if above is not None:
        parts.append(((width - above.width) / 2, -(base.ascent + gap + above.descent), above))
    if below is not None:
        parts.append(((width - below.width) / 2, base.descent + gap + below.ascent, below))
    return Placed(parts, width)


def _fenced(node: Fenced, setting: Setting) -> Box:
    body = laid_out(node.body, setting)
    half = max(body.ascent - setting.axis, body.descent + setting.axis, setting.em * 0.42)
    parts: list[tuple[float, float, Box]] = []
    x = 0.0
    for piece in (node.opening, body, node.closing):
        box = _fence(piece, setting, half) if isinstance(piece, str) else piece
        parts.append((x, 0.0, box))
        x += box.width
    return Placed(parts, x)


def _fence(sign: str, setting: Setting, half: float) -> Box:
    """A fence that reaches ``half`` above and below the axis, drawn rather than stretched from a letter."""
    if not sign:
        return Box(0.0, 0.0, 0.0)
    em, t, axis = setting.em, setting.thickness, setting.axis
    half += 0.06 * em
    top, bottom, middle = -axis - half, -axis + half, -axis
    path = QPainterPath()
    width = 0.3 * em
    left, right = 0.08 * em, width - 0.06 * em
    if sign in "()":
        a, b = (right, left - 0.04 * em) if sign == "(" else (left, right + 0.04 * em)
        path.moveTo(a, top)
        path.cubicTo(b, top + half * 0.5, b, bottom - half * 0.5, a, bottom)
    elif sign in "[]⌊⌋":
        a, b = (right, left) if sign in "[⌊" else (left, right)
        path.moveTo(a if sign in "[]" else b, top)
        path.lineTo(b, top)
        path.lineTo(b, bottom)
        path.lineTo(a, bottom)
    elif sign in "{}":
        a, b, tip = (right, 0.16 * em, 0.02 * em) if sign == "{" else (left, 0.14 * em, width - 0.02 * em)
        path.moveTo(a, top)
        path.cubicTo(b, top, b, top + 0.1 * half, b, top + 0.3 * half)
        path.lineTo(b, middle - 0.3 * half)
        path.cubicTo(b, middle - 0.1 * half, b, middle, tip, middle)
        path.cubicTo(b, middle, b, middle + 0.1 * half, b, middle + 0.3 * half)
        path.lineTo(b, bottom - 0.3 * half)
        path.cubicTo(b, bottom - 0.1 * half, b, bottom, a, bottom)
    else:
        for x in (0.1 * em, 0.24 * em) if sign == "‖" else (0.15 * em,):
            path.moveTo(x, top)
            path.lineTo(x, bottom)
        width = 0.34 * em if sign == "‖" else width
    return Path(path, width, t / 2 - top, t / 2 + bottom, t)


def _cases(node: Cases, setting: Setting) -> Box:
    inner = replace(setting, display=False)
    rows = [[laid_out(cell, inner) for cell in line] for line in node.lines]
    columns = max(map(len, rows))
    widths = [max(line[c].width for line in rows if c < len(line)) for c in range(columns)]
    em, least = setting.em, QFontMetricsF(setting.font)
    heights = [
        (max(0.7 * em, *(b.ascent for b in line)), max(least.descent(), *(b.descent for b in line))) for line in rows
    ]
    gap = 0.2 * em
    whole = sum(up + down for up, down in heights) + gap * (len(rows) - 1)
    parts: list[tuple[float, float, Box]] = []
    y = -setting.axis - whole / 2
    for line, (up, down) in zip(rows, heights, strict=True):
        x = 0.1 * em
        for column, box in enumerate(line):
            parts.append((x, y + up, box))
            x += widths[column] + em
        y += up + down + gap
    body = Placed(parts)
    brace = _fence("{", setting, whole / 2)
    return Placed([(0.0, 0.0, brace), (brace.width, 0.0, body)])
