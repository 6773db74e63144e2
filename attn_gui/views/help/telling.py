"""What’s This: the text of a control or of a menu’s entry, found in one table by its place and what it is called."""

from __future__ import annotations

import re
from collections.abc import Iterator

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSpinBox,
    QComboBox,
    QLabel,
    QLineEdit,
    QMenu,
    QMenuBar,
    QScrollArea,
    QTabBar,
    QTabWidget,
    QToolButton,
    QWidget,
)

from attn_gui.views.help.texts import CONTROLS, ENTRIES, MENUS, QT_PARTS
from attn_gui.views.shortcuts import LISTED_AS, plain

# parts of a control, which are told of as the whole
_WHOLES = (QComboBox, QAbstractSpinBox, QAbstractItemView, QTabWidget, QLineEdit, QLabel)


def is_control(widget: QWidget) -> bool:
    """Whether a person can use it by mouse or keyboard."""
    if isinstance(widget, QLabel):
        return bool(widget.textInteractionFlags() & Qt.TextInteractionFlag.LinksAccessibleByKeyboard)
    if isinstance(widget, QAbstractButton | QTabBar):
        return True
    plain_area = isinstance(widget, QScrollArea) or type(widget) in (QWidget, QMenu, QMenuBar)
    return widget.focusPolicy() != Qt.FocusPolicy.NoFocus and not plain_area and not widget.isWindow()


def text_of(widget: QWidget) -> str:
    """What ``widget`` is for, or "" where nothing says."""
    action = widget.defaultAction() if isinstance(widget, QToolButton) else None
    if action is not None and (text := text_of_action(action, ())):
        return text
    if widget.objectName() in QT_PARTS:
        return QT_PARTS[widget.objectName()]
    names = [name for name in _names(widget) if name]
    inside: QWidget | None = widget
    while inside is not None:
        for kind in type(inside).__mro__:
            texts = CONTROLS.get(kind.__name__, {})
            found = next((told for name in names if (told := _told(texts, name))), None)
            if found is None and (inside is widget or not names):
                found = texts.get("")
            if found is not None:
                return found
        if inside.isWindow():
            break
        inside = inside.parentWidget()
    whole = _whole(widget)
    if whole is not None:
        return text_of(whole)
    # what any window may have, and buttons for what is in the menus as well
    general = CONTROLS["QWidget"] | ENTRIES
    return next((general[name] for name in (widget.accessibleName(), _text(widget)) if name in general), "")


def text_of_action(action: QAction, above: tuple[str, ...]) -> str:
    """What the entry does; ``above`` are the menus it stands in. One that has no text of its own has its menu's."""
    name = action.property(LISTED_AS) or plain(action.text()).partition("  (")[0]
    place = (*above, name)
    return ENTRIES.get("/".join(place)) or ENTRIES.get(name) or _menu_text(above) or ""


def tell(window: QWidget) -> None:
    """Give every control in ``window`` its text, and every entry of its menus."""
    for action in window.findChildren(QAction):
        if action.menu() is None and (text := text_of_action(action, ())):
            action.setWhatsThis(text)
    bar = next(iter(window.findChildren(QMenuBar)), None)
    if bar is not None:
        for action in bar.actions():
            menu = action.menu()
            if isinstance(menu, QMenu):
                tell_menu(menu)
    for widget in (window, *window.findChildren(QWidget)):
        if is_control(widget) and (text := text_of(widget)):
            widget.setWhatsThis(text)


def tell_menu(menu: QMenu) -> None:
    """Give ``menu``, its entries, and those of the menus in it their texts."""
    if not menu.title():
        return  # the menus for which a narrow menu bar has no room
    for place, action in entries_of(menu):
        text = text_of_action(action, place)
        action.setWhatsThis(text)
        inner = action.menu()
        if isinstance(inner, QMenu):
            inner.setWhatsThis(_menu_text((*place, plain(inner.title()))) or text)
    menu.setWhatsThis(_menu_text(_place(menu)) or "")


def entries_of(menu: QMenu) -> Iterator[tuple[tuple[str, ...], QAction]]:
    """Every entry in ``menu`` and in the menus in it, with the titles of the menus that it stands in."""
    place = _place(menu)
    for action in menu.actions():
        if action.isSeparator():
            continue
        yield place, action
        inner = action.menu()
        if isinstance(inner, QMenu):
            yield from entries_of(inner)


def _place(menu: QMenu) -> tuple[str, ...]:
    titles: list[str] = []
    here: QWidget | None = menu
    while isinstance(here, QMenu):
        titles.insert(0, plain(here.title()))
        here = here.parentWidget()
    return tuple(titles)


def _menu_text(place: tuple[str, ...]) -> str | None:
    """Of the innermost menu that has a text."""
    return next((MENUS[title] for title in reversed(place) if title in MENUS), None)


def _told(texts: dict[str, str], name: str) -> str | None:
    """The text for ``name``; one for ``Remove bias…`` is for every name that begins so."""
    if name in texts:
        return texts[name]
    return next((text for key, text in texts.items() if key.endswith("…") and name.startswith(key[:-1])), None)


def _names(widget: QWidget) -> Iterator[str]:
    """What the control may be called in the table: rules and heads without their numbers."""
    named = re.sub(r"(?<=[a-z]) \d+\b", "", widget.accessibleName())
    yield named
    group, _, inner = named.partition(": ")
    yield group
    yield inner
    yield _text(widget)
    yield widget.objectName()
    yield widget.toolTip()


def _text(widget: QWidget) -> str:
    text = getattr(widget, "text", None)
    return plain(str(text())) if callable(text) else ""


def _whole(widget: QWidget) -> QWidget | None:
    """The control that ``widget`` is a part of."""
    inside = widget.parentWidget()
    while inside is not None:
        if isinstance(inside, _WHOLES) and is_control(inside):
            return inside
        if inside.isWindow() and inside.parentWidget() is None:
            return None
        inside = inside.parentWidget()
    return None
