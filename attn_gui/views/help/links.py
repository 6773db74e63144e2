"""Links of a page: to another page, to a drawer, or to an action of the menus."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QDockWidget, QMenu, QMenuBar

from attn_gui.views.shortcuts import plain

DRAWER, ACTION, PAGE = "drawer:", "action:", ".md"


def page_and_anchor(link: str) -> tuple[str, str] | None:
    """Which page and heading ``masks.md#causal`` or ``#causal`` (of this page, whose name is then "") is; or None."""
    path, _, anchor = link.partition("#")
    if path and not path.endswith(PAGE):
        return None
    return path.removesuffix(PAGE), anchor


def action_of(bar: QMenuBar, docks: list[QDockWidget], link: str) -> QAction | None:
    """The action that ``action:File/Export`` names by its place in the menus, or that shows ``drawer:Scoring``."""
    if link.startswith(DRAWER):
        title = link.removeprefix(DRAWER)
        return next((dock.toggleViewAction() for dock in docks if dock.windowTitle() == title), None)
    path = link.removeprefix(ACTION)
    return next((action for place, action in menu_actions(bar) if "/".join(place) == path), None)


def menu_actions(bar: QMenuBar) -> Iterator[tuple[tuple[str, ...], QAction]]:
    """Every action of the menus and every menu, with its place: ("View", "Theme", "Dark")."""
    for action in bar.actions():
        yield from _below((), action)


def _below(above: tuple[str, ...], action: QAction) -> Iterator[tuple[tuple[str, ...], QAction]]:
    if action.isSeparator():
        return
    place = (*above, plain(action.text()))
    yield place, action
    menu = action.menu()
    if isinstance(menu, QMenu):
        for inside in menu.actions():
            yield from _below(place, inside)
