"""The predictions of the past as rows, their filter, their points in a chart."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ctm_gui.widgets.grid import search_mask
from ctm_gui.widgets.ordering import BoolArray, FloatArray, IndexArray, natural_key
from predictor.core.prediction import Prediction
from predictor.core.records import Basis, Device
from predictor.core.stored import StoredPrediction
from predictor.core.units import LatencyUnit
from predictor.presentation.wording import adaptation_name, basis_text, shown
from predictor.services.history.truth import (
    Pair,
    TargetErrors,
    engine_ms,
    errors_by_target,
    latest_by_target,
    target_of,
)

if TYPE_CHECKING:
    from predictor.services.history.past_predictions import PastContent

_DAY_NS = 24 * 3600 * 10**9
# What the filter offers: days back from now, None for all.
PERIODS: tuple[tuple[str, int | None], ...] = (
    ("Any time", None),
    ("Today", 1),
    ("Last 7 days", 7),
    ("Last 30 days", 30),
    ("Last year", 365),
)


@dataclass(frozen=True, slots=True)
class PastRow:
    """One prediction of the past.

    Attributes:
        stored: the record.
        device_name: the device's name for people; its id where it is no longer there.
        measured_ms: the newest measured latency of the same graph on the same target, else the one
            that stands in the prediction's place, else None.
        estimated: the prediction with the interval of ``predicted_ms``: the record, or an earlier
            one of the same number where a measured latency stands in it; None where none is stored.
    """

    stored: StoredPrediction
    device_name: str
    measured_ms: float | None = None
    estimated: Prediction | None = None

    @property
    def predicted_ms(self) -> float | None:
        """P50 of the engine in ms, also where a measured latency stands in its place."""
        return engine_ms(self.stored.prediction)

    @property
    def error(self) -> float | None:
        """The engine's relative error, predicted / measured - 1; None without both."""
        if self.measured_ms is None or not self.predicted_ms:
            return None
        return self.predicted_ms / self.measured_ms - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class PastFilter:
    """Choice of rows to show; an empty field leaves nothing out.

    Attributes:
        search: words that must all occur.
        model: name of the model's file.
        device_id: id of the device.
        basis: of the prediction.
        tag: one of its tags.
        days: age at most, in days.
        measured: whether only measured ones are shown.
        newest: whether older runs of a model on a target are left out; those with tags or a note
            stay.
    """

    search: str = ""
    model: str = ""
    device_id: str = ""
    basis: str = ""
    tag: str = ""
    days: int | None = None
    measured: bool = False
    newest: bool = False


@dataclass(frozen=True, eq=False)
class PastRows:
    """All rows, their measurements, and the errors by target.

    Attributes:
        rows: N rows, the newest first.
        count: number in the store; more than N where old ones are not shown.
        pairs: measurements with the predictions of the same graph and target, the oldest first.
        device_names: by id, of the devices that there are.
    """

    rows: tuple[PastRow, ...] = ()
    count: int = 0
    pairs: tuple[Pair, ...] = ()
    device_names: Mapping[str, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.rows)

    def same_as(self, other: PastRows) -> bool:
        """Return whether there is nothing else to show."""
        return (
            self.count == other.count
            and self.rows == other.rows
            and self.pairs == other.pairs
            and self.device_names == other.device_names
        )

    @cached_property
    def errors(self) -> tuple[TargetErrors, ...]:
        """Errors of each engine on each target."""
        return tuple(errors_by_target(self.pairs))

    def name_of(self, device_id: str) -> str:
        """Return a device's name for people; its id where it is no longer there."""
        return self.device_names.get(device_id, device_id)

    def models(self) -> list[str]:
        """Return the names of the models, each once, in natural order."""
        return sorted({row.stored.prediction.model for row in self.rows}, key=natural_key)

    def devices(self) -> list[tuple[str, str]]:
        """Return name and id of the devices, each once, in natural order of the names."""
        names = {row.stored.prediction.device_id: row.device_name for row in self.rows}
        return sorted(((n, i) for i, n in names.items()), key=lambda pair: natural_key(pair[0]))

    def tags(self) -> list[str]:
        """Return the tags, each once, in natural order."""
        return sorted({tag for row in self.rows for tag in row.stored.tags}, key=natural_key)

    def mask(self, wanted: PastFilter, now_ns: int | None = None) -> BoolArray:
        """Return a mask of the rows that pass a filter, bool [N].

        Args:
            wanted: the filter.
            now_ns: Unix time that days are counted back from, in ns; None for the present.
        """
        mask = search_mask(self._texts, wanted.search)
        values = (wanted.model, wanted.device_id, wanted.basis)
        for value, column in zip(values, self._facts, strict=True):
            if value:
                mask &= column == value
        if wanted.tag:
            mask &= np.array([wanted.tag in row.stored.tags for row in self.rows], dtype=np.bool_)
        if wanted.days is not None:
            now = time.time_ns() if now_ns is None else now_ns
            mask &= self.created_ns >= now - wanted.days * _DAY_NS
        if wanted.measured:
            mask &= ~np.isnan(self.measured_ms)
        if wanted.newest:
            mask &= self._is_newest | self._is_marked
        return mask

    @cached_property
    def runs(self) -> IndexArray:
        """Number of predictions of each row's model on its target, intp [N]."""
        return np.bincount(self._groups)[self._groups]

    def with_runs(self, rows: IndexArray) -> IndexArray:
        """Return rows with the older runs of their models on their targets, intp [K]."""
        older = np.isin(self._groups, self._groups[rows]) & ~self._is_marked
        older[rows] = True
        return np.flatnonzero(older)

    @cached_property
    def created_ns(self) -> npt.NDArray[np.int64]:
        """When each was made, int64 [N]."""
        return np.array([row.stored.created_ns for row in self.rows], dtype=np.int64)

    @cached_property
    def measured_ms(self) -> FloatArray:
        """Measured latency in ms, float64 [N] with NaN."""
        return np.array([row.measured_ms for row in self.rows], dtype=np.float64)

    @cached_property
    def error(self) -> FloatArray:
        """Error of each prediction, float64 [N] with NaN."""
        return np.array([row.error for row in self.rows], dtype=np.float64)

    @cached_property
    def _groups(self) -> IndexArray:
        """A number for each row's graph and target, intp [N]; the newest have the smallest."""
        keys = [(p.model, target_of(p)) for p in (row.stored.prediction for row in self.rows)]
        number_of = {key: number for number, key in enumerate(dict.fromkeys(keys))}
        return np.array([number_of[key] for key in keys], dtype=np.intp)

    @cached_property
    def _is_newest(self) -> BoolArray:
        mask = np.zeros(len(self), dtype=np.bool_)
        mask[np.unique(self._groups, return_index=True)[1]] = True
        return mask

    @cached_property
    def _is_marked(self) -> BoolArray:
        stored = [row.stored for row in self.rows]
        return np.array([bool(s.tags or s.note) for s in stored], dtype=np.bool_)

    @cached_property
    def _facts(self) -> list[npt.NDArray[np.object_]]:
        """Model, device id and basis of each row, object [N] each."""
        predictions = [row.stored.prediction for row in self.rows]
        names = [prediction.model for prediction in predictions]
        ids = [prediction.device_id for prediction in predictions]
        bases = list(map(basis_text, predictions))
        # Not NumPy's strings, which give every row the width of the longest.
        return [np.array(column, dtype=np.object_) for column in (names, ids, bases)]

    @cached_property
    def _texts(self) -> list[str]:
        return [_searched(row) for row in self.rows]


def _number_of(prediction: Prediction) -> tuple[object, ...]:
    """Return what an engine said of a graph on a target: equal where it said the same again."""
    return (target_of(prediction), prediction.engine, engine_ms(prediction))


def past_rows(content: PastContent, devices: Mapping[str, Device]) -> PastRows:
    """Return the rows of the store's content.

    Args:
        content: of the store.
        devices: those that there are now, by id.
    """
    names = {identity: device.name for identity, device in devices.items()}
    measured = latest_by_target(content.measurements)
    stored_once = (*content.predictions, *(pair.predicted for pair in content.pairs))
    with_interval = {
        _number_of(stored.prediction): stored.prediction
        for stored in stored_once
        if stored.prediction.basis is not Basis.MEASURED and stored.prediction.low80_ms is not None
    }

    def row(stored: StoredPrediction) -> PastRow:
        newest = measured.get(target_of(stored.prediction))
        device_id = stored.prediction.device_id
        axis_ms = None
        if stored.prediction.basis is Basis.MEASURED:
            axis_ms = stored.prediction.latency_ms
        value_ms = axis_ms if newest is None else newest.measurement.value_ms
        estimated = with_interval.get(_number_of(stored.prediction))
        return PastRow(stored, names.get(device_id, device_id), value_ms, estimated)

    rows = PastRows(tuple(map(row, content.predictions)), content.count, content.pairs, names)
    rows.mask(PastFilter())  # its texts are made here, off the window's thread
    return rows


def labels(tags: Sequence[str]) -> str:
    """Write tags as they are typed: apart by commas."""
    return shown(", ".join(tags))


def _searched(row: PastRow) -> str:
    prediction = row.stored.prediction
    words = (
        shown(prediction.model),
        row.device_name,
        prediction.device_id,
        prediction.configuration.runtime,
        prediction.configuration.precision,
        prediction.engine,
        basis_text(prediction),
        adaptation_name(prediction.adaptation),
        *row.stored.tags,
        row.stored.note,
    )
    # The runs of a model on a target have one text.
    return sys.intern(" ".join(words).casefold())


BASES: tuple[Basis, ...] = (Basis.ANALYTIC, Basis.ZERO_SHOT, Basis.PROBED, Basis.MEASURED)
_MARGIN = 0.12  # of a decade around the points
_MIN_SPAN = 0.6


@dataclass(frozen=True, eq=False)
class TruthChart:
    """N points, all latencies in ``unit``; a rate is per item.

    Attributes:
        pairs: the points.
        unit: of both axes.
    """

    pairs: tuple[Pair, ...] = ()
    unit: LatencyUnit = LatencyUnit.MS

    def __len__(self) -> int:
        return len(self.pairs)

    @cached_property
    def measured(self) -> FloatArray:
        """log10 of the measured latencies, float64 [N]."""
        return self._logs([pair.measured_ms for pair in self.pairs])

    @cached_property
    def predicted(self) -> FloatArray:
        """log10 of the predicted latencies, float64 [N]."""
        return self._logs([pair.predicted_ms for pair in self.pairs])

    @cached_property
    def whiskers(self) -> tuple[FloatArray, FloatArray]:
        """log10 of both ends of the 80 % intervals, float64 [N] each; NaN without one."""
        predictions = [pair.predicted.prediction for pair in self.pairs]
        return self._logs([p.low80_ms for p in predictions]), self._logs(
            [p.high80_ms for p in predictions]
        )

    @cached_property
    def basis(self) -> IndexArray:
        """Index into ``BASES``, intp [N]."""
        place_of = {basis: index for index, basis in enumerate(BASES)}
        places = [
            place_of.get(p.predicted.prediction.basis or Basis.ANALYTIC, 0) for p in self.pairs
        ]
        return np.array(places, dtype=np.intp)

    def bases(self) -> list[Basis]:
        """Return the bases that occur, for the legend."""
        return [BASES[index] for index in sorted(set(self.basis.tolist()))]

    def span(self) -> tuple[float, float]:
        """Return log10 of the ends of both axes; they are equal, so that the line is a diagonal."""
        low, high = self.whiskers
        values = np.concatenate((self.measured, self.predicted, low, high))
        values = values[np.isfinite(values)]
        if not values.size:
            return 0.0, 1.0
        start, end = float(values.min()) - _MARGIN, float(values.max()) + _MARGIN
        middle, half = (start + end) / 2, max(end - start, _MIN_SPAN) / 2
        return middle - half, middle + half

    def _logs(self, values_ms: Sequence[float | None]) -> FloatArray:
        def log(value_ms: float | None, batch: int) -> float:
            value = None if value_ms is None else self.unit.from_ms(value_ms, batch)
            return math.log10(value) if value and math.isfinite(value) else math.nan

        batches = [max(p.predicted.prediction.configuration.batch, 1) for p in self.pairs]
        return np.array(
            [log(value, batch) for value, batch in zip(values_ms, batches, strict=True)],
            dtype=np.float64,
        )
