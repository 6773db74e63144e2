"""Texts of the window’s controls."""

from __future__ import annotations

# parts that Qt makes and names itself
QT_PARTS = {
    "qt_dockwidget_floatbutton": "Sets the drawer free as a window of its own, or puts it back.",
    "qt_dockwidget_closebutton": "Closes the drawer. Its button at the bottom of the window opens it again.",
    "ScrollLeftButton": "Brings tabs further left into sight.",
    "ScrollRightButton": "Brings tabs further right into sight.",
    "qt_menubar_ext_button": "Shows the menus that there is no room for.",
}

WINDOW = {
    "QWidget": {
        "Close": "Closes this window. What was done in it stays done.",
        "Cancel": "Closes this window and changes nothing.",
        "OK": "Takes what was typed and closes this window.",
    },
    "QTabBar": {"": "Switches between the parts that share this place."},
    "TopBar": {
        "Example": "Starts on a shipped example. What was there comes back with Undo.",
        "Variant": "Self-attention asks and answers within one sequence; cross-attention asks of a second one. "
        "Multi-head does so in several heads, joined by W_O.",
        "Heads": "How many heads there are. Several can look at different things at once; one has to compromise.",
        "More": "Opens scale, softcap, cache, precision, device, memory, biases and decimals.",
    },
    "MaskChoice": {
        "Mask": "Which keys a query may attend to. What is masked gets weight 0 and is hatched.",
        "Combine rules": "Joins several masks by and, or and not, for all heads or some.",
        "Paint": "While it is on, a click or a drag over cells of A masks them or allows them again.",
        "Clear painted": "Takes away what was masked or allowed by hand. The chosen mask stays.",
    },
    "MorePanel": {
        "Scale": "What dot products are multiplied by. 1/√d_k keeps scores in the range where softmax tells keys "
        "apart; "
        "1 shows what happens without.",
        "Softcap": "Bends scores so that none is beyond this in size, as Gemma 2 does. Off, they are left as they are.",
        "Tokens in the cache": "Makes the first tokens keys that ask nothing, as when a model writes one token at a "
        "time.",
        "Precision": "The kind of number that is computed with. bfloat16 and float16 show what a model at half "
        "precision "
        "really gets.",
        "Device": "Where it is computed. A CUDA device is faster on long sequences; the numbers agree up to rounding.",
        "Memory for A and N": "Beyond it, A and N are computed as they are looked at instead of held whole. No number "
        "changes.",
        "Biases": "Adds b_Q, b_K, b_V and b_O to the products with the weights. They start at 0.",
        "Decimals shown": "How many decimals numbers have on screen. What is computed, copied and saved is never "
        "rounded.",
    },
    "DeviceChoice": {
        "": "Computes on this device from now on. CUDA is faster on long sequences; the numbers agree up to rounding.",
    },
    "SentenceBar": {"": "What the selected query looks at, as a sentence: the keys that the heatmaps draw."},
    "FindBar": {
        "Token or its number": "Type a token’s number, its name or a part of it; Enter goes to the next that fits.",
        "Previous match": "Goes to the token before that fits.",
        "Next match": "Goes to the next token that fits.",
        "Close": "Closes the search and goes back to where the focus was.",
    },
    "TokenPanel": {
        "Tokens shown": "Which sequence the table shows: the tokens that ask, or those that are asked.",
    },
    "TokenTable": {
        "": "The tokens and their embeddings X. Type to edit; everything that depends on a number follows at once.",
        "Name of the dimension": "What this dimension stands for; left empty it is called by its number.",
    },
    "OutputTable": {
        "": "What attention makes of each token: the values, mixed by the weights. It is computed, and can be copied."
    },
    "HeadSwitch": {
        "Previous head": "Shows the scores, weights and output of the head before.",
        "Head shown": "Which head’s scores, weights and output are shown, or the mean over all heads.",
        "Next head": "Shows the scores, weights and output of the next head.",
    },
    "Plot": {
        "": "A row for each query, a column for each key, a colour for each number. Point to read a cell, click to "
        "select it, turn the wheel to zoom.",
    },
    "Heatmap": {
        "Scores A, table": "The scores as a table, with the same selection as the picture.",
        "Weights N, table": "The weights as a table, with the same selection as the picture.",
    },
    "Twin": {"": "The heatmap’s numbers as a table with the same selection, for copying and for screen readers."},
    "Minimap": {"": "Where in the whole matrix one is. A click or a drag goes elsewhere."},
    "Status": {
        "Dismiss the message": "Takes the message away.",
        "Cancel": "Stops what is being computed. The last result stays on screen.",
        "Stop computing rows": "Ends the pass over all rows; what comes into sight is computed all the same.",
        "Go on computing rows": "Takes up the pass over all rows again, which makes the picture exact.",
        "What is not computed yet…": "Ends or takes up the pass over all rows, which makes the picture of a long "
        "sequence exact.",
    },
    "RecoveryBar": {
        "Restore": "Brings back the work that was not saved when the program last ended.",
        "Discard": "Deletes this unsaved work for good.",
        "Not now": "Leaves the unsaved work aside and asks again at the next start.",
    },
    "TorchBar": {
        "Copy": "Copies these words, with the command that mends it.",
        "Put this away": "Takes the line away until the next start.",
    },
    "CrashBar": {
        "Show": "Shows the report of the crash. Nothing is sent anywhere.",
        "Put this away": "Takes the line away; the report stays in its folder.",
    },
    "MainWindow": {
        "Projections": "Opens the matrices W and the other tables that can be edited.",
        "Stages": "Opens every step of the computation as a table or a heatmap.",
        "Heads": "Opens all heads beside one another, and their statistics.",
        "Scoring": "Opens every step from queries and keys to weights.",
    },
}
