"""The scale of a picture in words and numbers: what its colours stand for."""

from __future__ import annotations

from dataclasses import dataclass

from attn_gui.model.picture import LOG_FLOOR, MASKED, NON_FINITE, ColourMapping, Picture
from attn_gui.views.figures import figure

MAPPINGS: dict[ColourMapping, str] = {
    "linear": "Linear",
    "log": f"Logarithmic, floor {LOG_FLOOR:g}",
    "row maximum": "Each row by its maximum",
    "fixed 0..1": "Fixed, 0 to 1",
    "without first key": "Without the first key",
}
# the others need values that are never negative
DIVERGING: tuple[ColourMapping, ...] = ("linear", "without first key")


@dataclass(frozen=True)
class Scale:
    """What a colour bar says.

    The ends in numbers, the mapping's name (empty for linear), which signs occur, and whether rows stand for others.
    """

    low: str
    high: str
    mapping: str
    masked: bool
    non_finite: bool
    sampled: bool = False


def scale_of(picture: Picture, decimals: int) -> Scale:
    """The scale of ``picture``, its ends with at most ``decimals`` decimals."""
    mapping = picture.request.mapping
    signs = int(picture.index.max()) >= MASKED
    high = "row maximum" if mapping == "row maximum" else end(picture.high, decimals)
    names: dict[ColourMapping, str] = {
        "log": f"log, floor {LOG_FLOOR:g}",
        "fixed 0..1": "fixed",
        "without first key": "without first key",
    }
    return Scale(
        end(picture.low, decimals),
        high,
        names.get(mapping, ""),
        signs and bool((picture.index == MASKED).any()),
        signs and bool((picture.index == NON_FINITE).any()),
        picture.sampled,
    )


def end(value: float, decimals: int) -> str:
    """An end of the scale: no more decimals than it takes."""
    needed = next((d for d in range(decimals) if round(value, d) == round(value, decimals)), decimals)
    return figure(value, needed)
