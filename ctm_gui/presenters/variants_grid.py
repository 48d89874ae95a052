"""The matrix of models and targets as a table, and the sentences about budgets as another."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, cached_property

import numpy as np

from ctm_gui.presenters.grid import Column, Grid, count_column, number_column, text_column
from ctm_gui.presenters.variants import VariantMatrix, cell_lines, fastest_models, fastest_on
from predictor.core.units import LatencyUnit
from predictor.core.wording import number, shown

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
                numeric=False,
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
        """Return what a copy holds of a target: each number in a column of its own."""
        differences = self.matrix.differences
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
        fastest = Column("fastest", within, numeric=False, text=sentence)
        super().__init__(len(titles), [text_column("device", "Device", titles), fastest])
