"""A choice: every option of hardware for models with its chance, ranked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from predictor.core.prediction import Prediction
from predictor.core.records import OperatingPoint, Target
from predictor.core.run_facts import MEDIAN
from predictor.core.text import plural
from predictor.presentation import wording
from predictor.presentation.verdict import Verdict, likelihood
from predictor.services.choose.options import Budget, Options, tails_of
from predictor.services.choose.rates import Rates
from predictor.services.choose.rows import Row
from predictor.services.choose.settle import NextMeasurement
from predictor.services.prediction.throughput import ALONE, Throughput

_HOPELESS: Final = 0.01
_LIMITED: Final = "a lower limit, operators of unknown cost are missing from it"

_ONE_RUN: Final = "items/s of one run after the other"

Floats = NDArray[np.float64]
Places = NDArray[np.intp]


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One target and batch, judged by the budget.

    Attributes:
        target: the target.
        mode: operating point that it runs at; None for the usual clocks.
        batch: of each run.
        chance: that all models meet all limits, 0 to 1.
        predictions: of the models.
        slowest: index of the model with the smallest chance.
        watts: that the device, or the mode, is stated to draw; None where nothing is stated.
        memory_mb: of the largest model; None where it is not known.
        percentile: of the runs, which the limit is compared with: 50, 90 or 99.
        on_front: whether no other option is better in latency, watts and memory at once.
        needs_quantising: whether a model is to be quantised for it.
        broken: limits other than of time that it exceeds, in words.
        rates: items a second of the models with several runs at once; empty where none is limited.
    """

    target: Target
    mode: OperatingPoint | None
    batch: int
    chance: float
    predictions: tuple[Prediction, ...]
    slowest: int
    watts: float | None
    memory_mb: float | None
    percentile: int
    on_front: bool
    needs_quantising: bool
    broken: tuple[str, ...]
    rates: tuple[Throughput | None, ...] = ()

    @property
    def is_lower_limit(self) -> bool:
        """Whether operators of unknown cost are missing from a latency."""
        return any(prediction.is_lower_limit for prediction in self.predictions)

    @property
    def few_chips(self) -> bool:
        """Whether a latency is of a class that was checked on few chips."""
        return any(prediction.few_chips for prediction in self.predictions)

    @property
    def chance_text(self) -> str:
        """The chance as text; unknown for a lower limit unless it is hopeless."""
        return Verdict.OPEN.value if self.is_open else likelihood(self.chance)

    @property
    def is_open(self) -> bool:
        """Whether the chance is not known: a lower limit that is not hopeless."""
        return self.is_lower_limit and self.chance >= _HOPELESS

    @property
    def runs(self) -> str:
        """The configuration as text, and whether it needs a quantised model."""
        words = wording.configuration_text(self.prediction.configuration)
        return f"{words}, {wording.QUANTISED}" if self.needs_quantising else words

    @property
    def prediction(self) -> Prediction:
        """Prediction of the model with the smallest chance."""
        return self.predictions[self.slowest]

    @property
    def tail_ms(self) -> float | None:
        """The percentile of ``prediction``; None where no spread is known."""
        return self.prediction.tail_ms(self.percentile)

    @property
    def rate(self) -> Throughput | None:
        """Items a second of the model with the smallest chance; None where none is limited."""
        return self.rates[self.slowest] if self.rates else None

    @property
    def remark(self) -> str:
        """The limits that it breaks, what is not known or run, its place on the front."""
        refused = {p.unsupported for p in self.predictions if p.unsupported is not None}
        words = [*self.broken, *sorted(map(wording.unsupported_text, refused))]
        words += [_LIMITED] if self.is_lower_limit else []
        words += [wording.FEW_CHECKED] if self.few_chips else []
        if any(prediction.unstable for prediction in self.predictions):
            words.insert(0, wording.UNSTABLE)
        if self.tail_ms is None:
            words.append(f"P{self.percentile} not known, judged by P50")
        if self.rate is not None and self.rate.evidence == ALONE:
            words.append(_ONE_RUN)
        return "; ".join([*words, "Pareto front"] if self.on_front else words)

    @property
    def name(self) -> str:
        """Device, configuration, batch and mode, as text."""
        words = [wording.run_text(self.prediction.configuration, self.mode)]
        words += [wording.QUANTISED] if self.needs_quantising else []
        return f"{wording.shown(self.target.device.name)} ({', '.join(words)})"


@dataclass(frozen=True, eq=False, kw_only=True)
class Choice:
    """N options for M models, judged by a budget.

    Attributes:
        budget: that all models have to keep.
        min_chance: chance from which an option meets it.
        options: N of them.
        rows: of each model, M.
        z: float64 [M, N], limit of ln(latency) in standard deviations from its P50.
        deviation: float64 [M, N], standard deviation of ln(latency) towards the limit.
        chance: float64 [N], of all limits.
        slowest: int [N], the model with the smallest chance.
        watts, memory_mb: float64 [N], NaN where not known.
        broken: limits other than of time that are exceeded, by place.
        rates: of each model, M, where items a second are limited; else empty.
        order: int [K], places of the options with a number, the best first.
        settling: the measurement that would change the choice most; None where nothing would.
    """

    budget: Budget
    min_chance: float
    options: Options
    rows: Sequence[Row]
    z: Floats
    deviation: Floats
    chance: Floats
    slowest: Places
    watts: Floats
    memory_mb: Floats
    broken: Mapping[int, tuple[str, ...]]
    order: Places
    rates: Sequence[Rates] = ()
    settling: NextMeasurement | None = None

    def option(self, place: int) -> Option:
        """Return one option."""
        return self.options_at([place])[0]

    def options_at(self, places: Sequence[int]) -> list[Option]:
        """Return several options, in far less time than one by one."""
        of_models = [row.predictions(places) for row in self.rows]
        return [
            self._option(place, predictions)
            for place, predictions in zip(places, zip(*of_models, strict=True), strict=True)
        ]

    def _option(self, place: int, predictions: tuple[Prediction, ...]) -> Option:
        pairs = zip(self.rates, predictions, strict=False)
        return Option(
            target=self.options.target(place),
            mode=self.options.point(place),
            batch=int(self.rows[0].batch[place]),
            chance=float(self.chance[place]),
            predictions=predictions,
            rates=tuple(rates.rate(place, prediction) for rates, prediction in pairs),
            slowest=int(self.slowest[place]),
            watts=_stated(self.watts[place]),
            memory_mb=_stated(self.memory_mb[place]),
            percentile=self.budget.percentile,
            on_front=place in self.front,
            needs_quantising=any(bool(row.needs_quantising[place]) for row in self.rows),
            broken=self.broken.get(place, ()),
        )

    @cached_property
    def best(self) -> Option:
        """The first option."""
        return self.option(int(self.order[0]))

    @cached_property
    def _named(self) -> Option:
        """The option that comes first in words: one whose class was checked on enough chips."""
        if self.best.few_chips:
            # Those that meet the budget come first.
            for place in filter(self._meets, self.of_devices):
                if not (option := self.option(place)).few_chips:
                    return option
        return self.best

    @cached_property
    def is_limit(self) -> NDArray[np.bool_]:
        """Whether a model's latency is a lower limit, bool [N]."""
        is_limit: NDArray[np.bool_] = np.any([row.is_limit for row in self.rows], axis=0)
        return is_limit

    def _meets(self, place: int) -> bool:
        return bool(self.chance[place] >= self.min_chance) and not self.is_limit[place]

    @property
    def is_met(self) -> bool:
        """Whether any option meets the budget; of a lower limit that is not known."""
        return self._meets(int(self.order[0]))

    @cached_property
    def of_devices(self) -> list[int]:
        """Places of the best option of each device, the best first."""
        devices = [target.device.id for target in self.options.targets]
        first: dict[str, int] = {}
        targets = self.options.target_places[self.order]
        for place, target in zip(self.order.tolist(), targets.tolist(), strict=True):
            first.setdefault(devices[target], place)
        return list(first.values())

    @cached_property
    def front(self) -> frozenset[int]:
        """Places of the Pareto front of latency, watts and memory.

        It is of the options that meet the budget; where none does, of those that break no limit
        but of time. An option whose watts or memory are not known is not on it.
        """
        chance = self.chance[self.order]
        may = chance >= self.min_chance if self.is_met else self._keeps(self.order)
        may &= ~self.is_limit[self.order]
        places = self.order[may]
        goods = np.stack([self.latency_ms[places], self.watts[places], self.memory_mb[places]], 1)
        is_complete = np.isfinite(goods).all(axis=1)
        return frozenset(places[is_complete][_front(goods[is_complete])].tolist())

    @cached_property
    def latency_ms(self) -> Floats:
        """P50 of the model with the smallest chance, float64 [N]; NaN without a number."""
        latency_ms = np.stack([row.times_ms[0] for row in self.rows])
        slowest: Floats = np.take_along_axis(latency_ms, self.slowest[None], axis=0)[0]
        return slowest

    @property
    def meeting(self) -> int:
        """Number of devices with an option that meets the budget."""
        return sum(map(self._meets, self.of_devices))

    @cached_property
    def without_tail(self) -> str:
        """A sentence on the devices judged by P50 in place of a tail; empty for none."""
        percentile = self.budget.percentile
        if percentile == MEDIAN:
            return ""
        has_tail = np.isfinite(tails_of(self.options, percentile, self.rows[0].batch)[0])
        count = sum(not has_tail[place] for place in self.of_devices)
        if not count:
            return ""
        return (
            f"P{percentile} is not known of the best options of {plural(count, 'device')} of "
            f"{len(self.of_devices)}: they are judged by their P50."
        )

    @cached_property
    def sentence(self) -> str:
        """The answer in a sentence."""
        best, budget = self.best, self.budget.words
        devices, models = plural(len(self.of_devices), "device"), len(self.best.predictions)
        budget += f" with all {models} models" if models > 1 else ""
        if self.is_met:
            named = self._named
            before = (
                "" if named is best else f" {best.name} ranks before it, but {wording.FEW_CHECKED}."
            )
            doubt = f", but {wording.FEW_CHECKED}" if named.few_chips else ""
            return (
                f"{self.meeting} of {devices} meet {budget}; {named.name} comes first with a "
                f"chance of {likelihood(named.chance)}: {_numbers(named)}{doubt}.{before}"
            )
        certain = " for certain" if best.is_lower_limit else ""
        return (
            f"Nothing of {plural(len(self.order), 'option')} on {devices} meets {budget}{certain}; "
            f"{best.name} comes nearest: {_numbers(best)}, and {self._why(best)}."
        )

    def _keeps(self, places: Places) -> NDArray[np.bool_]:
        return np.array([place not in self.broken for place in places.tolist()], np.bool_)

    def _why(self, best: Option) -> str:
        if best.broken:
            return " and ".join(best.broken)
        if best.is_lower_limit:
            return f"it is {_LIMITED}"
        prediction = best.prediction
        limit = float(self.budget.limits_ms(np.array([best.batch]))[0])
        if prediction.bound_ms is not None and prediction.bound_ms > limit:
            return f"no run there can be under {wording.number(prediction.bound_ms)} ms"
        low = prediction.low80_ms
        rate, limit_per_s = best.rate, self.budget.min_throughput
        if rate is not None and limit_per_s is not None and rate.per_s < limit_per_s:
            return f"it makes {wording.number(100 * rate.per_s / limit_per_s)} % of the items"
        is_under = low is not None and low <= limit
        if is_under or (self.budget.percentile != MEDIAN and (prediction.latency_ms or 0) <= limit):
            return f"its chance is {likelihood(best.chance)}"
        return f"its P50 is {wording.number((prediction.latency_ms or 0) / limit)} times the limit"


def _front(goods: Floats) -> NDArray[np.intp]:
    """Return the places of the rows that no other row is better than or equal to in all, [F]."""
    left = np.lexsort(goods.T[::-1])  # so that no row is better than the first
    front: list[int] = []
    while len(left):
        front.append(int(left[0]))
        left = left[(goods[left] < goods[left[0]]).any(axis=1)]
    return np.array(front, np.intp)


def _numbers(option: Option) -> str:
    p = option.prediction
    low, high = wording.interval_ms(p)
    interval = (
        ""
        if low is None
        else f" (80 % interval {wording.number(low)} to {wording.number(high)} ms)"
    )
    which = f"{wording.shown(p.model)} " if len(option.predictions) > 1 else ""
    parts = [f"{which}P50 {wording.p50_text(p)}{interval}"]
    if option.percentile != MEDIAN and option.tail_ms is not None:
        parts.append(f"P{option.percentile} {wording.number(option.tail_ms)} ms")
    if option.rate is not None:
        parts.append(f"{wording.number(option.rate.per_s)} items/s")
    if option.watts is not None:
        parts.append(f"{wording.number(option.watts)} W")
    if option.memory_mb is not None:
        parts.append(f"{wording.number(option.memory_mb)} MB")
    return ", ".join(parts)


def _stated(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
