"""The configurations of a device in the order in which they are offered: the fastest first."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from predictor.core.prediction import Prediction
from predictor.core.records import Configuration, Device, Measurement, Precision, Target
from predictor.core.runtimes import RUNTIMES, offered
from predictor.cost.engine import NOTHING_MEASURED
from predictor.graph.model import Model
from predictor.presentation.wording import QUANTISED, number, p50_number, target_text
from predictor.services.prediction.assumptions import is_quantised
from predictor.services.prediction.predict import KnownTargets, predict


@dataclass(frozen=True, slots=True)
class RankedConfiguration:
    """A configuration of a device with its predictions.

    Attributes:
        configuration: as the device lists it.
        predictions: of the models, in their order; empty without models.
        needs_quantising: whether a model is to be quantised for it.
    """

    configuration: Configuration
    predictions: tuple[Prediction, ...] = ()
    needs_quantising: bool = False

    @property
    def p50_text(self) -> str:
        """The P50, or the least and the largest of several models; empty without a number."""
        answered = self._compared
        if not answered:
            return ""
        shortest, longest = (of(answered, key=_latency_ms) for of in (min, max))
        if number(shortest.latency_ms) == number(longest.latency_ms):
            return f"{p50_number(shortest)} ms"
        return f"{p50_number(shortest)} – {p50_number(longest)} ms"

    @property
    def words(self) -> str:
        """Configuration, P50 and what it needs: ``tensorrt, fp16 · 0.53 ms``."""
        needs = QUANTISED if self.needs_quantising else ""
        return " · ".join(filter(None, (target_text(self.configuration), self.p50_text, needs)))

    @property
    def missing(self) -> int:
        """Number of models without a number."""
        return sum(p.latency_ms is None for p in self.predictions)

    @property
    def mean_log_ms(self) -> float:
        """Mean of ln(P50) over the models, infinite where none has a number."""
        if not self.predictions:
            return 0.0
        logs = [math.log(p.latency_ms) for p in self._compared if p.latency_ms]
        return fmean(logs) if logs else math.inf

    @property
    def _compared(self) -> list[Prediction]:
        """The predictions with a number; lower limits only where there is nothing else."""
        answered = [p for p in self.predictions if p.latency_ms is not None]
        return [p for p in answered if not p.is_lower_limit] or answered


def ranked_configurations(
    models: Sequence[Model],
    device: Device,
    configurations: Iterable[Configuration],
    measurements: Iterable[Measurement] = (),
    measured: KnownTargets = NOTHING_MEASURED,
) -> tuple[RankedConfiguration, ...]:
    """Return configurations of a device, the fastest first.

    By the geometric mean of the models' P50s. Those that need another model, one in INT8, are a
    separate group behind the others; in each group those without a number are last, and equal
    ones stay in their order.

    Args:
        models: whose latencies are compared; without any INT8 is behind the others.
        device: that runs them.
        configurations: to be ordered, each once.
        measurements: those of the user, the oldest first.
        measured: measurements of targets, by target.
    """
    candidates = tuple(configurations)
    is_float = not all(map(is_quantised, models)) if models else True
    # Threads apart from "all", a batch is that of the models: they are compared as they are.
    targets = [Target(device, candidate) for candidate in candidates]
    predicted = (
        predict(models, targets, measurements=measurements, measured=measured) if models else ()
    )
    ranked = [
        RankedConfiguration(
            candidate,
            tuple(predicted[place :: len(candidates)]),
            is_float and candidate.precision is Precision.INT8,
        )
        for place, candidate in enumerate(candidates)
    ]
    return tuple(
        sorted(ranked, key=lambda row: (row.needs_quantising, row.missing, row.mean_log_ms))
    )


def further_configurations(device: Device) -> tuple[Configuration, ...]:
    """Return the configurations that a device can run and does not state, by runtime.

    They are of the runtimes that can be installed on any device of its family, in the precisions
    of the configurations that it states.
    """
    stated = {configuration.runtime for configuration in device.configurations}
    precisions = dict.fromkeys(configuration.precision for configuration in device.configurations)
    return tuple(
        Configuration(name, precision)
        for name in offered()
        if name not in stated and device.family in RUNTIMES[name].portable
        for precision in precisions
        if precision in RUNTIMES[name].precisions
    )


def _latency_ms(prediction: Prediction) -> float:
    return math.inf if prediction.latency_ms is None else prediction.latency_ms
