"""Models against one of them: latencies, differences from the baseline, the fastest by target.

Everything here is free of widgets; differences are of latencies in milliseconds, also where the
window shows rates.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from PySide6.QtCore import QObject, Signal

from ctm_gui.presenters.follower import ComparisonFollower
from ctm_gui.presenters.ordering import IndexArray
from ctm_gui.presenters.prediction_run import ComparedModel, Comparison
from ctm_gui.tasks.serial import SerialWorker
from predictor.core.columns import no_number
from predictor.core.errors import CtmError
from predictor.core.text import capitalised, plural
from predictor.core.units import LatencyUnit
from predictor.core.wording import (
    NOTHING,
    batch_of,
    change_text,
    configuration_text,
    interval_text,
    latency_text,
    shown,
    signed,
)
from predictor.services.prediction.fastest import fastest_sentence
from predictor.services.prediction.variants import Variants, compare_variants

BASELINE = "baseline"


@dataclass(frozen=True, eq=False)
class VariantMatrix(Variants):
    """M models on T targets against one of the models.

    Attributes:
        comparison: what the predictions are of.
    """

    comparison: Comparison

    @property
    def models(self) -> tuple[ComparedModel, ...]:
        """The models, M of them."""
        return self.comparison.models

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """Assumptions of the numbers, each sentence once."""
        return tuple(dict.fromkeys(note for row in self.comparison.rows for note in row.notes))

    def target_title(self, target: int) -> str:
        """Return the device's name and its configuration, a line each."""
        device = self.targets[target].device
        configuration = self.targets[target].configuration
        return f"{shown(device.name)}\n{configuration_text(configuration)}"

    def trend(self, model: int, target: int) -> int:
        """Return -1 for faster than the baseline, 1 for slower, 0 where that is not clear."""
        if model == self.baseline:
            return 0
        differences, cell = self.differences, self.cell(model, target)
        ratio = differences.ratio[cell]
        has_interval = not np.isnan(differences.low80_ratio[cell])
        if np.isnan(ratio) or (has_interval and not differences.is_clear[cell]):
            return 0
        return int(np.sign(ratio - 1.0))


def variant_matrix(comparison: Comparison, baseline: int) -> VariantMatrix:
    """Compare every prediction with the baseline's on its target."""
    variants = compare_variants(
        [compared.label for compared in comparison.models],
        comparison.targets,
        [row.prediction for row in comparison.rows],
        baseline,
    )
    matrix = VariantMatrix(
        variants.labels,
        variants.targets,
        variants.predictions,
        variants.baseline,
        variants.differences,
        comparison,
    )
    # What looks at every prediction is worked out here, off the window's thread.
    _ = matrix.latency_ms, matrix.has_intervals, matrix.notes
    return matrix


def cell_lines(matrix: VariantMatrix, model: int, target: int, unit: LatencyUnit) -> list[str]:
    """Return what a cell says: the latency, then how it differs from the baseline's.

    Without an interval of the difference that is one line with percent and time, else one for each.
    """
    prediction = matrix.prediction(model, target)
    if prediction.latency_ms is None:
        return ["no number"]
    latency = latency_text(prediction.latency_ms, unit, batch_of(prediction.configuration))
    if model == matrix.baseline:
        return [latency, BASELINE]
    return [latency, *_difference_lines(matrix, matrix.cell(model, target), unit)]


def _difference_lines(matrix: VariantMatrix, cell: int, unit: LatencyUnit) -> list[str]:
    differences = matrix.differences
    if np.isnan(differences.ratio[cell]):
        return []
    in_time = LatencyUnit.MS if unit is LatencyUnit.FPS else unit
    scale = in_time.from_ms(1.0)
    change = change_text(float(differences.ratio[cell]))
    moved = f"{signed(float(differences.difference_ms[cell]) * scale)} {in_time}"
    if np.isnan(differences.low80_ratio[cell]):
        return [f"{change} · {moved}"]
    ratios = (
        change_text(float(end[cell])) for end in (differences.low80_ratio, differences.high80_ratio)
    )
    times = (
        signed(float(end[cell]) * scale) for end in (differences.low80_ms, differences.high80_ms)
    )
    return [f"{change} ({' … '.join(ratios)})", f"{moved} ({' … '.join(times)})"]


def cell_details(matrix: VariantMatrix, model: int, target: int, unit: LatencyUnit) -> str:
    """Return the lines that hovering over a cell shows, as plain text."""
    row = matrix.comparison.rows[matrix.cell(model, target)]
    prediction = row.prediction
    lines = [f"{shown(row.model_label)} on {shown(row.device_name)}"]
    if prediction.latency_ms is None:
        return "\n".join([*lines, capitalised(no_number(prediction))])
    lines.append(cell_lines(matrix, model, target, unit)[0])
    if prediction.low80_ms is not None:
        lines.append(f"80 % interval: {interval_text(prediction, unit)} {unit}")
    if model != matrix.baseline:
        name = shown(matrix.models[matrix.baseline].label)
        lines += [f"Against {name} (80 % interval of the difference in brackets):"]
        lines += _difference_lines(matrix, matrix.cell(model, target), unit) or [NOTHING]
        lines += _other_batch(matrix, model, target)
    return "\n".join([*lines, *row.notes])


def _other_batch(matrix: VariantMatrix, model: int, target: int) -> list[str]:
    """Return a note where runs over different batches are compared."""
    own = matrix.prediction(model, target).configuration.batch
    other = matrix.prediction(matrix.baseline, target).configuration.batch
    return [f"One run of batch {own} against one of batch {other}."] if own != other else []


def fastest_models(matrix: VariantMatrix, budget_ms: float | None) -> IndexArray:
    """Return the fastest model that meets the budget, by target, intp [T]; -1 for none."""
    latency_ms = np.nan_to_num(matrix.latency_ms, nan=np.inf)
    least = latency_ms.min(axis=0, initial=np.inf)
    meets = np.isfinite(least) & (least <= (np.inf if budget_ms is None else budget_ms))
    return np.where(meets, latency_ms.argmin(axis=0), -1)


def fastest_on(matrix: VariantMatrix, target: int, budget_ms: float | None) -> str:
    """Return a sentence on the fastest model that meets the budget on a target."""
    return fastest_sentence(matrix.on_target(target), matrix.labels, budget_ms)


def matrix_summary(matrix: VariantMatrix) -> str:
    """Return in one line how the other models stand to the baseline."""
    name = shown(matrix.models[matrix.baseline].label)
    parts = [
        _standing(matrix, model) for model in range(len(matrix.models)) if model != matrix.baseline
    ]
    if not parts or len(parts) > _MODELS_NAMED:
        models = plural(len(matrix.models), "model")
        return f"{models} on {plural(len(matrix.targets), 'target')} against {name}"
    return f"Against {name}: {'; '.join(parts)}"


_MODELS_NAMED = 3


def _standing(matrix: VariantMatrix, model: int) -> str:
    count = len(matrix.targets)
    ratios = matrix.differences.ratio[matrix.cell(model, 0) : matrix.cell(model, count)]
    known = ratios[~np.isnan(ratios)]
    name = shown(matrix.models[model].label)
    if not known.size:
        return f"{name} has no number"
    faster = int((known < 1.0).sum())
    ends = [change_text(float(end)) for end in (known.min(), known.max())]
    span = ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"
    return f"{name} is faster on {faster} of {known.size} ({span})"


class VariantsPresenter(ComparisonFollower):
    """The choice of a baseline, and the matrix that follows from it.

    ``matrix_changed`` says that ``matrix`` is another.
    """

    matrix_changed = Signal()
    failed = Signal(object)

    def __init__(self, worker: SerialWorker, parent: QObject | None = None) -> None:
        super().__init__(worker, parent)
        self._baseline_id: int | None = None
        self.matrix: VariantMatrix | None = None

    @property
    def baseline(self) -> int:
        """Index of the baseline among the models; the first one where none was chosen."""
        ids = [compared.entry_id for compared in self._comparison.models]
        return ids.index(self._baseline_id) if self._baseline_id in ids else 0

    def choose_baseline(self, model: int) -> None:
        """Compare with another model of the comparison."""
        entry_id = self._comparison.models[model].entry_id
        if entry_id != self._baseline_id:
            self._baseline_id = entry_id
            self._refresh()

    def _begin(self) -> None:
        if not self._comparison.rows:
            self._show(None)
            return
        work = partial(variant_matrix, self._comparison, self.baseline)
        self._submit(lambda _: work(), self._show, self._on_error)

    def _on_error(self, error: CtmError) -> None:
        self._show(None)
        self.failed.emit(error)

    def _show(self, matrix: VariantMatrix | None) -> None:
        self._task = None
        self.matrix = matrix
        self.matrix_changed.emit()
