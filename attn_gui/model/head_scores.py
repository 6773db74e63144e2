"""Scores of a head: how much it does what heads of trained models have been found to do, each as one number."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

import numpy as np

from attn_gui.model.columns import Values
from attn_gui.model.statistics import STATISTICS, Statistic
from attn_gui.model.table import Floats
from attn_gui.model.tokens import TokenSequence

# p, o and t as in the formulas below; the first key is the sinks' own
PATTERNS = (
    Statistic(
        "first_token",
        "First-token sink",
        "mean over oᵢ ≠ 1 of pᵢ₁",
        "What the first key gets of all queries but its own, which under a causal mask has no other key "
        "(attention sinks: Xiao et al. 2023; Gu et al. 2024)",
        percent=True,
    ),
    Statistic(
        "previous_token",
        "Previous token",
        "mean over oᵢ ≥ 2 of pᵢ,ₒ₋₁",
        "What the key just before the query gets (Voita et al. 2019; Elhage et al. 2021)",
        percent=True,
    ),
    Statistic(
        "same_token",
        "Itself",
        "mean of pᵢ,ₒ",
        "What the query’s own key gets (Clark et al. 2019)",
        percent=True,
    ),
    Statistic(
        "next_token",
        "Next token",
        "mean over oᵢ < n of pᵢ,ₒ₊₁",
        "What the key just after the query gets; 0 under a causal mask (Clark et al. 2019)",
        percent=True,
    ),
    Statistic(
        "induction",
        "Induction-like",
        "mean of Σⱼ pᵢⱼ over 1 < j < oᵢ with tⱼ₋₁ = tₒ",
        "What keys get that followed the query’s token where it stood before, over the queries that have such a key "
        "(prefix matching: Olsson et al. 2022)",
        percent=True,
    ),
    Statistic(
        "duplicate_token",
        "Duplicate token",
        "mean of Σⱼ pᵢⱼ over j < oᵢ with tⱼ = tₒ",
        "What earlier keys of the query’s own token get, over the queries that have such a key (Wang et al. 2022)",
        percent=True,
    ),
    Statistic(
        "separator",
        "Separator",
        "mean of Σⱼ pᵢⱼ over separators j ≠ 1",
        "What separators get: punctuation and special tokens such as [SEP], but neither the first key nor [CLS], which "
        "is counted apart, nor [MASK] and [UNK], which stand for words (Clark et al. 2019)",
        percent=True,
    ),
)

HEAD_SCORES = (*STATISTICS, *PATTERNS)

# of tokens that end a sentence, a passage or a turn
SEPARATORS = frozenset(
    ("[SEP]", "</s>", "<sep>", "<eos>", "<|endoftext|>", "<|im_end|>", "<|eot_id|>", "<|end|>", "<end_of_turn>")
)
# special tokens that part nothing: the one that stands for the whole text, and those that stand for words
NO_SEPARATORS = frozenset(("[CLS]", "<cls>", "[MASK]", "<mask>", "[UNK]", "<unk>"))
# what tokenizers put before or after a piece to say where the word begins
WORD_MARKS = "Ġ▁Ċ \n\t"


@dataclass(frozen=True, eq=False)
class HeadScores:
    """The scores of every head, [heads, len(HEAD_SCORES)]; NaN where a head has no query that a score is about.

    ``p`` is a row of N divided by its sum; means are taken over the queries that are no padding and whose row sums to
    more than 0. o is the place of query i among the keys, counted from 1, and t the tokens as they are written. What
    goes by o is of self-attention alone, and NaN of cross-attention.
    """

    values: Floats


def separators(keys: TokenSequence) -> Values:
    """Which keys are separators, [n_k] bool: marked special, called as one, or punctuation.

    Never the first, nor what is in NO_SEPARATORS: of "special" tokens Clark et al. (2019, section 3.2) count [CLS],
    [SEP], and periods and commas each for itself.
    """
    found = np.array([_is_separator(token) for token in keys.tokens])
    if "special" in keys.columns:
        parting = np.array([token.strip(WORD_MARKS) not in NO_SEPARATORS for token in keys.tokens])
        found |= keys.columns["special"].astype(bool) & parting
    found[0] = False
    return found


def _is_separator(token: str) -> bool:
    piece = token.strip(WORD_MARKS).removeprefix("##")
    if piece in SEPARATORS:
        return True
    return bool(piece) and all(unicodedata.category(sign).startswith("P") for sign in piece)
