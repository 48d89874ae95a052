"""Models on every option of hardware, judged by a budget."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from predictor.core.errors import InputError
from predictor.core.percentiles import Z80
from predictor.core.records import Device, Measurement
from predictor.core.run_facts import PERCENTILES
from predictor.cost.engine import NOTHING_MEASURED
from predictor.graph.model import Model
from predictor.services.choose.chances import joint_chance
from predictor.services.choose.choice import Choice
from predictor.services.choose.options import POWER, Budget, Options, tails_of
from predictor.services.choose.rates import Rates, rates_of, with_rates
from predictor.services.choose.rows import Row, row_of
from predictor.services.choose.settle import CONSIDERED, NextMeasurement, next_measurement
from predictor.services.prediction.predict import NO_DEVICES, KnownTargets

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

EVEN: Final = 0.5  # an option meets a budget from this chance on, unless the user says otherwise
# Chances beyond these are equal: no prediction is that certain.
_MIN_CHANCE, _MAX_CHANCE = 0.01, 0.99
_MB: Final = 1e6


def choose(
    models: Sequence[Model],
    options: Options,
    budget: Budget,
    *,
    min_chance: float = EVEN,
    measurements: Iterable[Measurement] = (),
    measured: KnownTargets = NOTHING_MEASURED,
    devices: Mapping[str, Device] = NO_DEVICES,
    rows: Sequence[Row] = (),
) -> Choice:
    """Judge models on every option of hardware by a budget.

    Args:
        models: M of them, which all have to keep the budget.
        options: N of them.
        budget: the limits.
        min_chance: chance from which an option meets the budget.
        measurements: the user's measurements, the oldest first.
        measured: measurements of targets, by target.
        devices: that ``measurements`` may be of beside those of the targets, by id.
        rows: of each model, M, where they are made; they do not depend on the budget.

    Raises:
        InputError: no option has a number with an interval.
    """
    measurements = tuple(measurements)
    rows = rows or [row_of(model, options, measurements, measured, devices) for model in models]
    limits = budget.limits_ms(rows[0].batch)
    z, deviation = _with_tails(rows, options, budget, *_limits_in_deviations(rows, limits))
    rates: Sequence[Rates] = ()
    if budget.min_throughput is not None:
        min_per_s = budget.min_throughput
        pairs = zip(models, rows, strict=True)
        rates = [rates_of(model, options, row, min_per_s) for model, row in pairs]
        z, deviation = with_rates(rates, rows, z, deviation)
        limits = np.min([limits, *(rate.limits_ms for rate in rates)], axis=0)
    watts = _watts(options)
    memory_mb = np.max([row.memory_bytes for row in rows], axis=0) / _MB
    broken = _broken(budget, rows, watts, memory_mb)
    chance = joint_chance(*_distinct(models, rows, z))
    chance[list(broken)] = 0.0
    choice = Choice(
        budget=budget,
        min_chance=min_chance,
        options=options,
        rows=rows,
        z=z,
        deviation=deviation,
        chance=chance,
        slowest=z.argmin(axis=0),
        watts=watts,
        memory_mb=memory_mb,
        broken=broken,
        rates=rates,
        order=np.flatnonzero(np.isfinite(chance) & options.is_allowed),
    )
    if not len(choice.order):
        raise InputError(
            "the choice",
            f"no option has a number with an interval ({rows[0].prediction(0).problem})",
            "choose other devices or configurations",
        )
    choice = replace(choice, order=_ranked(choice, limits))
    return replace(choice, settling=_settling(choice))


def _watts(options: Options) -> Floats:
    """Return the power that is stated of each option: of its mode, else of its device, [N]."""
    usual = [target.device.metrics.get(POWER) for target in options.targets]
    modes = [mode.point.power_w for mode in options.modes]
    return np.tile(np.array([*usual, *modes], np.float64), len(options.batches))


def _limits_in_deviations(rows: Sequence[Row], limits: Floats) -> tuple[Floats, Floats]:
    """Return limits in standard deviations and standard deviations of ln(latency), [M, N] each.

    The side of the interval counts on which the limit is: the bound may cut the lower end.
    """
    p50, low, high, bound = np.stack([row.times_ms for row in rows], axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        edge = np.where(limits >= p50, high / p50, p50 / low)
        deviation = np.log(edge) / Z80
        z = np.log(limits / p50) / deviation
        # A prediction at its bound: what is under it is impossible.
        z = np.where(
            (deviation == 0) & np.isfinite(p50), np.where(limits >= p50, 1, -1) * np.inf, z
        )
    return np.where(limits < bound, np.where(np.isnan(z), z, -np.inf), z), deviation


def _with_tails(
    rows: Sequence[Row], options: Options, budget: Budget, z: Floats, deviation: Floats
) -> tuple[Floats, Floats]:
    """Return limits and deviations as above, those of the latency by its tail where it is known.

    A tail is a factor on P50 with an additional deviation. Its chance is never over that of the
    median or of a lower tail, whose deviation may be smaller.
    """
    median_z, _ = _limits_in_deviations(rows, budget.latency_limits(rows[0].batch))
    reach = deviation
    for percentile in PERCENTILES[1 : PERCENTILES.index(budget.percentile) + 1]:
        ratio, tail_deviation = tails_of(options, percentile, rows[0].batch)
        reach = np.hypot(deviation, np.nan_to_num(tail_deviation))
        with np.errstate(divide="ignore", invalid="ignore"):
            tail_z = median_z * deviation / reach - np.log(ratio) / reach
        # Impossible stays so; NaN where no tail is known.
        z = np.where(np.isnan(ratio), z, np.fmin(z, np.where(np.isinf(median_z), median_z, tail_z)))
    return z, reach


def _broken(
    budget: Budget, rows: Sequence[Row], watts: Floats, memory_mb: Floats
) -> dict[int, tuple[str, ...]]:
    """Return the limits other than of time that options exceed, by place."""
    too_large = np.any([row.is_too_large for row in rows], axis=0)
    checks = [(too_large, "does not fit the device's memory")]
    if budget.max_watts is not None:
        limit = f"{budget.max_watts:g} W"
        checks += [
            (watts > budget.max_watts, f"draws over {limit}"),
            (np.isnan(watts), "its power is not stated"),
        ]
    if budget.max_memory_mb is not None:
        limit = f"{budget.max_memory_mb:g} MB"
        checks += [
            (memory_mb > budget.max_memory_mb, f"takes over {limit}"),
            (np.isnan(memory_mb), "its memory is not known"),
        ]
    broken: dict[int, tuple[str, ...]] = {}
    for fails, words in checks:
        for place in np.flatnonzero(fails).tolist():
            broken[place] = (*broken.get(place, ()), words)
    return broken


def _distinct(models: Sequence[Model], rows: Sequence[Row], z: Floats) -> tuple[Floats, Floats]:
    """Return limits and shared errors of the models with different graphs, [M', N] and [M', N, S].

    Equal graphs run alike.
    """
    first = {model.graph.fingerprint: index for index, model in enumerate(models)}
    places = sorted(first.values())
    if len(places) == 1:
        return z[places], np.zeros((1, z.shape[1], 0))
    return z[places], np.stack([rows[index].shared_error for index in places]).astype(np.float64)


def _ranked(choice: Choice, limits: Floats) -> Places:
    """Return the places of options with a number, the best first.

    Lower limits come last: whether they meet a budget is unknown.

    Fewest broken limits, then the chance; where chances are equal for all that is known the lower
    power, then the shorter time. Hopeless ones by how far they are over the limit.
    """
    places = choice.order
    broken = np.array([len(choice.broken.get(place, ())) for place in places.tolist()])
    margin = choice.z[:, places].min(axis=0)
    chance = np.where(broken, (margin >= 0) * EVEN, choice.chance[places])
    latency = choice.latency_ms[places]
    over = np.where(chance < _MIN_CHANCE, latency / limits[places], 0.0)
    watts = np.nan_to_num(choice.watts[places], nan=np.inf)
    # The last key counts first.
    level = -np.clip(chance, _MIN_CHANCE, max(_MAX_CHANCE, choice.min_chance))
    keys = (latency, watts, over, level, broken, choice.is_limit[places])
    return places[np.lexsort(keys)]


def _settling(choice: Choice) -> NextMeasurement | None:
    """Return the measurement that would change the choice most."""
    # The best option of each target.
    allowed = np.array([p for p in choice.order.tolist() if p not in choice.broken], np.intp)
    # A measurement leaves a lower limit what it is.
    allowed = allowed[~choice.is_limit[allowed]]
    _, first = np.unique(choice.options.target_places[allowed], return_index=True)
    places = allowed[np.sort(first)]
    if not len(places) or choice.chance[places[0]] >= max(_MAX_CHANCE, choice.min_chance):
        return None
    places = places[:CONSIDERED]
    models = choice.slowest[places]
    return next_measurement(
        [(choice.options.target(place), choice.options.point(place)) for place in places.tolist()],
        models,
        choice.z[models, places],
        choice.deviation[models, places],
        choice.chance[places],
        choice.latency_ms[places],
        choice.min_chance,
    )
