"""Keeping predictions: what the store refuses costs only itself, and is said."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from ctm_gui.tasks import store_client
from ctm_gui.tasks.store_client import Recorder
from predictor.services.history.history import open_history
from tests.support.past_predictions import predictions_of, small_model


@pytest.fixture
def recorder(qtbot: QtBot, tmp_path: Path) -> Iterator[Recorder]:
    made = Recorder(lambda: open_history(tmp_path / "store.sqlite"))
    with qtbot.waitSignal(made.opened):
        made.open()
    yield made
    made.close()


def test_a_refused_prediction_is_said_once_and_the_others_are_stored(
    qtbot: QtBot, recorder: Recorder, tmp_path: Path
) -> None:
    model = small_model()
    good, wrong = predictions_of(model)
    asked = [good, replace(wrong, latency_ms=-1.0)]
    said: list[str] = []
    recorder.failed.connect(lambda error: said.append(str(error)))

    with qtbot.waitSignal(recorder.recorded) as recorded:
        recorder.record([model], asked)
    recorder.record([model], asked)
    with qtbot.waitSignal(recorder.recorded):
        recorder.record([model], [replace(good, latency_ms=7.0)])

    assert recorded.args == [1]
    (sentence,) = said
    assert sentence.startswith(f"{wrong.model} on {wrong.device_id}: the prediction could not be")
    with open_history(tmp_path / "store.sqlite") as history:
        stored = [s.prediction for s in history.past.read(10).predictions]
    assert stored == [replace(good, latency_ms=7.0), good]


def test_what_was_shown_long_ago_is_forgotten(
    qtbot: QtBot, recorder: Recorder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_client, "MAX_RECORDED", 3)
    model = small_model()
    (good, _), times = predictions_of(model), [1.0, 2.0, 3.0, 4.0, 3.0, 4.0, 1.0]
    for latency_ms in times:
        recorder.record([model], [replace(good, latency_ms=latency_ms)])
    recorder.close()
    with open_history(tmp_path / "store.sqlite") as history:
        stored = [s.prediction.latency_ms for s in history.past.read(10).predictions]
    assert stored[::-1] == [1.0, 2.0, 3.0, 4.0, 1.0]
