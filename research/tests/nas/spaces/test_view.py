"""A method sees train devices on train architectures, whatever it asks for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ctm_research.nas.additive import additive_log_latency
from ctm_research.nas.baselines.hand_bayes import hand_features, standardised_over
from ctm_research.nas.spaces.view import TrainView
from predictor.core.errors import InputError
from research.tests.nas.small_space import SIZE, small_space

TRAIN = ("1080ti_1", "raspi4", "fpga")
ROWS = np.arange(0, SIZE, 2)


def view() -> TrainView:
    return TrainView.of(small_space(), TRAIN, ROWS)


def test_train_latencies_are_those_of_the_space() -> None:
    space = small_space()

    found = view().latencies("raspi4", np.array([4, 0]))

    assert found.tolist() == space.latency_ms[[4, 0], space.column("raspi4")].tolist()


def test_a_test_row_is_refused() -> None:
    with pytest.raises(InputError, match="architecture 5 of nasbench201: it is no train"):
        view().latencies("raspi4", np.array([4, 5]))


@pytest.mark.parametrize("row", [-1, SIZE, 10**6])
def test_a_row_outside_the_space_is_refused(row: int) -> None:
    with pytest.raises(InputError, match="it is no train architecture"):
        view().latencies("raspi4", np.array([row]))


@pytest.mark.parametrize("device", ["gold_6226", "titan"])
def test_a_test_device_is_refused(device: str) -> None:
    with pytest.raises(InputError, match=f"device {device}: it is no train device"):
        view().latencies(device, np.array([0]))


def test_nothing_of_a_test_row_or_a_test_device_is_inside() -> None:
    """Latencies that a method must not see are replaced: everything that it gets stays the same."""
    space = small_space()
    changed = np.full_like(space.latency_ms, 1e9)
    seen = np.ix_(ROWS, [space.column(device) for device in TRAIN])
    changed[seen] = space.latency_ms[seen]
    hidden = TrainView.of(replace(space, latency_ms=changed), TRAIN, ROWS)

    assert np.array_equal(hidden.latency_ms, view().latency_ms)
    assert np.array_equal(hand_features(hidden), hand_features(view()))
    with pytest.raises(ValueError, match="read-only"):
        hidden.latency_ms[0, 0] = 1.0


def test_each_fold_leaves_one_device_out() -> None:
    folds = {left.name: [d.name for d in rest.devices] for rest, left in view().folds()}

    assert folds == {
        "1080ti_1": ["raspi4", "fpga"],
        "raspi4": ["1080ti_1", "fpga"],
        "fpga": ["1080ti_1", "raspi4"],
    }
    with pytest.raises(InputError, match="it is no train device"):
        view().without("raspi4").latencies("raspi4", np.array([0]))


def test_the_only_device_cannot_be_left_out() -> None:
    with pytest.raises(InputError, match="it is the only train device"):
        TrainView.of(small_space(), ("fpga",), ROWS).without("fpga")


@pytest.mark.parametrize(
    ("devices", "rows", "reason"),
    [
        ((), ROWS, "0 devices"),
        (TRAIN, ROWS[:0], "0 architectures"),
        (("fpga", "fpga"), ROWS, "one is named twice"),
        (("toaster",), ROWS, "has no such device"),
    ],
)
def test_an_empty_or_wrong_training_set_is_refused(
    devices: tuple[str, ...], rows: np.ndarray, reason: str
) -> None:
    with pytest.raises(InputError, match=reason):
        TrainView.of(small_space(), devices, rows)


@pytest.mark.parametrize("wrong", [np.nan, -1.0, 0.0, np.inf])
def test_a_wrong_latency_names_architecture_and_device(wrong: float) -> None:
    space = small_space()
    latency_ms = space.latency_ms.copy()
    latency_ms[3, 2] = wrong

    with pytest.raises(InputError, match="architecture 3, gold_6226"):
        replace(space, latency_ms=latency_ms)


def test_latencies_of_another_shape_are_refused() -> None:
    with pytest.raises(InputError, match=r"shape \(79, 6\), not \(80, 6\)"):
        replace(small_space(), latency_ms=small_space().latency_ms[1:])


def test_additive_latencies_are_found_again() -> None:
    """The space is additive: the model is exact up to its ridge, on unseen rows too."""
    space = small_space()
    rows = np.arange(SIZE - 10)
    found = additive_log_latency(TrainView.of(space, ("raspi4",), rows))[:, 0]
    measured = space.latency_ms[:, space.column("raspi4")]

    expected = np.log(measured / measured[rows].mean())
    assert np.abs(found - expected)[-10:].max() < 0.02
    assert np.abs(expected[-10:]).max() > 0.1


def test_features_are_standardised_over_train_rows_and_constant_ones_left_out() -> None:
    features = np.array([[1.0, 5.0, 2.0], [3.0, 5.0, 2.0], [9.0, 6.0, 2.0]])

    found = standardised_over(features, np.array([0, 1]))

    assert found.tolist() == [[-1.0], [1.0], [7.0]]
