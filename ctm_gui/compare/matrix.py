"""Models against one of them: latencies, differences from the baseline, the fastest by target.

Everything here is free of widgets; differences are of latencies in milliseconds, also where the
window shows rates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial

import numpy as np
from PySide6.QtCore import QObject, Signal

from ctm_gui.prediction.run import ComparedModel, Comparison, ComparisonFollower
from ctm_gui.tasks.serial import SerialWorker
from ctm_gui.widgets.grid import Column, Grid, count_column, number_column, text_column
from ctm_gui.widgets.ordering import IndexArray
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
    number,
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
    """Return the text of a cell: the latency, then its difference from the baseline's.

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
    # argmin would choose a NaN.
    latency_ms = np.nan_to_num(matrix.latency_ms, nan=np.inf)
    least = latency_ms.min(axis=0, initial=np.inf)
    meets = np.isfinite(least) & (least <= (np.inf if budget_ms is None else budget_ms))
    return np.where(meets, latency_ms.argmin(axis=0), -1)


def fastest_on(matrix: VariantMatrix, target: int, budget_ms: float | None) -> str:
    """Return a sentence on the fastest model that meets the budget on a target."""
    return fastest_sentence(matrix.on_target(target), matrix.labels, budget_ms)


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
        return f"{name} has no number"
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
        self._submit(lambda _: work(), self._show, self._on_error)

    def _let_go(self) -> None:
        if self.matrix is not None:
            self._show(None)

    def _on_error(self, error: CtmError) -> None:
        self._show(None)
        self.failed.emit(error)

    def _show(self, matrix: VariantMatrix | None) -> None:
        self._task = None
        self.matrix = matrix
        self.matrix_changed.emit()


MARK, MODEL = "baseline", "model"
_CHOSEN, _OTHER = "●", "○"
_FIRST_COLUMNS = 4  # before those of the targets


class VariantsGrid(Grid):
    """A row a model, a column a target; a copy holds every number in a column of its own.

    Args:
        matrix: predictions of the models on the targets.
        unit: of the latencies.
        budget_ms: whose fastest models are marked; without one, the fastest of each target.
    """

    def __init__(
        self, matrix: VariantMatrix, unit: LatencyUnit, budget_ms: float | None = None
    ) -> None:
        self.matrix, self.unit = matrix, unit
        self.fastest = fastest_models(matrix, budget_ms)
        super().__init__(len(matrix.models), self._all())

    @cached_property
    def copied_columns(self) -> Sequence[Column]:
        """A cell holds lines of words; a copy holds each number in a column of its own."""
        targets = range(len(self.matrix.targets))
        numbers = (column for target in targets for column in self._numbers_of(target))
        return (*self.columns[:_FIRST_COLUMNS], *numbers)

    @cached_property
    def search_texts(self) -> Sequence[str]:
        """The models' names, case-folded."""
        return [shown(compared.label).casefold() for compared in self.matrix.models]

    def target_of(self, column: int) -> int | None:
        """Return the target of a column, None for those before the targets."""
        return column - _FIRST_COLUMNS if column >= _FIRST_COLUMNS else None

    def _all(self) -> list[Column]:
        models, baseline = self.matrix.models, self.matrix.baseline
        sums = [compared.model.graph for compared in models]
        labels = [shown(compared.label) for compared in models]
        return [
            Column(
                MARK,
                "Base",
                text=lambda row: _CHOSEN if row == baseline else _OTHER,
                sort_keys=lambda: (np.arange(len(models)) != baseline).astype(np.float64),
                help="A click makes the model the baseline that the others are compared with.",
            ),
            text_column(MODEL, "Model", labels),
            count_column("macs", "MACs", [int(graph.macs.sum()) for graph in sums]),
            count_column("parameters", "Parameters", [graph.parameters for graph in sums]),
            *(self._of_target(target) for target in range(len(self.matrix.targets))),
        ]

    def _of_target(self, target: int) -> Column:
        return Column(
            f"target {target}",
            self.matrix.target_title(target),
            numeric=True,
            text=lambda row: "\n".join(cell_lines(self.matrix, row, target, self.unit)),
            sort_keys=lambda: self.matrix.latency_ms[:, target],
        )

    def _numbers_of(self, target: int) -> list[Column]:
        """Return the columns of a target in a copy: each number in a column of its own."""
        differences = self.matrix.differences
        # Cells are model-major: every T-th one is this target's.
        rows = slice(target, None, len(self.matrix.targets))
        device = self.matrix.target_title(target).replace("\n", ", ")
        numbers = {
            "latency ms": self.matrix.latency_ms[:, target],
            "difference ms": differences.difference_ms[rows],
            "difference ms, low 80 %": differences.low80_ms[rows],
            "difference ms, high 80 %": differences.high80_ms[rows],
            "ratio": differences.ratio[rows],
            "ratio, low 80 %": differences.low80_ratio[rows],
            "ratio, high 80 %": differences.high80_ratio[rows],
        }
        return [
            number_column(f"{target} {what}", f"{device}: {what}", values)
            for what, values in numbers.items()
        ]


class FastestGrid(Grid):
    """For each target a sentence: the fastest model that meets the budget."""

    def __init__(self, matrix: VariantMatrix, budget_ms: float | None) -> None:
        titles = [matrix.target_title(t).split("\n")[0] for t in range(len(matrix.targets))]

        @cache  # the rows in view are asked for, and again at each painting
        def sentence(target: int) -> str:
            return fastest_on(matrix, target, budget_ms)

        within = "Fastest" if budget_ms is None else f"Fastest that meets {number(budget_ms)} ms"
        fastest = Column("fastest", within, text=sentence)
        super().__init__(len(titles), [text_column("device", "Device", titles), fastest])
