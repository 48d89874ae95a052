"""Search spaces beside an engine's numbers: thousands of architectures by device."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ctm_research.evaluation.bound.comparison import NOT_IN_CATALOGUE, predict_row
from ctm_research.evaluation.bound.figures import Ratios
from ctm_research.sources.nas import Column, SearchSpace
from predictor.core.progress import Progress, ProgressCallback, no_progress
from predictor.core.records import Device, Target
from predictor.cost.engine import Engine
from predictor.graph.scaling import at_batch

EMPTY = "no cell's output is reached: a graph compiler removes almost the whole network"
_TOLD_EVERY = 100  # architectures


@dataclass(frozen=True, slots=True, eq=False)
class ColumnComparison:
    """One device of a search space with A architectures.

    Attributes:
        space: name of the space.
        column: the device.
        latency_ms: [A], measured.
        estimate_ms: [A], NaN where there is none.
        bound_ms: [A], NaN where it is not known.
        empty: bool [A], architectures that are left out as :data:`EMPTY`.
        reason: why there is no estimate, for the whole column, else empty.
    """

    space: str
    column: Column
    latency_ms: NDArray[np.float64]
    estimate_ms: NDArray[np.float64]
    bound_ms: NDArray[np.float64]
    empty: NDArray[np.bool_]
    reason: str

    @property
    def ratios(self) -> Ratios:
        """Measured over bound and estimate."""
        return Ratios(self.latency_ms / self.bound_ms, self.latency_ms / self.estimate_ms)

    @property
    def target_name(self) -> str:
        """Device, runtime, precision, batch and space."""
        c = self.column.configuration
        device = self.column.device_id or self.column.name
        return f"{device} {c.runtime} {c.precision}, batch {c.batch}, {self.space}"

    @property
    def left_out(self) -> dict[str, int]:
        """Rows without an estimate by reason."""
        if self.reason:
            return {self.reason: len(self.latency_ms)}
        empty = int(self.empty.sum())
        return {EMPTY: empty} if empty else {}


def compare_space(
    space: SearchSpace,
    devices: Mapping[str, Device],
    engine: Engine,
    progress: ProgressCallback = no_progress,
) -> list[ColumnComparison]:
    """Return every device of a space with the engine's numbers; each network is built once.

    Args:
        space: the architectures and their latencies.
        devices: the catalogue by id.
        engine: gives estimate and bound.
        progress: told now and then.

    Raises:
        InputError: a code is none of the space.
    """
    reasons = [_left_out(column, devices) for column in space.columns]
    usable = [index for index, reason in enumerate(reasons) if not reason]
    count = len(space.latency_ms)
    estimate_ms = np.full(space.latency_ms.shape, np.nan)
    bound_ms = estimate_ms.copy()
    empty = np.array([space.is_empty(row) for row in range(count)], np.bool_)
    by_batch = _by_batch(space.columns, usable)
    for row in np.flatnonzero(~empty).tolist() if usable else ():
        if row % _TOLD_EVERY == 0:
            progress(Progress(row, count, f"{space.name}, architecture {row}"))
        graph = space.graph(row)
        for batch, columns in by_batch.items():
            targets = [_target(space.columns[column], devices) for column in columns]
            numbers = predict_row(at_batch(graph, batch), targets, engine)
            estimate_ms[row, columns] = numbers.estimate_ms
            bound_ms[row, columns] = numbers.bound_ms
            for index, problem in numbers.problems.items():
                reasons[columns[index]] = problem
    if space.caveat:
        estimate_ms[:] = np.nan
    return [
        ColumnComparison(
            space.name,
            column,
            space.latency_ms[:, index],
            estimate_ms[:, index],
            bound_ms[:, index],
            empty,
            reasons[index] or space.caveat,
        )
        for index, column in enumerate(space.columns)
    ]


def _left_out(column: Column, devices: Mapping[str, Device]) -> str:
    if column.excluded:
        return column.excluded
    return "" if column.device_id in devices else NOT_IN_CATALOGUE


def _by_batch(columns: Sequence[Column], usable: Sequence[int]) -> dict[int, list[int]]:
    batches: dict[int, list[int]] = {}
    for index in usable:
        batches.setdefault(columns[index].batch, []).append(index)
    return batches


def _target(column: Column, devices: Mapping[str, Device]) -> Target:
    return Target(devices[column.device_id], column.configuration)
