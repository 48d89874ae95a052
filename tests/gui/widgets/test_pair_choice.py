"""The boxes that choose a model and a target."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from ctm_gui.widgets.pair_choice import PairChoice

CHOICES = (["resnet50", "mobilenet"], ["RPI5", "ORIN", "RTX 3090"])


@pytest.fixture
def pair(qtbot: QtBot) -> PairChoice:
    made = PairChoice()
    qtbot.addWidget(made)
    with qtbot.waitExposed(made):
        made.show()
    made.set_choices(*CHOICES, None)
    return made


def test_choices_of_the_user_are_told_and_those_from_outside_are_not(
    qtbot: QtBot, pair: PairChoice
) -> None:
    with qtbot.assertNotEmitted(pair.choice_changed):
        pair.set_choices(*CHOICES, (1, 2))
    assert (pair.model_box.currentText(), pair.target_box.currentText()) == (
        "mobilenet",
        "RTX 3090",
    )
    pair.target_box.setFocus()
    with qtbot.waitSignal(pair.choice_changed) as changed:
        QTest.keyClick(pair.target_box, Qt.Key.Key_Up)
    assert changed.args == [1, 1]


def test_new_choices_keep_what_was_chosen(qtbot: QtBot, pair: PairChoice) -> None:
    pair.set_choices(*CHOICES, (1, 2))
    with qtbot.assertNotEmitted(pair.choice_changed):
        pair.set_choices(["vit", "mobilenet"], ["RTX 3090"], None)
    assert (pair.model_box.currentIndex(), pair.target_box.currentIndex()) == (1, 0)
    pair.set_choices([], [], None)
    assert not pair.model_box.isEnabled()
