"""Context: what every view is handed."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

from attn_gui.control.arranging import Arranging
from attn_gui.control.document import Document
from attn_gui.control.feed import Feed
from attn_gui.control.highlight import Highlight
from attn_gui.control.notices import Notices
from attn_gui.control.selection import Selection
from attn_gui.control.settings import Settings
from attn_gui.control.worker import Worker
from attn_gui.views.bands import Bands
from attn_gui.views.look import Look


@dataclass(frozen=True)
class Context:
    """The shared objects: the document, what is computed, what is looked at, and how it looks."""

    worker: Worker
    feed: Feed
    document: Document
    selection: Selection
    settings: Settings
    notices: Notices
    look: Look
    bands: Bands
    highlight: Highlight = field(default_factory=Highlight)

    @cached_property
    def arranging(self) -> Arranging:
        """How heatmaps draw the tokens: all, or without the special ones, or whole words."""
        return Arranging(self.document, self.feed, self.worker, self.selection, self.highlight)

    @cached_property
    def arranged(self) -> Context:
        """For who draws matrices: rows and columns are counted as they are drawn."""
        of = self.arranging
        return replace(self, feed=of.feed, selection=of.selection, highlight=of.highlight)
