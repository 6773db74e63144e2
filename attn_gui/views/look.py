"""Look: the theme in force, for the whole application."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication

from attn_gui.control.settings import Settings
from attn_gui.paths import resource
from attn_gui.views.theme import LIGHT, THEMES, Theme

ROLES = {
    QPalette.ColorRole.Window: "window",
    QPalette.ColorRole.WindowText: "text",
    QPalette.ColorRole.Base: "field",
    QPalette.ColorRole.AlternateBase: "panel",
    QPalette.ColorRole.Text: "text",
    QPalette.ColorRole.Button: "panel",
    QPalette.ColorRole.ButtonText: "text",
    QPalette.ColorRole.ToolTipBase: "panel",
    QPalette.ColorRole.ToolTipText: "text",
    QPalette.ColorRole.Highlight: "accent",
    QPalette.ColorRole.HighlightedText: "accent_text",
    QPalette.ColorRole.PlaceholderText: "muted",
    QPalette.ColorRole.Link: "accent",
    QPalette.ColorRole.Mid: "line",
}


class Look(QObject):
    """Applies the theme of the settings, following the system where they say so; views repaint on ``changed``."""

    changed = Signal()

    def __init__(self, settings: Settings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.theme: Theme = LIGHT
        self._settings = settings
        settings.changed.connect(lambda name: self.refresh() if name == "theme" else None)
        QGuiApplication.styleHints().colorSchemeChanged.connect(self.refresh)

    def refresh(self) -> None:
        """Bring the application to the theme of the settings."""
        wanted = self._settings.theme
        if wanted == "system":
            dark = QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark
            wanted = "dark" if dark else "light"
        self.theme = THEMES[wanted]
        application = QApplication.instance()
        if isinstance(application, QApplication):
            # from one sheet to another Qt polishes a widget once for each ancestor; from none, once in all
            application.setStyleSheet("")
            application.setPalette(self._palette())
            application.setStyleSheet(_sheet(self.theme))
        self.changed.emit()

    def _palette(self) -> QPalette:
        palette = QPalette()
        for role, name in ROLES.items():
            palette.setColor(role, self.theme.colour(name))
        for role in (QPalette.ColorRole.Text, QPalette.ColorRole.WindowText, QPalette.ColorRole.ButtonText):
            faded = QColor(self.theme.muted)
            palette.setColor(QPalette.ColorGroup.Disabled, role, faded)
        return palette


def number_font(points: float | None = None) -> QFont:
    """The interface's font with figures of one width."""
    font = QFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont))
    font.setFeature(QFont.Tag.fromString("tnum"), 1)
    if points is not None:
        font.setPointSizeF(points)
    return font


# as large as Fusion draws those that are not checked; spin boxes as tall as the other fields; buttons of a drawer that
# are sharp at any scale
_CONTROLS = """
    QDockWidget {{ titlebar-close-icon: {close}; titlebar-normal-icon: {float}; }}
    QSpinBox {{ min-height: 19px; }}
    QToolButton:checked {{
        background: {band}; border: 1px solid {accent}; border-radius: 4px; padding: 1px 1px 1px 2px;
    }}
    QToolButton::menu-indicator {{ image: none; }}
"""

# Fusion draws outlines in a shade of the window's colour, which on black is none
_OUTLINES = """
    QLineEdit, QSpinBox, QComboBox, QPushButton, QToolButton {{ border: 1px solid {line}; padding: 3px 8px; }}
    QPushButton {{ min-width: 56px; }}
    QSpinBox {{ padding: 2px 20px 2px 8px; min-height: 14px; }}
    QSpinBox::up-arrow {{ image: {up}; width: 8px; height: 8px; }}
    QSpinBox::down-arrow, QComboBox::down-arrow {{ image: {down}; width: 8px; height: 8px; }}
    QSpinBox::up-button, QSpinBox::down-button, QComboBox::drop-down {{ border: none; width: 16px; }}
    QToolButton:checked, QPushButton:checked {{
        background: {band}; border: 2px solid {accent}; border-radius: 0; padding: 2px 7px;
    }}
    QLineEdit:focus, QComboBox:focus, QPushButton:focus, QPushButton:default, QToolButton:focus {{
        border: 2px solid {accent}; padding: 2px 7px;
    }}
    QSpinBox:focus {{ border: 2px solid {accent}; padding: 1px 19px 1px 7px; }}
    QPlainTextEdit, QListWidget, QTabWidget::pane, QProgressBar {{ border: 1px solid {line}; }}
    QPlainTextEdit, QListWidget {{ padding: 1px; }}
    QPlainTextEdit:focus, QListWidget:focus {{ border: 2px solid {accent}; padding: 0; }}
    QTabBar::tab {{ border: 1px solid {line}; padding: 4px 12px; margin: 2px 4px 4px 0; }}
    QTabBar::tab:selected {{ border: 2px solid {accent}; padding: 3px 11px; }}
    QSlider::groove:horizontal {{ height: 2px; background: {line}; }}
    QSlider::handle:horizontal {{
        background: {field}; border: 2px solid {line}; width: 8px; margin: -8px 0; border-radius: 4px;
    }}
    QSlider::handle:horizontal:focus {{ background: {accent}; border-color: {accent}; }}
    QProgressBar {{ text-align: center; }}
    QProgressBar::chunk {{ background: {accent}; }}
    QPushButton:disabled, QToolButton:disabled, QLineEdit:disabled, QComboBox:disabled, QSpinBox:disabled {{
        border: 1px dashed {line}; color: {muted};
    }}
    QTableView QLineEdit {{ padding: 0 4px; }}
    QFrame#panel QToolButton {{ padding: 2px 4px; }}
"""

# Fusion's own are dark
_ON_DARK = """
    QCheckBox::indicator, QRadioButton::indicator {{
        background: {field}; border: {width}px solid {muted}; width: 12px; height: 12px;
    }}
    QCheckBox::indicator {{ border-radius: 2px; }}
    QRadioButton::indicator {{ border-radius: {round}px; }}
    QCheckBox::indicator:checked, QRadioButton::indicator:checked {{ background: {accent}; border-color: {accent}; }}
    QCheckBox::indicator:checked {{ image: {tick}; }}
    QRadioButton::indicator:checked {{ image: {dot}; }}
    QCheckBox::indicator:focus, QRadioButton::indicator:focus {{ border-color: {accent}; }}
    QCheckBox::indicator:disabled, QRadioButton::indicator:disabled {{ border-color: {line}; }}
"""

_ICONS = ("up-on-dark", "down-on-dark", "tick-on-accent", "dot-on-accent")


def _url(path: Path) -> str:
    """``path`` as a style sheet names it, whatever letters are in it."""
    text = path.as_posix().replace("\\", "\\\\").replace('"', '\\"')
    return f'url("{text}")'


def _sheet(theme: Theme) -> str:
    width = 2 if theme.name == "contrast" else 1
    of_drawers = [f"{name}-on-{'dark' if theme.dark else 'light'}" for name in ("close", "float")]
    icons = {icon.partition("-")[0]: _url(resource(f"icons/{icon}.svg")) for icon in (*_ICONS, *of_drawers)}
    words = asdict(theme) | icons | {"width": width, "round": 6 + width}
    return (
        _CONTROLS.format(**words)
        + (_OUTLINES.format(**words) if theme.name == "contrast" else "")
        + (_ON_DARK.format(**words) if theme.dark else "")
        + f"""
    QToolTip {{ color: {theme.text}; background: {theme.panel}; border: 1px solid {theme.line}; padding: 4px; }}
    QMainWindow::separator {{ background: {theme.window}; width: 8px; height: 8px; }}
    QFrame#panel {{ background: {theme.panel}; border: {width}px solid {theme.line}; border-radius: 6px; }}
    QLabel#muted {{ color: {theme.muted}; }}
    QLabel#error {{ color: {theme.error}; }}
    QLabel#step {{ color: {theme.accent}; font-weight: 600; }}
    QLabel#title {{ font-weight: 600; }}
    QHeaderView {{ background: {theme.panel}; border: none; }}
    QHeaderView::section {{
        background: {theme.panel}; color: {theme.muted}; border: none; padding: 0 8px;
    }}
    QHeaderView::section:horizontal {{ padding: 0 8px 6px 8px; }}
    QTableView {{
        background: {theme.panel}; border: none; gridline-color: {theme.line};
        selection-background-color: {theme.band}; selection-color: {theme.text};
    }}
    QTableView:focus {{ outline: none; }}
    QTableView#list {{ border: {width}px solid {theme.line}; border-radius: 6px; padding: 4px; }}
    QTableView#list::item {{ padding: 0 4px; }}
    QScrollBar {{ background: transparent; border: none; margin: 0; }}
    QScrollBar:vertical {{ width: 12px; }}
    QScrollBar:horizontal {{ height: 12px; }}
    QScrollBar::handle {{
        background: {theme.line}; border-radius: 4px; margin: 2px; min-width: 24px; min-height: 24px;
    }}
    QScrollBar::handle:hover {{ background: {theme.muted}; }}
    QScrollBar::add-line, QScrollBar::sub-line {{ width: 0; height: 0; }}
    QScrollBar::add-page, QScrollBar::sub-page {{ background: transparent; }}
    QTableCornerButton::section {{ background: {theme.panel}; border: none; }}
    """
    )
