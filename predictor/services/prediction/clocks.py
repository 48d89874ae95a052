"""Predictions at other clocks and power modes of a target, and the energy that they take."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from predictor.core.errors import InputError
from predictor.core.percentiles import Z80, Z95
from predictor.core.prediction import Prediction
from predictor.core.records import Basis, Device, OperatingPoint, Target
from predictor.core.text import plural
from predictor.cost.clocks import CPU, GPU, ClockModel, Slowness
from predictor.cost.engine import NOTHING_MEASURED, Explanation
from predictor.devices import operating
from predictor.graph.model import Model
from predictor.presentation.wording import number
from predictor.services.prediction.explain import OperatorTable, explain, explanations
from predictor.services.prediction.predict import KnownTargets
from predictor.services.prediction.scaling import check_plausible

Floats = NDArray[np.float64]

_REPEATED: Final = 0.03  # in ln: a run measured again, of the noise of the sources
# Power that runs of networks took over the limit of the mode: median, 10 % and 90 % of the 15
# measured modes of AGX Xavier and AGX Orin that state a limit (research/docs/results/clocks.md).
_DRAWN: Final = (0.57, 0.32, 0.85)


@dataclass(frozen=True, slots=True)
class Energy:
    """Energy of one run in mJ, with its 80 % interval, and the power limit that it is of."""

    limit_w: float
    mj: float
    low80_mj: float
    high80_mj: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Clocked:
    """A prediction at other clocks.

    Attributes:
        prediction: at these clocks.
        mode: name of the mode, empty for clocks alone.
        source: of the mode.
        clocks: that it is of.
        default: the device's own.
        factor: of the latency, over that at the default clocks.
        energy: of a run; None where no power is stated of these clocks.
    """

    prediction: Prediction
    mode: str
    source: str
    clocks: operating.Clocks
    default: operating.Clocks
    factor: float
    energy: Energy | None

    @property
    def sentence(self) -> str:
        """The clocks, what they change, and the energy."""
        at = f"{self.mode} ({self.clocks.text()})" if self.mode else self.clocks.text()
        words = f"at {at}: {number(self.factor)} times the latency at {self.default.text()}"
        if self.clocks == self.default and self.factor == 1.0:
            words = f"at the default clocks ({self.default.text()})"
        if self.energy is None:
            return words
        e = self.energy
        return (
            f"{words}; {number(e.mj)} mJ a run, 80 %: {number(e.low80_mj)} to "
            f"{number(e.high80_mj)}, by the limit of {number(e.limit_w)} W"
        )


@dataclass(frozen=True, slots=True)
class MeasuredAt:
    """A latency that the user measured of a model at some clocks, and how it was given."""

    text: str
    clocks: operating.Clocks
    latency_ms: float


def measured_at(device: Device, text: str) -> MeasuredAt:
    """Return a measurement given as ``gpu=612,mem=1600=41.7``, or ``15W=41.7`` for a mode.

    Raises:
        InputError: it is not of this form, or the device has no such clocks.
    """
    clocks, _, value = text.rpartition("=")
    try:
        latency_ms = float(value)
    except ValueError:
        latency_ms = math.nan
    if not clocks or not 0 < latency_ms < math.inf:
        raise InputError(
            f"--measured-at {text}",
            "it is not of the form CLOCKS=MS or MODE=MS",
            "write gpu=612,mem=1600=41.7, or 15W=41.7",
        )
    modes = [point.name.casefold() for point in device.operating_points]
    if clocks.strip().casefold() in modes or "=" not in clocks:
        return MeasuredAt(text, operating.requested_clocks(device, "", clocks), latency_ms)
    return MeasuredAt(text, operating.requested_clocks(device, clocks, ""), latency_ms)


def clock_model(
    model: Model, target: Target, engine: str = "", measured: KnownTargets = NOTHING_MEASURED
) -> ClockModel:
    """Return how the latency of a model on a target follows its clocks.

    Raises:
        InputError: no engine of that name, or the target has no number for the model.
    """
    return _clock_model(target, explain(model, target, engine, measured))


def clock_models(
    model: Model,
    targets: Sequence[Target],
    predicted: Floats,
    places: Sequence[int],
    measured: KnownTargets,
) -> Iterator[ClockModel | None]:
    """Yield :func:`clock_model` on targets; arguments and result as of :func:`explanations`."""
    parts = explanations(model, targets, predicted, places, measured)
    for part, place in zip(parts, places, strict=True):
        yield None if part is None else _clock_model(targets[place], part)


def _clock_model(target: Target, parts: OperatorTable | Explanation) -> ClockModel:
    is_gpu = operating.clock_domain(target.device) == "gpu"
    return ClockModel(
        compute_ms=parts.compute_ms,
        memory_ms=parts.memory_ms,
        launch_ms=parts.launch_ms,
        busy_ms=np.maximum(parts.latency_ms - parts.launch_ms, 0.0),
        overlap=GPU if is_gpu else CPU,
        is_launched=is_gpu,
    )


def slowness_of(target: Target, points: Sequence[operating.Clocks]) -> Slowness:
    """Return times at operating points over those at the target's default clocks.

    Of a processor fewer cores than threads make it slower, of a GPU fewer cores (SMs).
    """
    default, domain = operating.default_clocks(target.device), operating.clock_domain(target.device)

    def slower(name: str) -> Floats:
        was = getattr(default, name)
        if was is None:  # nothing to compare with
            return np.ones(len(points))
        now = np.array([getattr(point, name) or was for point in points], np.float64)
        slower_by: Floats = was / now
        return slower_by

    host = slower("cpu")
    if domain == "gpu":
        return Slowness(host, slower("gpu") * slower("gpu_cores"), slower("mem"))
    threads = target.threads or 1
    on = [min(point.cores or threads, threads) for point in points]
    return Slowness(host, host * threads / np.array(on, np.float64), slower("mem"))


def at_clocks(
    prediction: Prediction,
    followed: ClockModel,
    target: Target,
    clocks: operating.Clocks,
    point: OperatingPoint | None = None,
    measured: Iterable[MeasuredAt] = (),
) -> Clocked:
    """Return a prediction at other clocks.

    Args:
        prediction: at the default clocks, with a number.
        followed: of the same model and target.
        target: the target.
        clocks: the other ones.
        point: the mode that they are of; None for clocks alone.
        measured: latencies of the model at some clocks.

    Raises:
        InputError: a measured latency cannot be of this model.
    """
    assert prediction.latency_ms is not None  # noqa: S101 - the caller passes numbers alone
    latencies = list(measured)
    for latency in latencies:
        check_plausible(f"--measured-at {latency.text}", latency.latency_ms, prediction)
    points = slowness_of(target, [clocks, *(latency.clocks for latency in latencies)])
    if latencies:
        slowness = Slowness(points.host[1:], points.unit[1:], points.memory[1:])
        ratios = np.array([latency.latency_ms for latency in latencies]) / prediction.latency_ms
        followed = followed.calibrated(slowness, ratios)
    factor, *measured_factors = followed.factors(points).tolist()
    # The further from clocks at which the latency is known, the less certain.
    log_distance = min(
        abs(math.log(factor / measured_factor)) for measured_factor in measured_factors or [1.0]
    )
    spread = followed.overlap.deviation * log_distance
    clocked = _with_factor(prediction, factor, spread, float(points.smallest[0]), len(latencies))
    return Clocked(
        prediction=clocked,
        mode="" if point is None else point.name,
        source="" if point is None else point.source,
        clocks=clocks,
        default=operating.default_clocks(target.device),
        factor=factor,
        energy=None if point is None else energy_of(clocked, point),
    )


def latencies_at(
    times_ms: Floats, followed: ClockModel, target: Target, points: Sequence[operating.Clocks]
) -> Floats:
    """Return P50, ends of the 80 % interval and bound at P points as :func:`at_clocks`, [4, P].

    Args:
        times_ms: float64 [4], the same at the default clocks; NaN where there is none.
        followed: of the same model and target.
        target: the target.
        points: P of them.
    """
    latency_ms, _, high_ms, bound_ms = times_ms
    slowness = slowness_of(target, points)
    factor = followed.factors(slowness)
    bound = bound_ms * slowness.smallest
    now = np.where(np.isnan(latency_ms), np.nan, np.fmax(latency_ms * factor, bound))
    spread = followed.overlap.deviation * np.abs(np.log(factor))
    wide = np.exp(np.hypot(np.log(high_ms / latency_ms), Z80 * spread))
    return np.stack([now, np.fmax(now / wide, np.nan_to_num(bound)), now * wide, bound])


def latency_plane(
    prediction: Prediction,
    followed: ClockModel,
    target: Target,
    clocks: operating.Clocks,
    axes: Mapping[str, Floats],
) -> Floats:
    """Return latencies in ms over two clocks, [rows, columns]; the rest are those of ``clocks``.

    Args:
        prediction: at the default clocks, with a number.
        followed: of the same model and target.
        target: the target.
        clocks: all clocks.
        axes: MHz of the columns and of the rows, by domain, in this order.
    """
    (across, columns), (up, rows) = axes.items()
    points = [
        replace(clocks, **{across: column, up: row})
        for row in rows.tolist()
        for column in columns.tolist()
    ]
    factors = followed.factors(slowness_of(target, points))
    plane: Floats = (prediction.latency_ms or math.nan) * factors.reshape(len(rows), len(columns))
    return plane


def _with_factor(
    prediction: Prediction, factor: float, spread: float, bound_factor: float, measured: int
) -> Prediction:
    """Return a prediction times a factor, its intervals wider by the spread of the factor.

    Where latencies were measured at other clocks the interval is of the factor alone.
    """
    latency_ms = prediction.latency_ms
    assert latency_ms is not None  # noqa: S101 - as in at_clocks
    if factor == 1.0 and not measured:
        return prediction
    bound_ms = None if prediction.bound_ms is None else prediction.bound_ms * bound_factor
    now_ms = max(latency_ms * factor, bound_ms or 0.0)

    def reach(high_ms: float | None, z: float) -> float:
        spread_of_run = (
            z * _REPEATED if measured else math.log((high_ms or latency_ms) / latency_ms)
        )
        return math.exp(math.hypot(spread_of_run, z * spread))

    wide80, wide95 = reach(prediction.high80_ms, Z80), reach(prediction.high95_ms, Z95)
    has_interval = prediction.high80_ms is not None
    evidence = prediction.evidence
    if measured:
        words = f"scaled to {plural(measured, 'latency', 'latencies')} that you measured"
        evidence = ": ".join(filter(None, [words, evidence]))
    return replace(
        prediction,
        basis=Basis.PROBED if prediction.basis is Basis.MEASURED else prediction.basis,
        latency_ms=now_ms,
        low80_ms=max(now_ms / wide80, bound_ms or 0.0) if has_interval else None,
        high80_ms=now_ms * wide80 if has_interval else None,
        low95_ms=max(now_ms / wide95, bound_ms or 0.0) if has_interval else None,
        high95_ms=now_ms * wide95 if has_interval else None,
        bound_ms=bound_ms,
        predicted_ms=None,
        provenance="",
        evidence=evidence,
    )


def energy_of(prediction: Prediction, point: OperatingPoint) -> Energy | None:
    """Return the energy of a run in a mode that states its power limit, else None."""
    if point.power_w is None or prediction.latency_ms is None:
        return None
    usual, low, high = (share * point.power_w for share in _DRAWN)
    return Energy(
        point.power_w,
        usual * prediction.latency_ms,
        low * (prediction.low80_ms or prediction.latency_ms),
        high * (prediction.high80_ms or prediction.latency_ms),
    )
