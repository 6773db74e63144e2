"""Themes: the colours of each, and the colour tables of the heatmaps."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QColor

from attn_gui.model.picture import LAST_COLOUR, MASKED, NON_FINITE

ColourTable = NDArray[np.uint8]


@dataclass(frozen=True)
class Theme:
    """Colours by their role, as #rrggbb, and the two scales as stops from low to high (in OKLab, evenly)."""

    name: str
    dark: bool
    window: str
    panel: str
    field: str
    line: str
    text: str
    muted: str
    accent: str
    accent_text: str
    band: str
    error: str
    warning: str
    masked: str
    hatch: str
    non_finite: str
    sequential_stops: tuple[str, ...]
    diverging_stops: tuple[str, ...]

    def colour(self, role: str) -> QColor:
        """Not to be changed: it is everybody's."""
        return _colour(getattr(self, role))

    @property
    def sequential(self) -> ColourTable:
        """For N: 256 colours RGBA, [256, 4], the last two for masked and non-finite cells."""
        return _table(self.sequential_stops, self.masked, self.non_finite)

    @property
    def diverging(self) -> ColourTable:
        """For A and differences, the middle colour standing for 0: [256, 4] as :attr:`sequential`."""
        return _table(self.diverging_stops, self.masked, self.non_finite)


LIGHT = Theme(
    name="light",
    dark=False,
    window="#f3f4f6",
    panel="#ffffff",
    field="#ffffff",
    line="#d5d9df",
    text="#1b2128",
    muted="#5b6570",
    accent="#1f5fbf",
    accent_text="#ffffff",
    band="#e6eefb",
    error="#b3261e",
    warning="#8a5a00",
    masked="#eceef1",
    hatch="#a9b1bb",
    non_finite="#c2185b",
    sequential_stops=("#f6f9fc", "#a9cbe8", "#4a8bc9", "#1b4f93", "#0a2350"),
    diverging_stops=("#8a3d00", "#d98a3d", "#f7e3cb", "#fafafa", "#cfe0f3", "#4a8bc9", "#123f7d"),
)

DARK = Theme(
    name="dark",
    dark=True,
    window="#16191d",
    panel="#1d2126",
    field="#23282e",
    line="#3a424b",
    text="#e8ebee",
    muted="#9aa5b1",
    accent="#7db3ff",
    accent_text="#0c1420",
    band="#263447",
    error="#ff8a80",
    warning="#f2c14e",
    masked="#23282e",
    hatch="#59636e",
    non_finite="#ff5c93",
    sequential_stops=("#1b2128", "#1f4470", "#2f77b8", "#7cb8e8", "#eaf5ff"),
    diverging_stops=("#ffb870", "#c4772b", "#5c3a1c", "#22272d", "#1d4166", "#3f86c8", "#b5dbff"),
)

CONTRAST = Theme(
    name="contrast",
    dark=True,
    window="#000000",
    panel="#000000",
    field="#000000",
    line="#ffffff",
    text="#ffffff",
    muted="#e6e6e6",
    accent="#ffe14d",
    accent_text="#000000",
    band="#3a3400",
    error="#ff9c94",
    warning="#ffe14d",
    masked="#000000",
    hatch="#bdbdbd",
    non_finite="#ff5cc6",
    sequential_stops=("#000000", "#123a66", "#2c7cc4", "#8fcbff", "#ffffff"),
    diverging_stops=("#ffd8a8", "#e08a2e", "#5e3510", "#000000", "#123a66", "#3f8fdc", "#cfe8ff"),
)

THEMES = {theme.name: theme for theme in (LIGHT, DARK, CONTRAST)}


@cache
def _colour(name: str) -> QColor:
    return QColor(name)


@cache
def _table(stops: tuple[str, ...], masked: str, non_finite: str) -> ColourTable:
    knots = np.stack([_oklab(stop) for stop in stops])  # [stops, 3]
    position = np.linspace(0, len(stops) - 1, LAST_COLOUR + 1)
    lab = np.stack([np.interp(position, range(len(stops)), knots[:, c]) for c in range(3)], axis=1)
    table = np.full((256, 4), 255, np.uint8)
    table[: LAST_COLOUR + 1, :3] = _srgb(lab)
    for index, colour in ((MASKED, masked), (NON_FINITE, non_finite)):
        table[index, :3] = _rgb(colour)
    table.flags.writeable = False
    return table


def _rgb(colour: str) -> tuple[int, int, int]:
    parsed = QColor(colour)
    return parsed.red(), parsed.green(), parsed.blue()


# Ottosson 2020, "A perceptual color space for image processing"
_TO_LMS = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_TO_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


def _oklab(colour: str) -> NDArray[np.float64]:
    c = np.array(_rgb(colour)) / 255
    linear = np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
    lab: NDArray[np.float64] = _TO_LAB @ np.cbrt(_TO_LMS @ linear)
    return lab


def _srgb(lab: NDArray[np.float64]) -> NDArray[np.uint8]:
    lms = (lab @ np.linalg.inv(_TO_LAB).T) ** 3
    linear = np.clip(lms @ np.linalg.inv(_TO_LMS).T, 0, 1)
    c = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    return (c * 255 + 0.5).astype(np.uint8)
