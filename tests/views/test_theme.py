from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtGui import QColor

from attn_gui.model.picture import LAST_COLOUR, MASKED, NON_FINITE
from attn_gui.views.theme import THEMES, Theme


def luminance(colour: np.ndarray | str) -> np.ndarray:
    rgb = np.array(QColor(colour).getRgb()[:3]) if isinstance(colour, str) else np.asarray(colour)[..., :3]
    c = rgb / 255
    linear = np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]


def contrast(a: str, b: str) -> float:
    low, high = sorted((float(luminance(a)), float(luminance(b))))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", THEMES.values(), ids=lambda t: t.name)
class TestThemes:
    def test_text_can_be_read_on_what_lies_behind_it(self, theme: Theme) -> None:
        for behind in (theme.window, theme.panel, theme.field, theme.band):
            assert contrast(theme.text, behind) >= 7
        for role in (theme.muted, theme.accent, theme.error, theme.warning):
            assert contrast(role, theme.panel) >= 4.5
        assert contrast(theme.accent_text, theme.accent) >= 4.5

    def test_the_sequential_scale_goes_one_way_in_lightness(self, theme: Theme) -> None:
        steps = np.diff(luminance(theme.sequential[: LAST_COLOUR + 1]))
        assert (steps <= 0).all() or (steps >= 0).all()

    def test_the_diverging_scale_is_centred_on_the_panel(self, theme: Theme) -> None:
        scale = luminance(theme.diverging[: LAST_COLOUR + 1])
        extreme = scale.min() if theme.dark else scale.max()
        middle = scale[LAST_COLOUR // 2 : LAST_COLOUR // 2 + 2]  # an even count has two in the middle
        assert np.abs(middle - extreme).max() < 0.01
        assert np.abs(scale[[0, -1]] - extreme).min() > 0.2
        assert abs(contrast(theme.diverging_stops[3], theme.panel) - 1) < 0.25

    def test_masked_and_non_finite_are_no_colours_of_the_scales(self, theme: Theme) -> None:
        for table in (theme.sequential, theme.diverging):
            distance = np.abs(table[: LAST_COLOUR + 1, :3].astype(int) - table[NON_FINITE, :3]).sum(axis=1)
            assert distance.min() > 60
            assert tuple(table[MASKED, :3]) == QColor(theme.masked).getRgb()[:3]
