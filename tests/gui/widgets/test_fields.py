"""Boxes of choices and numbers, painted."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QApplication, QDoubleSpinBox, QLineEdit, QSpinBox, QWidget
from pytestqt.qtbot import QtBot

from ctm_gui.widgets.basic import combo_box
from ctm_gui.widgets.fields import DecimalBox, NumberBox
from ctm_gui.widgets.theme import LIGHT
from ctm_gui.widgets.theme_change import apply_theme

_EDGE_PX = 3  # the frame and its rounding
_ARROW_PX = 20  # at the right end of a box of choices


def ink(widget: QWidget) -> list[int]:
    """Return the columns of a widget that have the colour of text."""
    image = widget.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    rows = range(_EDGE_PX, image.height() - _EDGE_PX)
    columns = range(_EDGE_PX, image.width() - _EDGE_PX)
    dark = QColor(LIGHT.text).lightness() + 60
    return [x for x in columns if any(image.pixelColor(x, y).lightness() < dark for y in rows)]


@pytest.fixture(autouse=True)
def themed(qapp: QApplication) -> None:
    apply_theme(qapp, LIGHT)


@pytest.mark.parametrize("made", [NumberBox, DecimalBox])
def test_numbers_begin_where_words_do(qtbot: QtBot, made: type[QSpinBox | QDoubleSpinBox]) -> None:
    box, line = made(), QLineEdit()
    for widget in (box, line):
        qtbot.addWidget(widget)
        widget.resize(120, 24)
        widget.show()
    box.setSpecialValueText("H")
    line.setText("H")
    assert abs(ink(box)[0] - ink(line)[0]) <= 2


def test_a_choice_that_is_too_wide_ends_in_an_ellipsis(qtbot: QtBot) -> None:
    def picture(words: str) -> QImage:
        box = combo_box("Target", [words], letters=8)
        qtbot.addWidget(box)
        box.resize(120, 24)
        box.show()
        return box.grab().toImage()

    assert picture("W" * 40) in [picture("W" * count + "…") for count in range(1, 12)]


@pytest.mark.parametrize("words", ["FPS", "P50", "fp16", "All operators"])
def test_a_box_of_its_usual_width_has_room_for_its_choice(qtbot: QtBot, words: str) -> None:
    def letters(added_px: int) -> list[int]:
        box = combo_box("Unit", [words])
        qtbot.addWidget(box)
        box.resize(box.sizeHint().width() + added_px, 24)
        box.show()
        end = box.sizeHint().width() - _ARROW_PX
        return [x for x in ink(box) if x < end]

    assert letters(0) == letters(40)
