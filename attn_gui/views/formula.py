"""The formula: X | A | N | output, side by side, one token one band."""

from __future__ import annotations

import math
from collections.abc import Collection

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSplitter, QWidget

from attn_gui.files.export_parts import Window
from attn_gui.model.experiment import Experiment
from attn_gui.model.lit import Lit
from attn_gui.model.walk import OF_SCORES
from attn_gui.views.alone import Alone
from attn_gui.views.bands import HEADER, LOWEST_ROW
from attn_gui.views.context import Context
from attn_gui.views.cut_text import beginning
from attn_gui.views.head_switch import HeadSwitch
from attn_gui.views.heatmap_panel import HeatmapPanel
from attn_gui.views.output_panel import OutputPanel
from attn_gui.views.panel import FOOTER_HEIGHT, TITLE_HEIGHT, Panel
from attn_gui.views.token_panel import TokenPanel

GAP = 8
CROWDED = 6
# rows that an open drawer leaves in sight, and where there is no room even for them
LEAST_ROWS, FOLDED_ROWS = 5, 1
# pixels of a panel beside its cells (margins and row labels), of the column of sums, and above and below the rows
BESIDE_CELLS = 24 + 64
SUMS = 44
# pixels of a panel that says why there is nothing in it
ABSENT = 168
HIDDEN_TOPIC = "hidden token"
CHROME = 2 * 8 + TITLE_HEIGHT + 2 * 4 + FOOTER_HEIGHT + 2
QWIDGETSIZE_MAX = (1 << 24) - 1


class Formula(QSplitter):
    """Shares its width by what each panel needs, until the person moves a divider."""

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self.tokens = TokenPanel(context)
        self._arranging = context.arranging
        self.scores = HeatmapPanel(context.arranged, "A")
        self.weights = HeatmapPanel(context.arranged, "N")
        self.output = OutputPanel(context)
        self.scores.share_columns(self.weights)
        self.heads = HeadSwitch(context)
        self.scores.title_layout.addWidget(self.heads)
        self.panels = (self.tokens, self.scores, self.weights, self.output)
        for panel in self.panels:
            self.addWidget(panel)
        self.setChildrenCollapsible(False)
        self.setHandleWidth(GAP)
        self._moved = False
        self._withheld: frozenset[Panel] = frozenset()
        self._beside: list[int] = []  # the widths that the panels had before one of them was alone
        self._folded_rows = 0
        self._shape: tuple[int, ...] = ()
        names = ("&Tokens X", "&Scores A", "&Weights N", "&Output")
        self.alone = Alone(list(zip(self.panels, names, strict=True)), context.look, self)
        self.alone.changed.connect(self._arrange)
        self.splitterMoved.connect(self._on_moved)
        context.document.changed.connect(lambda before, after: self._on_changed(after.experiment))
        context.bands.changed.connect(self._limit_height)
        context.selection.cell_changed.connect(lambda query, key: context.bands.keep_in_sight(query))
        context.selection.cell_changed.connect(self._say_if_hidden)
        context.highlight.changed.connect(lambda: self._show_lit(context.highlight.parts))
        self._arranging.changed.connect(lambda: self._on_changed(context.document.experiment))
        self._on_changed(context.document.experiment)

    def in_sight(self) -> Window:
        """The queries and keys that the heatmaps show."""
        grid, arranged = self._map.heatmap.plot.grid, self._arranging.feed.arranged
        if arranged is None or not grid.queries or not grid.keys:
            return Window((grid.queries.start, grid.queries.stop), (grid.keys.start, grid.keys.stop))
        queries, keys = arranged.queries.tokens(grid.queries), arranged.keys.tokens(grid.keys)
        return Window((queries.start, queries.stop), (keys.start, keys.stop))

    def go_to(self, query: int, key: int) -> None:
        """Bring a place into the middle of the heatmaps, if it is out of sight."""
        row, column = self._arranging.selection.place((query, key))
        self._map.heatmap.plot.centre_on(row + 0.5, column + 0.5)

    def stand_in(self, panel: QWidget) -> None:
        """Have ``panel`` after the others; it takes the room of those that are out of sight."""
        self.addWidget(panel)
        self.setCollapsible(self.indexOf(panel), False)

    def withhold(self, panels: Collection[Panel], why_none_alone: str) -> None:
        """Keep ``panels`` out of sight, whatever is chosen; no other is alone either where there is a reason."""
        self._withheld = frozenset(panels)
        self.alone.bar(why_none_alone)
        self._arrange()

    @property
    def spare(self) -> int:
        return max(0, min(self._context.bands.count, LEAST_ROWS) - FOLDED_ROWS) * LOWEST_ROW

    def fold(self, pixels: int) -> int:
        self._folded_rows = math.ceil(min(pixels, self.spare) / LOWEST_ROW)
        self._limit_height()
        return self._folded_rows * LOWEST_ROW

    def rebalance(self) -> None:
        """Share the width anew, as panels have come or gone."""
        self._moved = False
        self._balance()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if not self._moved or self.alone.panel is not None:
            self._balance()

    def _arrange(self) -> None:
        """Have those panels in sight that are to be, each as wide as it was when all of them were last."""
        lone = self.alone.panel
        focused = self.window().focusWidget()
        if lone is not None and not self._beside:
            self._beside = self.sizes()
        for panel in self.panels:
            panel.setVisible(panel not in self._withheld and lone in (None, panel))
        self._place_heads()
        self._balance()
        if lone is None:
            if self._beside and self._moved:
                self.setSizes(self._beside)
            self._beside = []
        elif focused is not None and self.isAncestorOf(focused) and not lone.isAncestorOf(focused):
            lone.take_focus()

    def _show_lit(self, parts: Collection[Lit]) -> None:
        """Bring all panels back as something is pointed out in one that is out of sight."""
        lone, lit = self.alone.panel, {part.stage for part in parts}
        stages = {self.tokens: ("X", "context"), self.scores: OF_SCORES, self.weights: ("N",), self.output: ("output",)}
        if lone is not None and any(lit & {*of} for panel, of in stages.items() if panel is not lone):
            self.alone.show(None)

    def _say_if_hidden(self, query: int, key: int) -> None:
        """Say that the heatmaps mark another token than the one that is selected, which they do not draw."""
        trace, found, notices = self._context.feed.trace, self._arranging.feed.arranged, self._context.notices
        if trace is None or found is None:
            return
        e = trace.experiment
        for axis, token, names in ((found.queries, query, e.tokens.tokens), (found.keys, key, e.keys.tokens)):
            if token < len(names) and not axis.is_drawn(token):
                name, marked = beginning(names[token]), beginning(axis.names[axis.places[token]])
                notices.info(f"“{name}” is hidden in the heatmaps, which mark “{marked}”", HIDDEN_TOPIC)
                return
        notices.withdraw(HIDDEN_TOPIC)

    def _on_moved(self) -> None:
        self._moved = True

    def _on_changed(self, experiment: Experiment) -> None:
        e, found = self._arranging.feed.framed(experiment), self._arranging.found
        self._context.bands.set_count(e.n_q, None if found is None else found.queries)
        self.alone.follow()
        self._place_heads()
        shape = (e.n_q, e.n_k, experiment.d_model, e.heads, experiment.d_v, experiment.has_scores)
        if shape != self._shape:
            self._shape = shape
            if not self._moved or self.alone.panel is not None:
                self._balance()

    @property
    def _map(self) -> HeatmapPanel:
        """The heatmap that stands for both: the one in sight, the scores if there are any."""
        lone = self.alone.panel
        if isinstance(lone, HeatmapPanel):
            return lone
        return self.scores if self._context.document.experiment.has_scores else self.weights

    def _place_heads(self) -> None:
        """One heatmap has the switch of heads; it gives the shared rows their height unless a table is alone."""
        there, lone = self._map, self.alone.panel
        if there.title_layout.indexOf(self.heads) < 0:
            there.title_layout.addWidget(self.heads)
        driver = there if lone is None else lone
        # never two: each would have the rows follow its own height
        for on in (False, True):
            for panel in self.panels:
                if (panel is driver) == on:
                    panel.drive_bands(on)

    def _balance(self) -> None:
        whole = self.width() - 3 * GAP
        e = self._context.document.experiment
        d_out = e.weights.W_O.width if e.weights and e.weights.W_O else e.heads * e.d_v
        # many keys need the room more than many dimensions, which scroll
        n_k = self._arranging.feed.framed(e).n_k
        lone = self.alone.panel
        if lone is not None:
            self._write_titles(brief=False, titled=True)
            if isinstance(lone, HeatmapPanel):
                beside = BESIDE_CELLS + (SUMS if lone is self.weights else 0)
                self._context.bands.set_cell_width((self.width() - beside) // n_k)
            self._limit_height()
            return
        crowded = n_k > CROWDED
        left = min(max(256, 136 + 56 * e.d_model), int(whole * (0.22 if crowded else 0.30)))
        right = min(max(168, 40 + 64 * d_out), max(int(whole * (0.13 if crowded else 0.20)), 40 + 64 * min(d_out, 3)))
        left, right = max(left, self.tokens.minimumWidth()), max(right, self.output.minimumWidth())
        if not e.has_values:
            right = ABSENT
        if not e.has_scores:
            self._write_titles(brief=False, titled=True)
            self._set_widths([left, ABSENT, whole - left - ABSENT - right, right])
            self._context.bands.set_cell_width((whole - left - ABSENT - right - SUMS - BESIDE_CELLS) // n_k)
            self._limit_height()
            return
        # A has the switch of heads in its title, and would take the room for it of N
        brief, titled = False, True
        switch = 0 if self.heads.isHidden() else self.heads.spare
        least = self.scores.title_width(titled=True) + (switch if self.heads.brief else 0)
        if (whole - left - right - SUMS) // 2 < least:
            brief, least = True, least - switch
            if whole - left - SUMS - self.output.minimumWidth() < 2 * least:
                titled, least = False, self.scores.title_width(titled=False) - (0 if self.heads.brief else switch)
            right = max(min(right, whole - left - SUMS - 2 * least), self.output.minimumWidth())
        self._write_titles(brief=brief, titled=titled)
        middle = (whole - left - right - SUMS) // 2
        self._set_widths([left, middle, middle + SUMS, right])
        self._context.bands.set_cell_width((middle - BESIDE_CELLS) // n_k)
        self._limit_height()

    def _write_titles(self, *, brief: bool, titled: bool) -> None:
        """Have the switch of heads and the title of the scores take the room that there is."""
        self.heads.be_brief(brief)
        self.scores.show_title(titled)  # its symbol says as much

    def _set_widths(self, sizes: list[int]) -> None:
        away = sum(size for panel, size in zip(self.panels, sizes, strict=True) if panel.isHidden())
        self.setSizes([*sizes, *[away] * (self.count() - len(sizes))])

    def _limit_height(self) -> None:
        """No taller than the rows at their highest: what is left belongs to the window, not inside the panels."""
        bands = self._context.bands
        natural = CHROME + bands.header + bands.natural_height
        rows = min(bands.count, LEAST_ROWS) - self._folded_rows
        self.setMinimumHeight(CHROME + HEADER + rows * LOWEST_ROW)
        self.setMaximumHeight(min(natural, QWIDGETSIZE_MAX))
