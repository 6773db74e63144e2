"""Topics: which page tells of what has the focus."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from attn_gui.views.help.pages import START

# by the name of the class of a widget, or of the nearest around it; the folder names of the parts stand for all in them
TOPICS = {
    "TokenPanel": "tables.md",
    "OutputPanel": "window.md#output",
    "HeatmapPanel": "heatmaps.md",
    "StageHeatmap": "heatmaps.md",
    "HeadSwitch": "heads.md",
    "SentenceBar": "window.md#the-sentence",
    "WhyLine": "why.md",
    "FindBar": "long.md#finding-a-token",
    "MaskChoice": "masks.md",
    "CombinePanel": "masks.md#joining-rules",
    "ImportDialog": "masks.md#from-a-file",
    "MorePanel": "numbers.md",
    "CacheChoice": "masks.md#the-cache",
    "TopBar": "window.md",
    "HintLine": "tours.md#try-this",
    "Status": "window.md#the-status-line",
    "RecoveryBar": "saving.md#after-a-crash",
    "CrashBar": "saving.md#after-a-crash",
    "TorchBar": "window.md#without-torch",
    "WeightsDrawer": "weights.md",
    "StagesDrawer": "attention.md",
    "HeadsDrawer": "heads.md",
    "ScoringDrawer": "scoring.md",
    "WeightsDialog": "weights.md#from-a-file",
    "ExportDialog": "export.md",
    "DiagnoseDialog": "convention.md",
    "SentenceDialog": "tables.md#from-a-sentence",
    "NameDialog": "saving.md",
    "FaultDialog": "saving.md#after-a-crash",
    "ShortcutsDialog": "keyboard.md",
    "HelpWindow": "index.md",
}
# by the module that a class is of
PARTS = {
    "attn_gui.views.why": "why.md",
    "attn_gui.views.walk": "walk.md",
    "attn_gui.views.check": "check.md",
    "attn_gui.views.exercise": "exercises.md",
    "attn_gui.views.compare": "compare.md",
    "attn_gui.views.flow": "flow.md",
    "attn_gui.views.layers": "heads.md#all-layers",
    "attn_gui.views.tour": "tours.md",
    "attn_gui.views.capture": "models.md",
    "attn_gui.views.intervene": "models.md#changing-the-model",
    "attn_gui.views.tensors": "tensors.md",
}


def topic_of(widget: QWidget | None) -> str:
    """The page, and the heading in it, for ``widget`` or the nearest around it that has one; else the first page."""
    while widget is not None:
        for kind in type(widget).__mro__:
            if kind.__name__ in TOPICS:
                return TOPICS[kind.__name__]
            part = next((PARTS[name] for name in PARTS if f"{kind.__module__}.".startswith(f"{name}.")), None)
            if part is not None:
                return part
        widget = widget.parentWidget()
    return f"{START}.md"
