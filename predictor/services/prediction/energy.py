"""Joules of a run: power that is stated or was measured, times its time.

A mode that states its limit, a card that states its power, and the board of a device that somebody
measured under load or while a network ran. Of everything else nothing is said.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from predictor.calibration.boards import board_watts, run_watts
from predictor.core.prediction import Prediction
from predictor.core.records import Device, OperatingPoint, Target
from predictor.core.text import plural
from predictor.cost.engine import NOTHING_MEASURED, Explanation
from predictor.cost.rates.power import rated_watts
from predictor.devices.operating import clocks_of, default_clocks, power_modes
from predictor.graph.model import Model
from predictor.language.memory import is_card
from predictor.language.power import share_of_parts
from predictor.presentation.wording import number
from predictor.services.prediction.clocks import energy_of
from predictor.services.prediction.explain import explanations
from predictor.services.prediction.predict import KnownTargets

CARD_WIDTH: Final = math.log(1.70)
"""Half the 80 % interval of ln(watts) of a card: research/docs/results/power.md."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnergy:
    """Energy of a run.

    Attributes:
        watts: while it runs, of what the evidence says.
        mj: of one run over its batch, in mJ.
        low80_mj, high80_mj: its 80 % interval.
        evidence: in words, whose power it is.
        of_board: whether it is that of the whole board or module; else of a card alone.
    """

    watts: float
    mj: float
    low80_mj: float
    high80_mj: float
    evidence: str
    of_board: bool


class _Watts(NamedTuple):
    median: float
    low: float
    high: float
    evidence: str


def usual_point(device: Device) -> OperatingPoint | None:
    """Return the mode with a stated power that has a device's usual clocks; None without one."""
    usual = default_clocks(device)
    modes = [point for point in power_modes(device) if point.power_w is not None]
    return next((point for point in modes if clocks_of(device, point) == usual), None)


def energies(
    model: Model,
    targets: Sequence[Target],
    predictions: Sequence[Prediction],
    measured: KnownTargets = NOTHING_MEASURED,
) -> list[RunEnergy | None]:
    """Return the energy of a run on each target at its usual clocks; None where nothing is known.

    Args:
        model: the model.
        targets: T of them.
        predictions: of the model, one a target.
        measured: what the engine was given of the targets.
    """
    cards = [
        place
        for place, (target, prediction) in enumerate(zip(targets, predictions, strict=True))
        if prediction.latency_ms is not None
        and is_card(target.device)
        and rated_watts(target.device) is not None
    ]
    predicted = np.array([p.latency_ms or math.nan for p in predictions], np.float64)
    parts = dict(
        zip(cards, explanations(model, targets, predicted, cards, measured), strict=True)
        if cards
        else ()
    )
    return [
        _energy(target, prediction, parts.get(place))
        for place, (target, prediction) in enumerate(zip(targets, predictions, strict=True))
    ]


def at_point(prediction: Prediction, point: OperatingPoint) -> RunEnergy | None:
    """Return the energy of a run in a mode; None where it states no power limit."""
    energy = energy_of(prediction, point)
    if energy is None or not prediction.latency_ms:
        return None
    return RunEnergy(
        watts=energy.mj / prediction.latency_ms,
        mj=energy.mj,
        low80_mj=energy.low80_mj,
        high80_mj=energy.high80_mj,
        evidence=f"of the limit of {number(energy.limit_w)} W of the mode {point.name}",
        of_board=True,
    )


def _energy(target: Target, prediction: Prediction, parts: Explanation | None) -> RunEnergy | None:
    point = usual_point(target.device)
    if prediction.latency_ms is None or point is not None:
        return None if point is None else at_point(prediction, point)
    watts = next(_watts(target, parts), None)
    if watts is None:
        return None
    ms = prediction.latency_ms
    low, high = prediction.low80_ms or ms, prediction.high80_ms or ms
    below = math.hypot(math.log(ms / low), math.log(watts.median / watts.low))
    above = math.hypot(math.log(high / ms), math.log(watts.high / watts.median))
    mj = watts.median * ms
    return RunEnergy(
        watts=watts.median,
        mj=mj,
        low80_mj=mj * math.exp(-below),
        high80_mj=min(mj * math.exp(above), watts.high * high),
        evidence=watts.evidence,
        of_board=parts is None,
    )


def _watts(target: Target, parts: Explanation | None) -> Iterator[_Watts]:
    rated = rated_watts(target.device)
    if parts is not None and rated is not None:
        yield _of_card(rated, parts)
    board = board_watts(target.device)
    # Fewer threads than cores were not measured.
    if board is not None and target.threads == target.device.core_count:
        whose = plural(board.boards, "board")
        yield _Watts(*board[:3], f"of the whole board, of {whose} measured at the wall under load")
    run = run_watts(target.device)
    # Of a processor the runs were on all cores too.
    if run is not None and target.threads in {0, target.device.core_count}:
        whose = plural(run.boards, "board")
        yield _Watts(*run[:3], f"of the whole board, of {whose} measured at the wall in such runs")


def _of_card(rated: float, parts: Explanation) -> _Watts:
    """Return the watts of a card by what its time is spent on; nothing exceeds what it states."""
    reading, waiting, rest = (
        float(ms.sum()) for ms in (parts.memory_ms, parts.launch_ms, parts.compute_ms)
    )
    total = max(reading + waiting + rest, 1e-9)
    watts = rated * share_of_parts(reading / total, waiting / total)
    wide = math.exp(CARD_WIDTH)
    evidence = f"of the {number(rated)} W that the card states, by what its time is spent on"
    return _Watts(watts, watts / wide, max(min(watts * wide, rated), watts), evidence)
