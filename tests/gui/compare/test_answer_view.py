"""The answer over the chart, cut to a few lines and whole on request."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from ctm_gui.compare.answer_view import AnswerView, brief
from ctm_gui.widgets.basic import vbox
from ctm_gui.widgets.theme import LIGHT
from ctm_gui.widgets.theme_change import apply_theme

MODELS = [
    f"{model}: 1 of 8 targets meets 5 ms, fastest 3.38 ms on NVIDIA Jetson Orin Nano 8 GB (GPU) "
    "(77 % sure); 4 in doubt, measure on NVIDIA A100 PCIe 40 GB first"
    for model in ("distilbert-base", "mobilenetv2-1.0-224", "yolov3-tiny-416")
]
NOTE = "INT8 assumes that the whole model is quantised."


@pytest.fixture
def answer(qtbot, qapp) -> Iterator[AnswerView]:
    apply_theme(qapp, LIGHT)
    window = QWidget()
    answer = AnswerView("Summary")
    vbox(answer, (QWidget(), 1), of=window)
    qtbot.addWidget(window)
    window.resize(700, 400)
    with qtbot.waitExposed(window):
        window.show()
    yield answer
    window.close()


def shown_lines(answer: AnswerView) -> int:
    return round(answer.label.height() / answer.label.fontMetrics().lineSpacing())


def test_three_models_have_a_line_each_until_more_is_asked_for(qtbot, answer: AnswerView) -> None:
    answer.show_text("\n".join([*MODELS, NOTE]))
    qtbot.waitUntil(lambda: shown_lines(answer) == 4)
    *lines, last = answer.label.text().split("\n")
    assert [line.split(":")[0] for line in lines] == [line.split(":")[0] for line in MODELS]
    assert all(line.endswith("…") for line in lines)
    assert last == NOTE
    assert MODELS[0] in answer.label.toolTip()
    assert NOTE in answer.text()

    QTest.keyClick(answer.more_button, Qt.Key.Key_Space)
    assert answer.label.text() == answer.text()
    assert answer.more_button.text() == "Less"
    qtbot.waitUntil(lambda: shown_lines(answer) == 7)
    QTest.mouseClick(answer.more_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: shown_lines(answer) == 4)


def test_an_answer_that_fits_is_whole_and_has_no_button(qtbot, answer: AnswerView) -> None:
    text = "\n".join([MODELS[0], NOTE])
    answer.show_text(text)
    assert answer.label.text() == text
    assert not answer.more_button.isVisible()
    answer.window().resize(300, 400)
    qtbot.waitUntil(answer.more_button.isVisible)
    assert answer.label.text() != text
    answer.window().resize(700, 400)
    qtbot.waitUntil(lambda: not answer.more_button.isVisible())
    assert answer.label.text() == text


def test_lines_that_are_left_go_to_the_first_paragraph(qapp) -> None:
    font = qapp.font()
    width = QFontMetrics(font).horizontalAdvance(MODELS[0]) * 2 // 5  # three lines of it
    assert brief(MODELS[0], font, width, 3) == MODELS[0]
    two = brief(f"{MODELS[0]}\n{NOTE} {NOTE}", font, width, 3).split("\n")
    assert len(two) == 3
    assert two[1].endswith("…")
    assert two[2].startswith("INT8 assumes")
    assert " ".join(two[:2]).startswith(MODELS[0][:60])
