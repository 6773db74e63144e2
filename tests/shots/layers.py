"""What the scenes of many layers do."""

from __future__ import annotations

from collections.abc import Callable

from attn_gui.files import examples
from attn_gui.views.main_window import MainWindow


def overview(window: MainWindow, settle: Callable[[MainWindow], None], order: str, stage: str = "N") -> None:
    """The heads of a real model, by layer or those first that look most at the token before, or their scores."""
    document = window.context.document
    document.open(examples.load_session("minilm"), None)
    document.keep_view(layers_score="previous_token", layers_order=order, layers_stage=stage)
    next(dock for dock in window.docks if dock.objectName() == "layers").toggleViewAction().trigger()
    settle(window)
