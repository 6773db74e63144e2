"""ReadingTabs: the pages on which a reading is looked at and corrected: tensors, names of tokens, mask."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QTabWidget, QWidget

from attn_gui.control.opening import Looked, TensorOpening
from attn_gui.control.token_reading import TokenReading
from attn_gui.files.tensors.previewing import LARGEST_PREVIEWED, MaskPreview, cells_of
from attn_gui.model.tensors.axes import Role
from attn_gui.model.tensors.checks import Problem
from attn_gui.model.tensors.info import TensorInfo
from attn_gui.model.tensors.reading import Part, Reading
from attn_gui.views.context import Context
from attn_gui.views.tensors.contents_page import ContentsPage
from attn_gui.views.tensors.mask_page import MaskPage
from attn_gui.views.tensors.token_page import TokenPage

TITLES = ("Te&nsors", "Na&mes of tokens", "Mas&k")
TENSORS, NAMES, MASK = range(3)
# the page on which a problem of a field is put right
FIELD_PAGES = {"tokens": NAMES, "key_tokens": NAMES, "meaning": MASK}


class ReadingTabs(QTabWidget):
    """``changed(reading)`` comes with each correction; ``waiting_changed`` when something is being read, or was."""

    changed = Signal(object)
    waiting_changed = Signal()

    def __init__(self, context: Context, opening: TensorOpening, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._opening = opening
        self._mask: tuple[object, ...] | None = None
        self.contents_page = ContentsPage()
        self.token_page = TokenPage(TokenReading(context.worker, self))
        self.mask_page = MaskPage(context)
        self.setAccessibleName("What is in the file, and how it is read")
        pages: list[ContentsPage | TokenPage | MaskPage] = [self.contents_page, self.token_page, self.mask_page]
        for place, page in enumerate(pages):
            self.addTab(page, TITLES[place])
            page.changed.connect(self.changed)
        self.token_page.waiting_changed.connect(self.waiting_changed)
        opening.previewed.connect(self._on_previewed)
        opening.not_previewed.connect(self.mask_page.refuse)

    @property
    def waits_for(self) -> str:
        """What keeps a reading without problems from being opened, or ""."""
        if self.token_page.pending:
            return "Reading the names…"
        return "" if self._mask is None or not self.mask_page.undecided else "Say on the page “Mask” what true means."

    def begin(self, looked: Looked | None, folder: Path) -> None:
        """Start on another file, or on none."""
        self._mask = None
        self.setCurrentIndex(TENSORS)
        self.setEnabled(looked is not None)
        self.contents_page.begin(None if looked is None else looked.contents)
        if looked is None:
            self.contents_page.show_reading(None, None, ())
            self.setTabVisible(MASK, False)
        else:
            self.token_page.begin(looked.contents, looked.reading, folder)

    def show_reading(self, looked: Looked, reading: Reading, problems: tuple[Problem, ...]) -> None:
        """Show ``reading``, and which page has ``problems``."""
        self.contents_page.show_reading(looked.contents, reading, problems)
        self.token_page.show_reading(looked.contents, reading)
        self._show_mask(looked, reading)
        faulty = {FIELD_PAGES.get(problem.field, TENSORS) for problem in problems}
        if self.token_page.fault:
            faulty.add(NAMES)
        for place, title in enumerate(TITLES):
            self.setTabText(place, f"{title} ⚠" if place in faulty else title)

    def _show_mask(self, looked: Looked, reading: Reading) -> None:
        """Have the mask previewed, if there is one and it is another than before."""
        parts: tuple[Part, ...] = tuple(part for part in reading.used() if part.role is Role.MASK)
        self.setTabVisible(MASK, bool(parts))
        # its counts are those together with what the scores or the weights block
        said = (reading.used(), reading.batch, reading.layers, reading.heads, reading.kv_heads)
        mask = said if parts else None
        if mask is not None and mask != self._mask:
            tensor = looked.contents.tensor(parts[0].tensors[0])
            if cells_of(tensor, parts[0]) > LARGEST_PREVIEWED:
                self.mask_page.show_unseen(reading, are_flags(tensor))
            else:
                self.mask_page.wait_for(reading)
                self._opening.preview(looked.contents, reading)
        self._mask = mask
        self.mask_page.show_reading(reading)

    def _on_previewed(self, previews: tuple[MaskPreview, ...]) -> None:
        self.mask_page.show_previews(previews)
        self.waiting_changed.emit()


def are_flags(tensor: TensorInfo) -> bool:
    """Whether a mask is one of true and false, as far as was looked."""
    return tensor.dtype == "bool" or (tensor.peek is not None and tensor.peek.flags)
