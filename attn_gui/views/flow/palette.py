"""Colours of lines: one for a single head, and one for each of several."""

from __future__ import annotations

from PySide6.QtGui import QColor

from attn_gui.views.theme import Theme

# told apart also by those who see fewer colours, as far as eight can be; each stands out from the panel
_ON_LIGHT = ("#1f5fbf", "#b45309", "#15803d", "#7e3ff2", "#be185d", "#0e7490", "#6b4423", "#4d5a00")
_ON_DARK = ("#7db3ff", "#f2a65a", "#6fd08c", "#c8a6ff", "#ff8fab", "#5fd3e0", "#d9b08c", "#d4d65f")


def head_colours(theme: Theme, count: int) -> list[QColor]:
    """Of ``count`` heads, in their order."""
    few = _ON_DARK if theme.dark else _ON_LIGHT
    if count <= len(few):
        return [QColor(name) for name in few[:count]]
    # neighbours differ in lightness too
    base = 0.68 if theme.dark else 0.36
    return [QColor.fromHslF(k / count, 0.7, base + 0.1 * (k % 2)) for k in range(count)]
