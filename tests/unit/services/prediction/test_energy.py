"""Energy of a run: of a card by what its time is spent on, of boards and modes; else none."""

from __future__ import annotations

from dataclasses import replace

import pytest

from predictor.calibration.boards import board_watts, run_watts
from predictor.core.metrics import Family
from predictor.core.records import Target
from predictor.cost.rates.power import rated_watts
from predictor.devices.operating import power_modes
from predictor.language.memory import is_card
from predictor.language.power import OF_MULTIPLYING, OF_READING, OF_WAITING, share_of_parts
from predictor.services.devices.catalogue import load_catalogue
from predictor.services.prediction.clocks import energy_of
from predictor.services.prediction.energy import (
    RunEnergy,
    at_point,
    energies,
    usual_point,
)
from predictor.services.prediction.predict import predict
from predictor.services.prediction.targets import resolve_targets
from tests.support.graphs import Op
from tests.support.models import make_model

_MODEL = make_model(*[Op(macs=50_000_000, read=400_000, weights=200_000, written=400_000)] * 12)
CATALOGUE = load_catalogue()


def targets(*names: str, threads: int | None = None) -> tuple[Target, ...]:
    return resolve_targets([CATALOGUE.find(name) for name in names], None, None, threads)


def energy(name: str, threads: int | None = None) -> RunEnergy | None:
    chosen = targets(name, threads=threads)
    return energies(_MODEL, chosen, predict([_MODEL], chosen))[0]


def test_shares_of_parts_add_up_to_at_most_the_stated_power() -> None:
    assert share_of_parts(1, 0) == OF_READING
    assert share_of_parts(0, 1) == OF_WAITING
    assert share_of_parts(0.5, 0.25) == pytest.approx(
        0.5 * OF_READING + 0.25 * OF_MULTIPLYING + 0.25 * OF_WAITING
    )
    assert share_of_parts(0, 0) == 1.0


def test_a_card_draws_no_more_than_it_states() -> None:
    chosen = targets("rtx3060")
    (prediction,) = predict([_MODEL], chosen)
    (card,) = energies(_MODEL, chosen, [prediction])
    assert card is not None
    assert prediction.latency_ms is not None
    assert prediction.high80_ms is not None
    assert 0.26 * 170 <= card.watts <= 170
    assert card.mj == pytest.approx(card.watts * prediction.latency_ms)
    assert card.low80_mj < card.mj < card.high80_mj <= 170 * prediction.high80_ms
    assert "170 W" in card.evidence
    assert not card.of_board


def test_a_board_is_of_runs_on_all_cores() -> None:
    board = energy("rpi5")
    assert board is not None
    assert board.watts == pytest.approx(1.09 * 9.7)
    assert board.low80_mj < board.mj < board.high80_mj
    assert energy("rpi5", threads=1) is None


def test_a_mode_has_the_share_of_its_limit() -> None:
    device = CATALOGUE.find("jetson-agx-orin-gpu")
    point = next(point for point in power_modes(device) if point.power_w is not None)
    (prediction,) = predict([_MODEL], targets("jetson-agx-orin-gpu"))
    mode, stated = at_point(prediction, point), energy_of(prediction, point)
    assert mode is not None
    assert stated is not None
    assert (mode.mj, mode.low80_mj, mode.high80_mj) == (
        stated.mj,
        stated.low80_mj,
        stated.high80_mj,
    )
    assert at_point(prediction, replace(point, power_w=None)) is None


def test_of_what_states_nothing_nothing_is_said() -> None:
    chosen = targets("core-i5-12400", "rk3588-npu", "hailo-8", "rtx3060")
    predictions = [*predict([_MODEL], chosen)]
    predictions[3] = replace(predictions[3], latency_ms=None)
    assert energies(_MODEL, chosen, predictions) == [None] * 4


def test_of_what_states_no_power_and_was_not_measured_nothing_is_said() -> None:
    every = resolve_targets(CATALOGUE.devices)
    found = energies(_MODEL, every, predict([_MODEL], every))
    unknown, known = 0, 0
    for target, value in zip(every, found, strict=True):
        device = target.device
        measured = board_watts(device) is not None or run_watts(device) is not None
        stated = is_card(device) and rated_watts(device) is not None
        if not (measured or stated or usual_point(device)):
            assert value is None, device.id
            unknown += device.family in {
                Family.MOBILE_CPU,
                Family.MOBILE_GPU,
                Family.NPU,
                Family.CPU,
            }
        known += value is not None
    # Phones, NPUs and PCs among them; a stated power of a processor is none.
    assert unknown > 300
    assert known > 100
    assert energy("core-i5-12400") is None
    assert energy("snapdragon-8-gen-3-npu") is None
    assert energy("hailo-8") is None
