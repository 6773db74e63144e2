"""A line that is laid out once looks as it would drawn anew."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFont, QImage, QPainter
from PySide6.QtWidgets import QApplication

from attn_gui.views.look import number_font
from attn_gui.views.writer import along, writer

FLAG = Qt.AlignmentFlag
MIDDLE = FLAG.AlignVCenter
ASKED = st.sampled_from(["−0.1234", "1", "", "the store …", "שלום", "日本", "W" * 9, "fi AV To"])


def painted(text: str, place: QRectF, alignment: Qt.AlignmentFlag, font: QFont, *, anew: bool) -> QImage:
    image = QImage(140, 60, QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.white)
    painter = QPainter(image)
    painter.setPen(QColor("#1b2128"))
    painter.setFont(font)
    if anew:
        painter.drawText(place, alignment | MIDDLE, text)
    else:
        at = place.left(), place.top(), place.width(), place.height()
        writer(font).line(text).draw(painter, *at, along(alignment))
    painter.end()
    return image


@given(
    ASKED,
    st.tuples(st.integers(0, 20), st.integers(0, 20), st.integers(8, 110), st.integers(6, 36)),
    st.sampled_from([FLAG.AlignLeft, FLAG.AlignRight, FLAG.AlignHCenter]),
    st.booleans(),
)
def test_a_line_is_drawn_as_text_is(
    qapp: QApplication, text: str, place: tuple[int, int, int, int], alignment: Qt.AlignmentFlag, numbers: bool
) -> None:
    font = number_font() if numbers else qapp.font()
    width = writer(font).line(text).width
    left, top, room, height = place
    if width > room:
        # what does not fit is cut before it is drawn; only its height may still be too much
        room = int(width) + 1
    where = QRectF(left, top, room, height)
    first, second = (painted(text, where, alignment, font, anew=anew) for anew in (True, False))
    assert first == second


def test_fonts_that_differ_in_a_feature_have_writers_of_their_own(qapp: QApplication) -> None:
    plain = number_font()
    plain.clearFeatures()
    assert writer(number_font()) is writer(number_font())
    assert writer(plain) is not writer(number_font())
    assert writer(number_font()).font == number_font()


@pytest.mark.parametrize("text", ["", "a"])
def test_a_line_is_laid_out_once(qapp: QApplication, text: str) -> None:
    assert writer(qapp.font()).line(text) is writer(qapp.font()).line(text)
