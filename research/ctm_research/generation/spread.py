"""Scales of the deviations of devices from physics, and widths of intervals.

Widths are those of silicon left out: coefficients are fitted without it.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from ctm_research.generation.fit import FEWEST, Row, fit, parts_of, predicted_seconds, spans
from predictor.language.deviations import Z80, Deviations, Observed, Scales, target_of
from predictor.language.rates import Coefficients, Group, Phase, attention_share


def observed_of(rows: Sequence[Row], c: Coefficients) -> tuple[Observed, ...]:
    """Return the deviation of each device and group of formats from physics."""
    cells: dict[tuple[str, Group], list[Row]] = defaultdict(list)
    for row in rows:
        cells[row.cell].append(row)
    return tuple(
        replace(
            target_of(of[0].rate.device, of[0].group),
            deviation=float(
                np.median([math.log(r.rate.seconds / predicted_seconds(r, c)) for r in of])
            ),
            rates=len(of),
        )
        for of in cells.values()
    )


_ARCHITECTURE: Final = (0.02, 0.05, 0.1, 0.2)
_SILICON: Final = (0.02, 0.05, 0.1, 0.2, 0.4)
_FORMAT: Final = (0.02, 0.05, 0.1)
_NOISE: Final = (0.03, 0.06, 0.1)


_USUAL_ATTENTION: Final = 0.4  # where few kinds of silicon give it
_LEAST_SHARE: Final = 0.05  # of attention, between two rates of a device


def attention_scale(rows: Sequence[Row], c: Coefficients) -> float:
    """Return the standard deviation of attention's time, from rates of one model by their context.

    From the shortest to the longest context of a model on a device the error changes by the error
    of attention times the growth of its share. Few kinds of silicon do not make it less than usual.
    """
    ratios, silicon = [], set()
    for short, long in spans(rows):
        shares = [attention_share(parts_of(rows[at], c)) for at in (short, long)]
        errors = [
            math.log(rows[at].rate.seconds / predicted_seconds(rows[at], c)) for at in (short, long)
        ]
        if shares[1] - shares[0] > _LEAST_SHARE:
            ratios.append(abs(errors[1] - errors[0]) / (shares[1] - shares[0]))
            silicon.add(rows[long].silicon)
    scale = float(np.quantile(ratios, 0.8)) / Z80 if ratios else 0.0
    return scale if len(silicon) >= FEWEST else max(scale, _USUAL_ATTENTION)


def scales_of(observed: Sequence[Observed], attention: float = _USUAL_ATTENTION) -> Scales:
    """Return the scales under which the deviations are most likely.

    Args:
        observed: deviations of devices and groups of formats.
        attention: scale of attention's time.
    """
    deviations = np.array([o.deviation for o in observed])

    def likelihood(scales: Scales) -> float:
        prior = Deviations(scales, tuple(observed))
        covariance = prior.covariance(observed, observed) + np.diag(prior.noise())
        sign, logarithm = np.linalg.slogdet(covariance)
        return float(-deviations @ np.linalg.solve(covariance, deviations) - sign * logarithm)

    grid = itertools.product(_ARCHITECTURE, _SILICON, _FORMAT, _NOISE)
    candidates = (
        Scales(architecture=a, silicon=s, format=f, noise=n, attention=attention)
        for a, s, f, n in grid
    )
    return max(candidates, key=likelihood)


def left_out(rows: Sequence[Row]) -> list[list[Row]]:
    """Return the rows by silicon."""
    of: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        of[row.silicon].append(row)
    return list(of.values())


def widenings(
    rows: Sequence[Row], start: Coefficients, scales: Mapping[Phase, Scales]
) -> dict[Phase, Scales]:
    """Return the scales with factors by which intervals of silicon left out hold 80 % of devices.

    Each device and group of formats counts once. A group that enough devices tell of has a factor
    of its own: formats that were measured by many agree more than others.

    Args:
        rows: of a backend.
        start: coefficients that it starts from.
        scales: of the phases that are asked for.
    """
    ratios: dict[tuple[Phase, str, Group], list[float]] = defaultdict(list)
    for out in left_out(rows):
        rest = [row for row in rows if row.silicon != out[0].silicon]
        if not rest:
            continue
        c = fit(rest, start)
        known = {
            phase: Deviations(of, observed_of([r for r in rest if r.rate.phase is phase], c))
            for phase, of in scales.items()
        }
        asked = [row for row in out if row.rate.phase in scales]
        for row, (error, spread) in zip(asked, errors(asked, c, known), strict=True):
            ratios[row.rate.phase, *row.cell].append(abs(error) / spread)
    widened = {}
    for phase, of in scales.items():
        groups: dict[Group, list[list[float]]] = defaultdict(list)
        for (p, _, group), values in ratios.items():
            if p is phase:
                groups[group].append(values)
        every = [values for cells in groups.values() for values in cells]
        own = {g: _widening(cells) for g, cells in groups.items() if len(cells) >= _FEWEST_CELLS}
        widen = _widening(every) if len(every) >= _FEWEST_CELLS else 1.0
        widened[phase] = replace(of, widen=widen, widen_of=own)
    return widened


def _widening(cells: Sequence[Sequence[float]]) -> float:
    return max(_quantile80(cells) / Z80, _LEAST_WIDENING)


def _quantile80(cells: Sequence[Sequence[float]]) -> float:
    """Return the value under which 80 % of the next cell lies; each cell weighs alike."""
    values = np.concatenate([np.array(cell) for cell in cells])
    weights = np.concatenate([np.full(len(cell), 1 / len(cell)) for cell in cells])
    order = np.argsort(values)
    total = np.cumsum(weights[order])
    # Of n cells and the next one, not of the n at hand.
    level = min(0.8 * (len(cells) + 1), len(cells))
    return float(values[order][min(int(np.searchsorted(total, level)), len(values) - 1)])


_FEWEST_CELLS: Final = 8
_LEAST_WIDENING: Final = 0.7


def errors(
    rows: Sequence[Row], c: Coefficients, deviations: Mapping[Phase, Deviations]
) -> list[tuple[float, float]]:
    """Return for each row the logarithm of predicted over measured time, and its spread."""
    result = []
    for row in rows:
        target = target_of(row.rate.device, row.group)
        share = attention_share(parts_of(row, c))
        mean, spread = deviations[row.rate.phase].of([target], [share])
        predicted = math.log(predicted_seconds(row, c)) + float(mean[0])
        result.append((predicted - math.log(row.rate.seconds), float(spread[0])))
    return result
