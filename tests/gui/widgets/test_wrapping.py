"""Labels that keep a number and its unit in one line, and copy ordinary spaces."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QTextLayout
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from ctm_gui.compare.answer_view import AnswerView
from ctm_gui.widgets.basic import label
from ctm_gui.widgets.wrapping import NO_BREAK, unbroken

SENTENCE = "comes first with a chance of > 99 %: P50 1.12 ms (80 % interval 0.56 to 2.24 ms), 60 W."


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("12 ms", "12_ms"),
        ("a chance of > 99 % of 3 models", "a chance of >_99_% of 3 models"),
        ("8 – 12.5 ms, 21 GB/s, 4.2 TFLOP/s", "8 – 12.5_ms, 21_GB/s, 4.2_TFLOP/s"),
        ("1 × 224", "1_×_224"),
        ("4 sweeps, 2 MBits, 5 s.", "4 sweeps, 2 MBits, 5_s."),
        ("", ""),
    ],
)
def test_units_and_signs_stay_with_their_number(text: str, kept: str) -> None:
    assert unbroken(text).replace(NO_BREAK, "_") == kept


@pytest.mark.parametrize("width", range(60, 400, 20))
def test_no_line_of_a_label_ends_between_a_number_and_its_unit(qtbot: QtBot, width: int) -> None:
    view = label(SENTENCE)
    qtbot.addWidget(view)
    shown = QLabel.text(view)
    layout = QTextLayout(shown, view.font())
    layout.beginLayout()
    ends = set()
    while (line := layout.createLine()).isValid():
        line.setLineWidth(width)
        ends.add(line.textStart() + line.textLength())
    layout.endLayout()
    parts = ("> 99", "99 %", "1.12 ms", "80 %", "2.24 ms", "60 W")
    gaps = {SENTENCE.index(part) + part.index(" ") + 1 for part in parts}
    assert not ends & gaps


def test_what_is_read_and_copied_has_ordinary_spaces(qtbot: QtBot) -> None:
    view = label(SENTENCE, selectable=True)
    qtbot.addWidget(view)
    view.show()
    assert view.text() == SENTENCE
    view.setFocus()
    QTest.keyClick(view, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    assert view.selectedText() == SENTENCE
    QTest.keyClick(view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == SENTENCE


def test_an_answer_is_cut_where_its_label_breaks_it(qtbot: QtBot) -> None:
    view = AnswerView("Summary")
    qtbot.addWidget(view)
    view.resize(200, 100)
    view.show()
    view.show_text(f"{SENTENCE} {SENTENCE}")
    assert not view.more_button.isHidden()
    assert view.text() == f"{SENTENCE} {SENTENCE}"
    assert view.label.heightForWidth(view.label.width()) <= 4 * view.fontMetrics().lineSpacing() + 2
    view.show_text("12 ms")
    assert view.more_button.isHidden()
    assert view.label.text() == "12 ms"
