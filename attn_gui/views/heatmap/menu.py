"""The actions of a heatmap, for its context menu and for the menu bar."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QMenu

from attn_gui.model.derivation import Cell
from attn_gui.views.heatmap.choices import POOLINGS
from attn_gui.views.heatmap.scale import DIVERGING, MAPPINGS
from attn_gui.views.why.asking import KEYS as WHY_KEYS
from attn_gui.views.why.asking import TEXT as WHY_TEXT
from attn_gui.views.why.asking import TIP as WHY_TIP

if TYPE_CHECKING:
    from attn_gui.views.heatmap.heatmap import Heatmap

ZOOM = 1.5

Name = TypeVar("Name", bound=str)


class Actions:
    """Their shortcuts work while the heatmap, or its table, has the focus."""

    def __init__(self, heatmap: Heatmap) -> None:
        self._heatmap = heatmap
        self.further: list[QAction] = []  # of others, about the selected head and cell
        outlet = heatmap.outlet
        self.zoom_in = self._action("Zoom &in", ["+", "="], "Make the cells larger", lambda: self._zoom(ZOOM))
        self.zoom_out = self._action("Zoom &out", ["-"], "Make the cells smaller", lambda: self._zoom(1 / ZOOM))
        self.fit = self._action("&Fit", ["0"], "Bring every cell into sight", heatmap.pointer.fit)
        self.table = self._action("&Table", ["T"], "Show the same numbers as a table", self._toggle_table)
        self.table.setCheckable(True)
        self.why = self._action(WHY_TEXT, [WHY_KEYS], WHY_TIP, self._ask_why)
        self.copy_value = self._action("Copy &value", ["Ctrl+C"], "Copy the selected cell", outlet.copy_value)
        self.copy_row = self._action("Copy &row", [], "Copy the row of the selected cell", outlet.copy_row)
        self.copy_matrix = self._action("Copy &matrix", ["Ctrl+Shift+C"], "Copy every number", outlet.copy_matrix)
        self.copy_picture = self._action("Copy &picture", [], "Copy the heatmap as an image", outlet.copy_picture)
        self.save_picture = self._action(
            f"{heatmap.name} as PNG or SVG…",
            [],
            "Save the heatmap with its labels and colour bar",
            outlet.ask_and_save,
        )
        self.paint = self._action("P&aint the mask", [], "Click or drag over cells to mask or allow them", None)
        self.paint.setCheckable(True)
        selection = heatmap.context.selection
        self.paint.toggled.connect(selection.set_painting)
        selection.painting_changed.connect(self.paint.setChecked)
        # the table has its own way of copying what is selected in it
        for action in (self.zoom_in, self.zoom_out, self.fit, self.copy_value):
            heatmap.plot.addAction(action)
        heatmap.addActions([self.copy_matrix, self.table, self.why])
        self.mapping = _choice(heatmap, MAPPINGS, heatmap.choices.set_mapping)
        self.pooling = _choice(heatmap, POOLINGS, heatmap.choices.set_pooling)
        self.colours_menu = QMenu("&Colours", heatmap)
        self.colours_menu.addActions(self.mapping.actions())
        self.pooling_menu = QMenu("&Where a pixel holds several cells, show", heatmap)
        self.pooling_menu.addActions(self.pooling.actions())

    def for_table(self) -> list[QAction | None]:
        """What the table's menu has besides a table's own, None for a separator."""
        return [self.copy_row, self.copy_matrix, None, self.table, None, self.why, *self.further]

    def for_menu(self) -> list[QAction | None]:
        """Everything but saving, None for a separator."""
        return [
            self.zoom_in,
            self.zoom_out,
            self.fit,
            None,
            self.colours_menu.menuAction(),
            self.pooling_menu.menuAction(),
            None,
            self.table,
            self.why,
            None,
            self.copy_value,
            self.copy_row,
            self.copy_matrix,
            self.copy_picture,
        ]

    def context_menu(self) -> QMenu:
        """A menu to pop up, which goes away by itself."""
        menu = QMenu(self._heatmap)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        groups: list[list[QAction]] = [
            [self.why, *self._possible()],
            [self.copy_value, self.copy_row, self.copy_matrix],
            [self.copy_picture, self.save_picture],
            [self.paint],
            [self.colours_menu.menuAction(), self.pooling_menu.menuAction()],
            [self.table, self.fit],
        ]
        for group in groups:
            menu.addActions(group)
            menu.addSeparator()
        return menu

    def _possible(self) -> list[QAction]:
        return [action for action in self.further if action.isEnabled()]

    def refresh(self) -> None:
        """Check what is chosen, and disable what this stage cannot have, with the reason."""
        pictures = self._heatmap.pictures
        for action in self.mapping.actions():
            name = action.data()
            possible = not pictures.diverging or name in DIVERGING
            reason = "" if possible else "  (scores may be negative)"
            action.setText(MAPPINGS[name] + reason)
            action.setEnabled(possible)
            action.setChecked(name == pictures.mapping)
        for action in self.pooling.actions():
            action.setChecked(action.data() == pictures.pooling)

    def show_page(self, table: bool) -> None:
        """Offer what the page that is shown can do: a table has no zoom."""
        self.table.setChecked(table)
        for action in (self.zoom_in, self.zoom_out, self.fit):
            action.setEnabled(not table)

    def _toggle_table(self) -> None:
        self._heatmap.show_table(not self._heatmap.shows_table)

    def _ask_why(self) -> None:
        """Have the selected cell derived, as the mask leaves it."""
        selection, stage = self._heatmap.context.selection, self._heatmap.pictures.stage
        cell = Cell("A_masked" if stage == "A" else stage, selection.head, selection.query, selection.key)
        selection.ask_why(cell)

    def _zoom(self, factor: float) -> None:
        """Zoom about the selected cell."""
        plot = self._heatmap.plot
        selection = self._heatmap.context.selection
        plot.ensure_visible(selection.query, selection.key)
        centre = plot.grid.cell(selection.query, selection.key).center() + QPointF(plot.area.topLeft())
        self._heatmap.pointer.zoom(factor, centre)

    def _action(self, text: str, keys: list[str], tip: str, do: Callable[[], object] | None) -> QAction:
        action = QAction(text, self._heatmap)
        action.setShortcuts([QKeySequence(key) for key in keys])
        action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        action.setStatusTip(tip)
        if do is not None:
            action.triggered.connect(lambda: do())
        return action


def _choice(heatmap: Heatmap, names: Mapping[Name, str], choose: Callable[[Name], None]) -> QActionGroup:
    group = QActionGroup(heatmap)
    for name, text in names.items():
        action = group.addAction(text)
        action.setCheckable(True)
        action.setData(name)
    group.triggered.connect(lambda action: choose(action.data()))
    return group
