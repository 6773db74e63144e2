"""Statistics of a head: what its weights are like, each as one number."""

from __future__ import annotations

from dataclasses import dataclass

from attn_gui.model.table import Floats

# a weight below this part of an even share counts as nothing
NOTHING = 0.1


@dataclass(frozen=True)
class Statistic:
    """One number of a head: its name in files, its title and formula on screen, and what it says.

    ``p`` is a row of N divided by its sum, ``mean`` is taken over the queries that are no padding and
    whose row sums to more than 0.
    percent: whether it is a share of 1.
    """

    name: str
    title: str
    formula: str
    about: str
    percent: bool = False


STATISTICS = (
    Statistic(
        "entropy",
        "Entropy",
        "mean of −Σⱼ pᵢⱼ ln pᵢⱼ",
        "0 where each query attends to one key, ln n where it attends evenly to n keys; in nats",
    ),
    Statistic("largest", "Largest weight", "max of Nᵢⱼ", "The largest weight of the head"),
    Statistic(
        "distance",
        "Mean distance",
        "mean of Σⱼ pᵢⱼ |i − j|",
        "How far away a query looks, in tokens (Vig and Belinkov 2019)",
    ),
    Statistic(
        "span",
        "Effective span",
        "mean of exp(−Σⱼ pᵢⱼ ln pᵢⱼ)",
        "How many keys a query attends to: as many as would give its entropy if shared evenly",
    ),
    Statistic(
        "sink",
        "Sink share",
        "mean of pᵢ₁",
        "What the first key gets; with learned sinks, what they take (1 − Σⱼ Nᵢⱼ)",
        percent=True,
    ),
    Statistic(
        "sparsity",
        "Sparsity",
        "share of cells with pᵢⱼ < 0.1 / number of allowed keys",
        "The part of the allowed cells that get less than a tenth of an even share",
        percent=True,
    ),
)


@dataclass(frozen=True, eq=False)
class HeadStatistics:
    """The statistics of every head, [heads, len(STATISTICS)]; NaN where a head has no row to judge."""

    values: Floats
