"""A long sequence whose attention has a structure to find: a band, a sink, and repeats that are recognised."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Causal
from attn_gui.model.table import Floats
from attn_gui.model.weights import Weights

HEADS = 4
# dimensions of a head, of a word's code, and of a position
SIZE = 16
# the score of a match: far above the rest of 131,072 keys together
MATCH = 24.0
PASSAGE = 256
SYLLABLES = ("ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu", "na", "pe", "ri", "so", "tu", "va")
START = "<start>"


def structured_experiment(n: int, seed: int = 0) -> Experiment:
    """``n`` words, causal, four heads: near words, the first word, what followed this word before, the same word.

    A quarter of the passages repeat an earlier one. An embedding holds the codes of the word and of the one before it
    (words of the extended Hamming code of 16 bits, so that no two are much alike), the cosines and sines of eight
    frequencies of its position, a 1, and whether it is the first. The second head is an attention sink (Xiao et al.
    2023), the third an induction head (Olsson et al. 2022).
    """
    words = _words(n, np.random.RandomState(seed))
    codes = _codes()[words]  # [n, SIZE]
    codes[0] = 0.0  # START is no word
    before = np.vstack([np.zeros((1, SIZE)), codes[:-1]])
    angles = np.arange(n)[:, np.newaxis] * np.geomspace(0.25, 1 / 4000, SIZE // 2)
    rest = np.zeros((n, SIZE))
    rest[:, 0], rest[0, 1] = 1.0, 1.0
    positions = np.hstack([np.cos(angles), np.sin(angles)]) / np.sqrt(SIZE // 2)
    X = np.hstack([codes, before, positions, rest])  # [n, 4 * SIZE]
    names = np.array([_word(k) for k in range(len(_codes()))], dtype=object)[words].tolist()
    return Experiment.from_tokens([START, *names[1:]], X, _weights(), heads=HEADS, rule=Causal())


def _words(n: int, random: np.random.RandomState) -> NDArray[np.intp]:
    """Words by number: frequent ones and rare ones, in passages of which some repeat an earlier one."""
    count = len(_codes())
    chances = 1.0 / np.arange(10, 10 + count)
    words = random.choice(count, n, p=chances / chances.sum())
    for start in range(PASSAGE, n - PASSAGE + 1, PASSAGE):
        if random.uniform() < 0.25:
            earlier = random.randint(0, start - PASSAGE + 1)
            words[start : start + PASSAGE] = words[earlier : earlier + PASSAGE]
    return words


def _codes() -> Floats:
    """2,048 unit vectors, [2048, SIZE], any two of which differ in at least 4 signs (Hamming 1950)."""
    bits = (np.arange(1 << SIZE)[:, np.newaxis] >> np.arange(SIZE)) & 1  # [65536, SIZE]
    checks = np.bitwise_xor.reduce(bits * np.arange(SIZE), axis=1)
    chosen = bits[(checks == 0) & (bits.sum(axis=1) % 2 == 0)]
    codes: Floats = (1.0 - 2.0 * chosen) / np.sqrt(SIZE)
    return codes


def _word(number: int) -> str:
    """A word of three syllables for each number below 4,096."""
    return "".join(SYLLABLES[number >> shift & 15] for shift in (8, 4, 0))


def _weights() -> Weights:
    width = HEADS * SIZE
    gain = np.sqrt(MATCH * np.sqrt(SIZE))
    W_Q, W_K, W_V = (np.zeros((width, width)) for _ in range(3))
    word, before, position, rest = (slice(k * SIZE, (k + 1) * SIZE) for k in range(4))
    one = np.eye(SIZE) * gain
    # head: what the query brings, what the key has to be
    looks: list[tuple[slice, slice, NDArray[Any], NDArray[Any]]] = [
        (position, position, one, one),
        (rest, rest, _single(0) * gain, _single(1) * gain),
        (word, before, one, one),
        (word, word, one, one),
    ]
    for head, (of_query, of_key, Q, K) in enumerate(looks):
        columns = slice(head * SIZE, (head + 1) * SIZE)
        W_Q[of_query, columns], W_K[of_key, columns] = Q, K
        W_V[word, columns] = np.eye(SIZE)
    return Weights.of(W_Q, W_K, W_V, np.eye(width))


def _single(row: int) -> Floats:
    """A SIZE x SIZE matrix that brings dimension ``row`` to the first."""
    matrix = np.zeros((SIZE, SIZE))
    matrix[row, 0] = 1.0
    return matrix
