"""Texts of the controls of the drawers that change and show the computation."""

from __future__ import annotations

DRAWERS = {
    "WeightsDrawer": {
        "Matrix": "Which matrix is shown: what queries, keys, values or the output are made with.",
        "Further table": "Tables of the scoring: positions, biases, gains, sinks, appended keys. They are edited here.",
        "Show": "The columns of the head at hand, or of all heads.",
    },
    "WeightsControls": {
        "Biases": "Adds b_Q, b_K, b_V and b_O to the products with the weights. They start at 0.",
        "Gains": "Learned factors that follow the QK norm, one for each number of a head.",
        "d_k": "How many numbers a head compares queries and keys by. The default scale goes by it.",
        "d_v": "How many numbers a head passes on for each token.",
        "Initialiser": "How new weights are drawn. Identity makes queries, keys and values the embeddings themselves.",
        "Seed": "The same seed draws the same weights again, to the last digit.",
        "New weights": "Draws every matrix anew, as the initialiser and the seed say.",
    },
    "WeightsView": {"": "The numbers of a matrix. Type to edit, paste to replace a block; scores and weights follow."},
    "StagesDrawer": {
        "Stage": "Which step of the computation is shown, from X to the output.",
        "Show as": "As a table, to read and copy numbers; as a heatmap, to see where they are large.",
    },
    "StageTable": {"": "The stage’s numbers as they were computed. Select cells to copy them with every digit."},
    "HeadsDrawer": {
        "Show": "Every head’s weights or scores as a small picture, or their statistics as a table.",
        "Caption of each head": "Which number stands below each head, to compare them at a glance.",
        "Use Multi-head…": "Chooses the variant with several heads, which this drawer needs.",
    },
    "EmptyState": {"": "Does what is needed for this drawer to have something to show."},
    "HeadGrid": {"": "All heads beside one another. A click shows that head in the panels above."},
    "StatisticsPage": {"Save as CSV": "Writes every head’s statistics to a file, for a plot or a report."},
    "StatisticsTable": {
        "": "A line for each head. A heading sorts, and its tooltip has the formula; a click chooses a head."
    },
    "KVGroup": {
        "KV heads": "How many heads of keys and values there are. Fewer than heads is grouped-query attention, "
        "which saves memory in a cache."
    },
    "PositionGroup": {
        "Positions on inputs": "Adds a vector for its position to each embedding; without one, attention "
        "does not know the order of tokens."
    },
    "NormGroup": {
        "QK norm": "Brings each head’s queries and keys to a like size before they are multiplied, so that no "
        "score gets out of hand."
    },
    "RotaryGroup": {
        "Rotary positions": "Turns queries and keys by their positions, so that scores depend on the "
        "distance between tokens."
    },
    "TemperatureGroup": {
        "Temperature": "Divides the scores: below 1 weights get sharper, above 1 more even.",
        "Back to 1": "Sets the temperature to 1, where it does nothing.",
    },
    "BiasGroup": {
        "Add a bias": "Adds a number to each score, by distance or cell by cell. Several are added up.",
        "Remove bias…": "Takes this bias off the scores.",
    },
    "BiasRow": {"Remove bias…": "Takes this bias off the scores."},
    "NormaliserGroup": {
        "Normaliser": "How a row of scores becomes weights. Softmax is usual; sparsemax and entmax give "
        "small ones exactly 0; sigmoid weighs each key by itself."
    },
    "SinkGroup": {
        "A sink in each head": "One more score in every row: what it takes goes nowhere, so that a head can attend to "
        "nothing in particular.",
        "Scores of the sinks, one a head": "How much each head’s sink draws, as a score like those of the keys.",
    },
    "StageHeatmap": {"": "The stage as a picture. Point to read a cell, click to select it."},
}
