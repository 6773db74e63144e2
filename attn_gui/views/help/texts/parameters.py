"""Texts of the parameters of masks, positions, norms, biases and normalisers."""

from __future__ import annotations

PARAMETERS = {
    "PartFields": {
        "Aligned": "Which corner the diagonal starts from: the first key, or the last one, as a cache needs.",
        "Window": "How many keys to look back, besides the query’s own place; with “Global + window”, on either side.",
        "Dilation": "How far apart the keys of the window are: the same number of them reaches further.",
        "Prefix": "So many first keys are open to every query.",
        "Global tokens": "So many first tokens see all and are seen by all.",
        "Block": "How many tokens are in a block.",
        "Neighbours": "So many blocks on either side are open as well.",
        "Share": "The part of all cells that is open.",
        "Seed": "The same seed opens the same cells again.",
        "both directions": "Keeps buckets for keys before and after the query apart, as an encoder does.",
        "both sides": "Lets a query look ahead as far as back.",
        "own place": "Lets a query attend to its own place, whatever chance says.",
        "Base": "The longest wavelengths grow with it: a larger base tells positions further apart.",
        "Scaling": "How a model is stretched over longer sequences than it was trained on.",
        "Factor": "How much longer sequences may get.",
        "Trained length": "How many positions the model was trained on.",
        "Fast": "YaRN: pairs that turn more often than this keep their frequency.",
        "Slow": "YaRN: pairs that turn less often than this are divided by the factor.",
        "High": "Llama 3: wavelengths below the trained length divided by this stay.",
        "Low": "Llama 3: wavelengths above the trained length divided by this are stretched.",
        "Pairs": "Which two numbers of a head are turned together: its two halves, or neighbours. Models differ.",
        "Width": "So many first numbers of a head are turned; 0 turns all.",
        "Offset": "Added to every position, as when a text begins further on.",
        "Farthest": "Beyond this distance all keys share one bucket.",
        "eps": "Added under the root, so that a vector of zeros can be divided.",
        "b": "Added to every score. Minus the logarithm of the number of keys keeps rows near 1.",
    },
}
