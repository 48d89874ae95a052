"""How coarsely devices were read, and how noisy those of whole milliseconds are."""

from __future__ import annotations

import numpy as np
import pytest

from ctm_research.nas.additive import coarse_noise, in_whole_ms, measurement_noise
from ctm_research.nas.spaces.view import TrainView
from research.tests.nas.small_space import small_space

ROWS = np.arange(60)


def test_whole_milliseconds_are_told_from_others() -> None:
    assert in_whole_ms(np.array([3.0, 41.0]))
    assert not in_whole_ms(np.array([3.0, 41.001]))
    assert in_whole_ms(np.exp(np.log(np.array([3.0, 41.0]))))


def test_the_noise_of_a_clock_is_that_of_the_train_devices_with_such_a_clock() -> None:
    space = small_space(0.1)
    assert coarse_noise(TrainView.of(space, ("gold_6226", "raspi4"), ROWS)) is None
    for device in ("raspi4", "pixel3"):
        column = space.column(device)
        space.latency_ms[:, column] = np.round(10 * space.latency_ms[:, column])
    view = TrainView.of(space, ("raspi4", "gold_6226", "pixel3"), ROWS)
    raspi4, _, pixel3 = measurement_noise(view)
    assert coarse_noise(view) == pytest.approx(np.sqrt(raspi4 * pixel3))
