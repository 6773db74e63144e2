"""Texts of the overview of layers and of the switch between them."""

from __future__ import annotations

LAYERS = {
    "LayersDrawer": {
        "Show": "Every head of every layer as a small picture of its weights or scores, or the table of all scores.",
        "Score of each head": "Which number stands below each head, and what heads are ordered and left out by. Its "
        "tooltip has the formula and where it comes from.",
        "Order": "By layer, or by the score, so that the heads that do most or least of something come first.",
        "Heads kept": "Leaves out heads of too small or too large a score. By layer, they stay in their place, faint.",
        "Limit of the score": "The score from which on, or up to which, heads are kept.",
        "Cancel": "Ends the scoring. Heads that are scored stay so; a change of the choices takes it up again.",
        "Attention rollout": "Multiplies the layers, each with half of what passes it by, and adds the result to the "
        "session: what of each token reaches each token through all of them.",
    },
    "LayersGrid": {
        "": "A row for each layer, a column for each head. A click shows that head in the panels above; a click on a "
        "layer’s name shows that layer."
    },
    "ScoresPage": {"Save as CSV": "Writes the scores of every head of every layer to a file, for a plot or a report."},
    "LayerSwitch": {
        "Previous layer": "Shows the layer, or experiment, before. Nothing is changed by it.",
        "Layer shown": "Which layer of the model, or which experiment of the session, is in sight.",
        "Next layer": "Shows the next layer, or experiment. Nothing is changed by it.",
    },
}

LAYER_ENTRIES = {
    "Previous layer": "Shows the layer, or experiment, before. Nothing is changed by it.",
    "Next layer": "Shows the next layer, or experiment. Nothing is changed by it.",
    "Drawer: layers": "Shows or hides the heads of all layers beside one another, and their scores.",
    "Copy as source expression": "Copies how the selected cells are had from the file that they were opened from.",
}
