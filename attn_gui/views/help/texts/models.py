"""Texts of the controls and menus that deal with models of this computer."""

from __future__ import annotations

_REPLACE = "Puts something simpler in place of what the head gives, or what the window shows."
_MASK = "Puts another mask in place of the model’s own, in the selected head or layer. Padding stays masked."

MODELS = {
    "ModelDialog": {
        "Model": "The folder or file of the model, on this computer. Nothing is fetched from the network.",
        "Folder": "Chooses the folder of a model: config.json, weights and a tokenizer.",
        "File": "Chooses a file of a model: a GGUF file, or one of the files in its folder.",
        "Text": "What the model is to read. Its tokens are shown below as the model has them.",
        "Text for the decoder": "What the decoder of an encoder-decoder reads. Without one it reads the text itself.",
        "Each line is a text of its own": "Has the model read several texts side by side, as a padded batch.",
        "Cancel": "Stops at the next layer. What is in the window stays.",
        "Capture": "Runs the model on the text and shows every attention of it, layer by layer, exactly as it was "
        "used.",
        "Close": "Closes this window. The model stays open for the next time.",
        "Use for this session": "Closes this window and leaves what is shown as it is: Intervene runs the model that "
        "was read.",
    },
    "InterveneDrawer": {
        "Change": "Where the next change is made: in the selected head, in its layer, or in every layer like it.",
        "Switch off": "Has the head give zeros to every token, to see what the model does without it.",
        "Replace by…": _REPLACE,
        "Forbid the pair": "Keeps the selected query from attending to the selected key.",
        "Other mask…": _MASK,
        "Temperature": "Divides the scale: below 1 weights get sharper, above 1 more even.",
        "Changes in force": "Every change that is tried in the model. Delete takes the selected one out. Undo is for "
        "what the window shows: no change here is a step of it.",
        "Remove": "Takes the selected change out, and runs the model again. Changes here are taken out so, not undone.",
        "Clear changes": "Takes every change out, so that before and after are the same.",
        "Where the model guesses": "The token after which the model says what comes next, or which it guesses.",
        "Before and after": "What the model says as it is, beside what it says with the changes in force.",
        "Cancel": "Stops the run. The changes stay, and the next one runs the model again.",
        "Open model…": "Opens the model that is needed here, from this computer.",
    },
}

MODEL_MENUS = {
    "Intervene in the model": "Changes something inside the captured model at the selected layer, head and cell, and "
    "shows what it then says.",
    "Replace by": _REPLACE,
    "Other mask": _MASK,
}

MODEL_ENTRIES = {
    "Open model": "Opens a model of this computer and shows every attention of it on a text, layer by layer. Nothing "
    "is fetched.",
    "Intervene": "Changes something inside a captured model. Open one first: File, Open model.",
    "Replace by": _REPLACE,
    "Other mask": _MASK,
    "Switch off": "Has the head give zeros to every token, to see what the model does without it.",
    "Forbid the pair": "Keeps the selected query from attending to the selected key in the model.",
    "Its mean over the text": "Gives every token the mean of what the head gives to the tokens of the text.",
    "Even weights": "Has the head look at all the keys that it may alike.",
    "What the window shows": "Has the model go on with this layer as it was edited in the window.",
    "Clear changes": "Takes every change out of the model.",
    "Drawer: intervene": "Shows or hides the changes inside a model, and what it says before and after.",
}
