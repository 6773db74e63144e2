"""The menu bar: every action of the program has a place in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QMenu, QMessageBox

from attn_gui.files import examples
from attn_gui.model.masks import choosable
from attn_gui.model.reshape import head_choices
from attn_gui.model.variant import Variant
from attn_gui.views import half_typed
from attn_gui.views.arranging_actions import ArrangingActions
from attn_gui.views.buttons import give_letters
from attn_gui.views.help.actions import HelpActions
from attn_gui.views.layers.source_action import SourceAction
from attn_gui.views.mask_choice import CUSTOM, FROM_FILE
from attn_gui.views.panel_focus import PanelFocus
from attn_gui.views.shortcuts import LISTED_AS
from attn_gui.views.top_bar import variant_reason

if TYPE_CHECKING:
    from attn_gui.views.about_dialog import AboutDialog
    from attn_gui.views.diagnose_dialog import DiagnoseDialog
    from attn_gui.views.exercise.make_dialog import MakeDialog
    from attn_gui.views.main_window import MainWindow

# words of the structured texts that can be made
LONG_EXAMPLES = (1_024, 8_192, 32_768, 131_072)
THEMES = {"system": "As the system", "light": "Light", "dark": "Dark", "contrast": "High contrast"}


class Menus:
    """Fills the window's menu bar from what the views offer."""

    def __init__(self, window: MainWindow) -> None:
        self._window = window
        self._context = window.context
        formula = window.formula
        heatmaps = [formula.scores.heatmap, formula.weights.heatmap]
        self.panels = PanelFocus([formula.tokens.stack, *heatmaps, formula.output.table, *window.docks])
        self.help = HelpActions(window)
        self.arranging = ArrangingActions(self._context, window)
        self.diagnosis: DiagnoseDialog | None = None
        self.about: AboutDialog | None = None
        self.exercises: MakeDialog | None = None
        self.barred_by_exercises: list[QAction] = []  # what shows or computes what an exercise hides
        bar = window.menuBar()
        self._fill_file(bar.addMenu("&File"))
        self._fill_edit(bar.addMenu("&Edit"))
        self._fill_view(bar.addMenu("&View"))
        self._fill_attention(bar.addMenu("&Attention"))
        self._fill_learn(bar.addMenu("&Learn"))
        self._fill_help(bar.addMenu("&Help"))

    def _fill_file(self, menu: QMenu) -> None:
        files = self._window.files
        menu.addActions([files.new, files.open])
        menu.addMenu(files.recent)
        menu.addActions([files.open_tensors, self._window.models.open, files.open_weights])
        menu.addSeparator()
        menu.addActions([files.save, files.save_as, files.embed, files.describe])
        menu.addSeparator()
        menu.addActions([files.export, self._window.code.save])
        pictures = menu.addMenu("Save &picture")
        for panel in (self._window.formula.scores, self._window.formula.weights):
            _add(pictures, panel.picture_actions())
        flow = pictures.addAction("&Flow as PNG or SVG…")
        flow.setStatusTip("Save the lines from queries to keys that are in sight in the drawer")
        flow.triggered.connect(self._save_flow)
        self.barred_by_exercises.append(flow)
        menu.addSeparator()
        leave = menu.addAction("&Quit")
        leave.setShortcut(QKeySequence(QKeySequence.StandardKey.Quit))
        leave.setMenuRole(QAction.MenuRole.QuitRole)
        leave.triggered.connect(self._window.close)

    def _fill_edit(self, menu: QMenu) -> None:
        stacks = self._context.document.undo_group  # the one in force changes with a visit
        undo, redo = stacks.createUndoAction(menu, "&Undo"), stacks.createRedoAction(menu, "&Redo")
        for action, name, go in ((undo, "Undo", stacks.undo), (redo, "Redo", stacks.redo)):
            action.setProperty(LISTED_AS, name)  # its text names what is undone
            action.triggered.disconnect()
            action.triggered.connect(lambda checked=False, go=go: go() if half_typed.commit() else None)
        undo.setShortcut(QKeySequence(QKeySequence.StandardKey.Undo))
        # of the platform's own and the two that people try, each once
        keys = [
            *QKeySequence.keyBindings(QKeySequence.StandardKey.Redo),
            *map(QKeySequence, ("Ctrl+Y", "Ctrl+Shift+Z")),
        ]
        redo.setShortcuts(list(dict.fromkeys(keys)))
        menu.addActions([undo, redo])
        menu.addSeparator()
        tokens = self._window.formula.tokens
        for of_tables in tokens.edit_actions.actions():
            if of_tables is not None:
                of_tables.setProperty(LISTED_AS, f"Tables: {of_tables.text().replace('&', '').lower()}")
        _add(menu, tokens.actions_for_menu())
        find = menu.addAction("G&o to token…")
        find.setShortcut(QKeySequence(QKeySequence.StandardKey.Find))
        find.setStatusTip("By its number, its name or a part of it")
        find.triggered.connect(self._window.find_bar.open)
        menu.addSeparator()
        menu.addMenu(self._window.code.menu)
        menu.addAction(SourceAction(self._context, self._window))

    def _fill_view(self, menu: QMenu) -> None:
        settings = self._context.settings
        theme = menu.addMenu("&Theme")
        group = QActionGroup(theme)
        for name, text in THEMES.items():
            action = theme.addAction(text)
            action.setCheckable(True)
            action.setData(name)
            group.addAction(action)
        theme.aboutToShow.connect(lambda: _check(group, settings.theme))
        group.triggered.connect(lambda action: setattr(settings, "theme", action.data()))
        motion = menu.addAction("&Reduced motion")
        motion.setCheckable(True)
        motion.setChecked(settings.reduced_motion)
        motion.toggled.connect(lambda on: setattr(settings, "reduced_motion", on))
        menu.addSeparator()
        for panel in (self._window.formula.scores, self._window.formula.weights):
            sub = menu.addMenu(panel.menu_title)
            _add(sub, panel.actions_for_menu())
        _add(menu, self._window.formula.heads.actions_for_menu())
        _add(menu, self._window.layers.actions_for_menu())
        menu.addAction(self._window.formula.tokens.show_positions)
        menu.addSeparator()
        self.arranging.put_into(menu)
        menu.addSeparator()
        menu.addActions([self._window.pins.pin, self._window.pins.unpin])
        menu.addSeparator()
        _add(menu.addMenu("Show &alone"), self._window.formula.alone.actions_for_menu())
        menu.addSeparator()
        for number, dock in enumerate(self._window.docks, start=1):
            action = dock.toggleViewAction()
            action.setShortcut(QKeySequence(f"Ctrl+{number % 10}"))
            action.setProperty(LISTED_AS, f"Drawer: {dock.windowTitle().lower()}")
            menu.addAction(action)
        menu.addSeparator()
        for text, keys, go in (
            ("&Next panel", "F6", self.panels.next),
            ("&Previous panel", "Shift+F6", self.panels.previous),
        ):
            action = menu.addAction(text)
            action.setShortcut(QKeySequence(keys))
            action.setStatusTip("Go round the panels and the open drawers")
            action.triggered.connect(go)

    def _fill_attention(self, menu: QMenu) -> None:
        bar = self._window.top_bar
        variants, heads, masks = (menu.addMenu(text) for text in ("&Variant", "&Heads", "&Mask"))
        more_masks = QMenu("M&ore", masks)
        document = self._context.document

        def fill_variants() -> None:
            chosen = document.experiment.variant
            choices = [(v, v.label, variant_reason(document.experiment, v)) for v in Variant]
            _choices(variants, choices, chosen, bar.variant.chosen.emit)

        def fill_heads() -> None:
            choices = [(count, str(count), reason) for count, reason in head_choices(document.experiment)]
            _choices(heads, choices, document.experiment.heads, bar.heads.chosen.emit)

        def fill_masks() -> None:
            present, choose = bar.masking.kind.currentData(), bar.masking.kind.chosen.emit
            for sub, usual in ((masks, True), (more_masks, False)):
                _choices(sub, [(r.kind, r.title, None) for r in choosable() if r.usual is usual], present, choose)
            masks.addMenu(more_masks)
            masks.addSeparator()
            for value, text in ((CUSTOM, "Custom"), (FROM_FILE, "From a file…")):
                _choice(masks, value, text, None, present, choose)

        for sub, fill in ((variants, fill_variants), (heads, fill_heads), (masks, fill_masks)):
            sub.aboutToShow.connect(fill)
        menu.addSeparator()
        paint = menu.addAction("&Paint the mask")
        paint.setCheckable(True)
        paint.setShortcut(QKeySequence("P"))
        paint.setStatusTip("Click or drag over cells of A to mask them or to allow them again")
        paint.toggled.connect(bar.masking.set_painting)
        self._context.selection.painting_changed.connect(paint.setChecked)
        menu.addAction("&Clear painted cells").triggered.connect(bar.masking.clear_painted)
        combine = menu.addAction("Com&bine rules…")
        combine.setStatusTip("Join several rules by and, or and not, for all heads or some")
        combine.triggered.connect(bar.masking.open_panel)
        menu.addSeparator()
        cache = menu.addAction("C&ache…")
        cache.setStatusTip("How many of the tokens are keys of the cache, as in decoding")
        cache.triggered.connect(self._show_cache)
        more = menu.addAction("&Scale, precision, device…")
        more.setShortcut(QKeySequence("Ctrl+M"))
        more.triggered.connect(self._window.more.click)
        menu.addSeparator()
        menu.addMenu(self._window.models.changes.menu)
        convention = menu.addAction("&Find the convention…")
        convention.setStatusTip("Which way of computing attention gives another program's scores, weights or output")
        convention.triggered.connect(self._show_diagnosis)
        self.barred_by_exercises.append(convention)

    def _fill_learn(self, menu: QMenu) -> None:
        walk = menu.addAction("&Walk through")
        walk.setShortcut(QKeySequence("F5"))
        walk.setStatusTip("One stage of the computation after another, with the numbers of the selected cell")
        walk.triggered.connect(self._window.walk_through)
        menu.addMenu(self._window.tours.menu)
        exercise = menu.addAction("Make e&xercise…")
        exercise.setStatusTip("Save this experiment with stages to fill in, for one student or a list of them")
        exercise.triggered.connect(self._show_exercises)
        self.barred_by_exercises += [walk, exercise]
        menu.addSeparator()
        for name in examples.names():
            menu.addAction(name).triggered.connect(lambda checked=False, name=name: self._window.open_example(name))
        long = menu.addMenu("A &long text")
        for count in LONG_EXAMPLES:
            action = long.addAction(f"{count:,} words")
            action.triggered.connect(lambda checked=False, count=count: self._window.open_long_example(count))
        menu.addSeparator()
        menu.addAction("&About this example").triggered.connect(self._show_note)

    def _fill_help(self, menu: QMenu) -> None:
        _add(menu, self.help.actions())
        about = menu.addAction("&About attn_gui")
        about.setMenuRole(QAction.MenuRole.AboutRole)
        about.triggered.connect(self._show_about)

    def _save_flow(self) -> None:
        from attn_gui.views.flow.drawer import FlowDrawer

        dock = next(dock for dock in self._window.docks if dock.objectName() == "flow")
        if not dock.isVisible():
            dock.toggleViewAction().trigger()
        dock.raise_()
        drawer = dock.widget()
        if isinstance(drawer, FlowDrawer):
            drawer.outlet.ask_and_save()

    def _show_cache(self) -> None:
        self._window.more.open()
        self._window.more.panel.cache.count.setFocus(Qt.FocusReason.PopupFocusReason)

    def _show_note(self) -> None:
        named = self._context.document.session.named
        self._message(named.name, named.note or "This experiment has no note.")

    def _show_diagnosis(self) -> None:
        if self.diagnosis is None:
            # imported when first needed, like every dialog, so that the first window does not wait for it
            from attn_gui.control.diagnosing import Diagnosing
            from attn_gui.views.diagnose_dialog import DiagnoseDialog

            diagnosing = Diagnosing(self._context.worker, self._window)
            self.diagnosis = DiagnoseDialog(self._context, diagnosing, self._window)
        self.diagnosis.show()
        self.diagnosis.raise_()
        self.diagnosis.activateWindow()

    def _show_exercises(self) -> None:
        if self.exercises is None:
            from attn_gui.views.exercise.make_dialog import MakeDialog

            self.exercises = MakeDialog(self._context, self._window)
        self.exercises.show()
        self.exercises.raise_()
        self.exercises.activateWindow()

    def _show_about(self) -> None:
        if self.about is None:
            from attn_gui.views.about_dialog import AboutDialog

            self.about = AboutDialog(self._context, self._window.more.devices, self._window)
        self.about.refresh()
        self.about.show()
        self.about.raise_()
        self.about.activateWindow()

    def _message(self, title: str, text: str) -> None:
        box = QMessageBox(self._window)
        box.setText(title)
        box.setInformativeText(text)
        box.setStandardButtons(QMessageBox.StandardButton.Ok)
        give_letters(box)
        box.exec()


def _add(menu: QMenu, actions: Sequence[QAction | None]) -> None:
    for action in actions:
        if action is None:
            menu.addSeparator()
        else:
            menu.addAction(action)


def _check(group: QActionGroup, value: str) -> None:
    for action in group.actions():
        action.setChecked(action.data() == value)


def _choices(
    menu: QMenu, choices: Sequence[tuple[object, str, str | None]], present: object, choose: Callable[[object], object]
) -> None:
    """Fill ``menu`` anew: those that cannot be had are disabled with the reason."""
    menu.clear()
    for value, text, reason in choices:
        _choice(menu, value, text, reason, present, choose)


def _choice(
    menu: QMenu, value: object, text: str, reason: str | None, present: object, choose: Callable[[object], object]
) -> None:
    action = menu.addAction(text if reason is None else f"{text}  ({reason})")
    action.setEnabled(reason is None)
    action.setCheckable(True)
    action.setChecked(value == present)
    action.triggered.connect(lambda: choose(value))
