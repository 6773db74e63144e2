"""Texts of the dialog that opens tensors."""

from __future__ import annotations

TENSORS = {
    "TensorsDialog": {
        "File": "The file, files or folder that is looked into, with how much is in it.",
        "Browse": "Chooses another file, or several files of one folder.",
        "Folder": "Chooses a folder with one file for each layer.",
        "What is in the file, and how it is read": "The tensors, the names of tokens, and the mask if there is one.",
        "Tensors in the file": "Every tensor with its shape, its range, and what it is read as. Choose one to correct "
        "it below.",
        "Open": "Opens what the sentence on top says. Unsaved work in the window is asked about first.",
        "Use as mask": "Puts this mask on the experiment in the window. Undo brings the old one back.",
        "Cancel": "Stops reading if a file is being read, and closes this window otherwise.",
    },
    "PartEditor": {
        "Read as": "What this tensor is of an attention. Not used leaves it out.",
        "Axis": "What this axis counts. What stood here before goes to the axis that counted it.",
        "Order": "Whether one axis holds all of Q, then K, then V, or these three head by head.",
    },
    "Pickers": {
        "Layers": "Opens one layer, or all of them, each as an experiment of its own.",
        "Batch item": "Which item of the batch is opened.",
        "Heads": "How many heads lie side by side in one axis, where no tensor says.",
        "Key/value heads": "How many heads of keys and values lie side by side in one axis, where no tensor says.",
    },
    "ProblemsView": {
        "Read it so": "Reads the axes as the sentence beside it asks.",
    },
    "TokenPage": {
        "Keys have names of their own": "For cross-attention, where keys are other tokens than queries.",
    },
    "TokenBox": {
        "Names of…": "Names of tokens, one a line, or between blanks, or a JSON list. Left empty they are numbered.",
        "Names in the file for…": "Lists of words that lie in the file itself.",
        "Names of queries from a file": "Takes the names from a text or JSON file, or splits the text above by a "
        "tokenizer.json.",
        "Names of keys from a file": "Takes the names from a text or JSON file, or splits the text above by a "
        "tokenizer.json.",
    },
    "MaskPage": {
        "True = may attend": "Where the file says true, a query may attend, as in scaled_dot_product_attention.",
        "True = blocked": "Where the file says true, a query may not attend, as in nn.MultiheadAttention.",
        "Added to the scores": "The numbers are added to scores; −∞ masks, and others become a bias.",
        "Keys allowed a row": "How many keys each query may attend to, with each meaning of the mask.",
    },
}
TENSOR_ENTRIES = {
    "Open tensors": "Shows attention weights, scores, or Q, K and V of another program. What is in the file is told "
    "in words before it is opened.",
}
