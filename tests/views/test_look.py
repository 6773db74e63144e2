"""The look of the widgets that Qt draws: each can be told from what is behind it, in every theme."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QLineEdit,
    QListWidget,
    QPlainTextEdit,
    QProgressBar,
    QPushButton,
    QRadioButton,
    QSlider,
    QSpinBox,
    QTableWidget,
    QTabWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)
from pytestqt.qtbot import QtBot

from attn_gui.paths import resource
from attn_gui.views import look
from attn_gui.views.context import Context
from attn_gui.views.theme import THEMES

MARGIN = 12
# of W3C's guidelines (WCAG 2.2, 1.4.11), for the parts of a control that one must see to use it
VISIBLE = 3.0


def tabs() -> QTabWidget:
    made = QTabWidget()
    made.addTab(QWidget(), "Page")
    return made


def listed() -> QTableWidget:
    made = QTableWidget(2, 2)
    made.setObjectName("list")
    return made


def slid() -> QSlider:
    return QSlider(Qt.Orientation.Horizontal)


OUTLINED: list[Callable[[], QWidget]] = [
    QPlainTextEdit,
    QListWidget,
    QLineEdit,
    QSpinBox,
    QComboBox,
    QPushButton,
    QToolButton,
    QProgressBar,
    listed,
    tabs,
    slid,
]
INDICATORS: list[Callable[[], QWidget]] = [QCheckBox, QRadioButton]


def luminance(colour: QColor) -> float:
    parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour.getRgbF()[:3]]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(a: QColor, b: QColor) -> float:
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


@pytest.fixture
def drawn(context: Context, qtbot: QtBot) -> Callable[[Callable[[], QWidget], str], QImage]:
    """A widget, on a window's background of MARGIN pixels on each side, as it looks in a theme."""

    def draw(make: Callable[[], QWidget], theme: str) -> QImage:
        context.settings.theme = theme
        context.look.refresh()
        behind, widget = QWidget(), make()
        column = QVBoxLayout(behind)
        column.setContentsMargins(MARGIN, MARGIN, MARGIN, MARGIN)
        column.addWidget(widget)
        qtbot.addWidget(behind)
        behind.resize(160, 120)
        behind.show()
        behind.setFocus()
        return behind.grab().toImage()

    return draw


def clearest(image: QImage) -> float:
    """The best contrast with the window's colour that a line across the left edge of the widget meets."""
    window, y = image.pixelColor(1, 1), image.height() // 2
    return max(contrast(window, image.pixelColor(MARGIN + x, y)) for x in range(-2, 4))


@pytest.mark.parametrize("make", OUTLINED, ids=lambda make: make.__name__)
def test_in_high_contrast_every_kind_has_an_outline(
    make: Callable[[], QWidget], drawn: Callable[[Callable[[], QWidget], str], QImage]
) -> None:
    assert clearest(drawn(make, "contrast")) > 7


@pytest.mark.parametrize("theme", ["dark", "contrast"])
@pytest.mark.parametrize("make", INDICATORS, ids=lambda make: make.__name__)
def test_what_is_not_checked_can_be_seen(
    make: Callable[[], QWidget], theme: str, drawn: Callable[[Callable[[], QWidget], str], QImage]
) -> None:
    assert clearest(drawn(make, theme)) > VISIBLE


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("make", [QPlainTextEdit, QListWidget, QLineEdit, QSpinBox, QComboBox, QPushButton])
def test_the_focus_makes_nothing_larger(make: type[QWidget], theme: str, context: Context, qtbot: QtBot) -> None:
    context.settings.theme = theme
    context.look.refresh()
    behind, other, widget = QWidget(), QToolButton(), make()
    column = QVBoxLayout(behind)
    column.addWidget(other)
    column.addWidget(widget)
    qtbot.addWidget(behind)
    with qtbot.waitActive(behind):
        behind.show()
    other.setFocus()
    before = widget.sizeHint()
    widget.setFocus()
    assert widget.hasFocus()
    assert widget.sizeHint() == before


@pytest.mark.parametrize("theme", THEMES)
def test_being_checked_makes_nothing_larger(theme: str, context: Context, qtbot: QtBot) -> None:
    context.settings.theme = theme
    context.look.refresh()
    button = QToolButton()
    qtbot.addWidget(button)
    button.setText("Scoring")
    button.setCheckable(True)
    button.show()
    before = button.sizeHint()
    button.setChecked(True)
    assert button.sizeHint() == before


def test_another_theme_restyles_a_widget_once_however_deep_it_lies(context: Context, qtbot: QtBot) -> None:
    restyled = []

    class Deep(QWidget):
        def event(self, event: QEvent) -> bool:
            if event.type() == QEvent.Type.StyleChange:
                restyled.append(context.look.theme.name)
            return super().event(event)

    outermost = around = QWidget()
    for _ in range(12):
        inside = QWidget()
        QVBoxLayout(around).addWidget(inside)
        around = inside
    QVBoxLayout(around).addWidget(Deep())
    qtbot.addWidget(outermost)
    with qtbot.waitExposed(outermost):
        outermost.show()
    for theme in ("dark", "light", "contrast"):
        restyled.clear()
        context.settings.theme = theme
        assert 1 <= len(restyled) <= 2, "as one style goes, and as the other comes"


@pytest.mark.parametrize("folder", ["für alle – ñ 注意", "a) b (c", 'it\'s "q" ; }'])
def test_icons_are_found_wherever_the_program_lies(
    folder: str, tmp_path: Path, context: Context, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ticked() -> QImage:
        box = QCheckBox("x")
        qtbot.addWidget(box)
        box.setChecked(True)
        context.settings.theme = "light"
        context.settings.theme = "dark"
        box.resize(60, 30)
        return box.grab().toImage()

    expected = ticked()
    shutil.copytree(resource("icons/tick-on-accent.svg").parent, tmp_path / folder / "icons")
    monkeypatch.setattr(look, "resource", lambda name: tmp_path / folder / name)
    assert ticked() == expected
