"""Models against one of them: latencies, differences from the baseline, the fastest by target.

Everything here is free of widgets; differences are of latencies in milliseconds, also where the
window shows rates.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, cached_property, partial

import numpy as np
from PySide6.QtCore import QObject, Signal

from ctm_gui.prediction.comparison import ComparedModel, Comparison
from ctm_gui.prediction.followers import ComparisonFollower
from ctm_gui.tasks.serial import SerialWorker
from ctm_gui.widgets.grid import Column, Grid, number_column, text_column
from ctm_gui.widgets.ordering import FloatArray, IndexArray
from predictor.core.errors import CtmError
from predictor.core.text import capitalised, plural, shortened_distinct
from predictor.core.units import LatencyUnit
from predictor.presentation.remarks import no_number
from predictor.presentation.wording import (
    NOTHING,
    change_text,
    interval_text,
    model_name,
    number,
    p50_text,
    shown,
    signed,
    target_text,
)
from predictor.services.prediction.fastest import fastest_sentence
from predictor.services.prediction.related import are_related
from predictor.services.prediction.variants import Variants, compare_variants


@dataclass(frozen=True, eq=False, kw_only=True)
class VariantMatrix(Variants):
    """M models on T targets against one of the models.

    Attributes:
        comparison: the source of the predictions.
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

    @cached_property
    def are_related(self) -> bool:
        """Whether each model can stand in for the others, so that one may be named the fastest."""
        return are_related(compared.model for compared in self.models if not compared.problem)

    def sort_keys_ms(self, model: int) -> FloatArray:
        """Return what the targets sort by in a model's column, float64 [T]; NaN last."""
        return np.where(np.isfinite(self.ranked_ms[model]), self.latency_ms[model], np.nan)

    @cached_property
    def ranked_ms(self) -> FloatArray:
        """Latencies to rank by, float64 [M, T]: inf where there is no number or a lower limit."""
        is_limit = np.array([row.prediction.is_lower_limit for row in self.comparison.rows])
        has_latency = ~is_limit.reshape(self.latency_ms.shape) & ~np.isnan(self.latency_ms)
        return np.where(has_latency, self.latency_ms, np.inf)

    def target_title(self, target: int) -> str:
        """Return the device's name and its configuration, a line each."""
        device = self.targets[target].device
        configuration = self.targets[target].configuration
        return f"{shown(device.name)}\n{target_text(configuration)}"

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
        labels=variants.labels,
        targets=variants.targets,
        predictions=variants.predictions,
        baseline=variants.baseline,
        differences=variants.differences,
        comparison=comparison,
    )
    # What looks at every prediction is worked out here, off the window's thread.
    _ = matrix.latency_ms, matrix.ranked_ms, matrix.has_intervals, matrix.notes
    _ = matrix.are_related
    return matrix


def _difference_lines(matrix: VariantMatrix, cell: int, unit: LatencyUnit) -> list[str]:
    differences = matrix.differences
    if np.isnan(differences.ratio[cell]):
        return []
    in_time = LatencyUnit.MS if unit is LatencyUnit.FPS else unit
    scale = in_time.from_ms(1.0)
    change = change_text(float(differences.ratio[cell]))
    change_ms = f"{signed(float(differences.difference_ms[cell]) * scale)} {in_time}"
    if np.isnan(differences.low80_ratio[cell]):
        return [f"{change} · {change_ms}"]
    ratios = (
        change_text(float(end[cell])) for end in (differences.low80_ratio, differences.high80_ratio)
    )
    times = (
        signed(float(end[cell]) * scale) for end in (differences.low80_ms, differences.high80_ms)
    )
    return [f"{change} ({' … '.join(ratios)})", f"{change_ms} ({' … '.join(times)})"]


def cell_details(matrix: VariantMatrix, model: int, target: int, unit: LatencyUnit) -> str:
    """Return the lines that hovering over a cell shows, as plain text."""
    row = matrix.comparison.rows[matrix.cell(model, target)]
    prediction = row.prediction
    lines = [f"{shown(row.model_label)} on {shown(row.device_name)}"]
    if prediction.latency_ms is None:
        return "\n".join([*lines, capitalised(no_number(prediction))])
    lines.append(p50_text(prediction, unit))
    if (interval := interval_text(prediction, unit)) != NOTHING:
        lines.append(f"80 % interval: {interval} {unit}")
    if model != matrix.baseline:
        name = shown(matrix.models[matrix.baseline].label)
        lines += [f"Against {name} (80 % interval of the difference in brackets):"]
        lines += _difference_lines(matrix, matrix.cell(model, target), unit) or [NOTHING]
        lines += _other_batch(matrix, model, target)
    return "\n".join([*lines, *row.notes])


def _other_batch(matrix: VariantMatrix, model: int, target: int) -> list[str]:
    """Return a note where runs over different batches are compared."""
    batch = matrix.prediction(model, target).configuration.batch
    other = matrix.prediction(matrix.baseline, target).configuration.batch
    return [f"One run of batch {batch} against one of batch {other}."] if batch != other else []


def fastest_models(matrix: VariantMatrix, budget_ms: float | None) -> IndexArray:
    """Return the fastest model that meets the budget, by target, intp [T]; -1 for none.

    Of models that cannot stand in for one another none is.
    """
    if not matrix.are_related:
        return np.full(len(matrix.targets), -1)
    fastest_ms = matrix.ranked_ms.min(axis=0, initial=np.inf)
    meets = np.isfinite(fastest_ms) & (fastest_ms <= (np.inf if budget_ms is None else budget_ms))
    return np.where(meets, matrix.ranked_ms.argmin(axis=0), -1)


def fastest_on(matrix: VariantMatrix, target: int, budget_ms: float | None) -> str:
    """Return a sentence on the fastest model that meets the budget on a target."""
    predictions = matrix.on_target(target)
    return fastest_sentence(predictions, matrix.labels, budget_ms, are_related=matrix.are_related)


def matrix_summary(matrix: VariantMatrix) -> str:
    """Return one line on the other models against the baseline."""
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
    comparable = ratios[~np.isnan(ratios)]
    name = shown(matrix.models[model].label)
    if not comparable.size:
        return f"{name} has no number to compare"
    faster = int((comparable < 1.0).sum())
    ends = [change_text(float(end)) for end in (comparable.min(), comparable.max())]
    span = ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"
    return f"{name} is faster on {faster} of {comparable.size} ({span})"


class VariantsPresenter(ComparisonFollower):
    """The choice of a baseline, and the matrix that follows from it.

    ``matrix_changed`` is emitted when ``matrix`` changes.
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
        self._task.start(lambda _: work(), self._show, self._on_error)

    def _let_go(self) -> None:
        if self.matrix is not None:
            self._show(None)

    def _on_error(self, error: CtmError) -> None:
        self._show(None)
        self.failed.emit(error)

    def _show(self, matrix: VariantMatrix | None) -> None:
        self.matrix = matrix
        self.matrix_changed.emit()


class CellValue(StrEnum):
    """The number that a cell of the matrix shows."""

    LATENCY = "Latency"
    CHANGE = "Change"


_FIRST_COLUMNS = 2  # before those of the models
# At twice or half of the baseline's latency a change has its full colour.
_FULL_CHANGE_LOG2 = 1.0
_TITLE_LETTERS = 16
FASTEST_MARK, BASELINE_MARK = "✓ ", "● "


class MatrixGrid(Grid):
    """A row a target, a column a model, one number a cell, and the fastest model in words.

    A copy holds every number in a column of its own.

    Args:
        matrix: predictions of the models on the targets.
        unit: of the latencies.
        budget_ms: whose fastest models are marked; without one, the fastest of each target.
        value: the number of a cell.
    """

    def __init__(
        self,
        matrix: VariantMatrix,
        unit: LatencyUnit,
        budget_ms: float | None = None,
        value: CellValue = CellValue.LATENCY,
    ) -> None:
        self.matrix, self.unit, self.value = matrix, unit, value
        self.fastest = fastest_models(matrix, budget_ms)
        titles = [matrix.target_title(target).split("\n") for target in range(len(matrix.targets))]
        within = "Fastest" if budget_ms is None else f"Fastest that meets {number(budget_ms)} ms"

        @cache  # the visible rows are read, and again at each painting
        def sentence(target: int) -> str:
            return fastest_on(matrix, target, budget_ms)

        columns = [
            text_column("device", "Device", [name for name, _ in titles]),
            text_column("configuration", "Configuration", [words for _, words in titles]),
            *(self._of_model(model) for model in range(len(matrix.models))),
            Column(key="fastest", title=within, text=sentence),
        ]
        super().__init__(len(titles), columns)

    @cached_property
    def copied_columns(self) -> Sequence[Column]:
        """A cell shows one number; a copy holds all of them."""
        models = range(len(self.matrix.models))
        numbers = (column for model in models for column in self._numbers_of(model))
        return (*self.columns[:_FIRST_COLUMNS], *numbers, self.columns[-1])

    @cached_property
    def search_texts(self) -> Sequence[str]:
        """Devices and configurations, case-folded."""
        titles = map(self.matrix.target_title, range(len(self.matrix.targets)))
        return [title.casefold() for title in titles]

    def model_of(self, column: int) -> int | None:
        """Return the model of a column, None for those of words."""
        model = column - _FIRST_COLUMNS
        return model if 0 <= model < len(self.matrix.models) else None

    @cached_property
    def heat(self) -> FloatArray:
        """Colour of each cell, float64 [M, T], NaN where there is no number.

        Of latencies 0 for the least of all and 1 for the most, by their logarithm; of changes 1 for
        half of the baseline's latency and less, -1 for twice and more, 0 where it is not clear.
        """
        if self.value is CellValue.CHANGE:
            models, targets = self.matrix.latency_ms.shape
            trends = [[self.matrix.trend(m, t) for t in range(targets)] for m in range(models)]
            change = -np.log2(self._ratios) / _FULL_CHANGE_LOG2
            return np.where(np.array(trends) == 0, change * 0.0, np.clip(change, -1.0, 1.0))
        logs = np.log10(np.maximum(self.matrix.latency_ms, np.finfo(np.float64).tiny))
        if np.isnan(logs).all():
            return logs
        low, high = np.nanmin(logs), np.nanmax(logs)
        heat: FloatArray = (logs - low) / max(high - low, np.finfo(np.float64).tiny)
        return heat

    @property
    def _ratios(self) -> FloatArray:
        """Latency over the baseline's, float64 [M, T]."""
        return self.matrix.differences.ratio.reshape(self.matrix.latency_ms.shape)

    @cached_property
    def _short_names(self) -> list[str]:
        """Short names of the models."""
        names = [model_name(compared.label) for compared in self.matrix.models]
        return shortened_distinct(names, _TITLE_LETTERS)

    def _of_model(self, model: int) -> Column:
        matrix, label, title = (
            self.matrix,
            self.matrix.models[model].label,
            self._short_names[model],
        )
        mark = BASELINE_MARK if model == matrix.baseline else ""
        # A column that held the grid would keep it until the garbage is collected.
        grid = weakref.proxy(self)
        return Column(
            key=f"model {model}",
            title=f"{mark}{title}",
            numeric=True,
            text=lambda target: grid.cell(model, target),
            sort_keys=lambda: matrix.sort_keys_ms(model),
            help=f"{shown(label)}: {self.value}",
        )

    def cell(self, model: int, target: int) -> str:
        """Return the text of a model on a target."""
        prediction = self.matrix.prediction(model, target)
        if prediction.latency_ms is None:
            return NOTHING
        mark = FASTEST_MARK if self.fastest[target] == model else ""
        if self.value is CellValue.CHANGE and model != self.matrix.baseline:
            return f"{mark}{change_text(float(self._ratios[model, target]))}"
        return f"{mark}{p50_text(prediction, self.unit)}"

    def _numbers_of(self, model: int) -> list[Column]:
        """Return the columns of a model in a copy: each number in a column of its own."""
        differences, targets = self.matrix.differences, len(self.matrix.targets)
        # Cells are model-major.
        cells = slice(model * targets, (model + 1) * targets)
        name = shown(self.matrix.models[model].label)
        numbers = {
            "latency ms": self.matrix.latency_ms[model],
            "difference ms": differences.difference_ms[cells],
            "difference ms, low 80 %": differences.low80_ms[cells],
            "difference ms, high 80 %": differences.high80_ms[cells],
            "ratio": differences.ratio[cells],
            "ratio, low 80 %": differences.low80_ratio[cells],
            "ratio, high 80 %": differences.high80_ratio[cells],
        }
        return [
            number_column(f"{model} {what}", f"{name}: {what}", values)
            for what, values in numbers.items()
        ]
