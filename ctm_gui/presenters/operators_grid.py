"""The columns of the operator table."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property

import numpy as np

from ctm_gui.presenters.attention import looked_at
from ctm_gui.presenters.grid import (
    Column,
    Grid,
    count_column,
    name_column,
    number_column,
    place_column,
    share_column,
)
from ctm_gui.presenters.operators import cumulative_share, operator_unit
from ctm_gui.presenters.ordering import FloatArray, text_ranks
from predictor.core.records import Device
from predictor.core.units import LatencyUnit, format_bytes
from predictor.core.wording import percent, shape_text
from predictor.services.prediction.attention import operators_peak, token_label
from predictor.services.prediction.predict import OperatorTable

SHARE = "share"
_CUMULATIVE_HELP = (
    "Shares added up from the top, in the order shown and over the operators shown. "
    "Sorting by it sorts by share."
)


class OperatorsGrid(Grid):
    """The operator table.

    Args:
        table: N operators.
        unit: of the times; a rate is shown in milliseconds.
        device: of the target; with it, what operators attend to has a column.
    """

    def __init__(
        self, table: OperatorTable, unit: LatencyUnit, device: Device | None = None
    ) -> None:
        self.table = table
        self._device = device
        self._unit = operator_unit(unit)
        self._cumulative: FloatArray | None = None
        super().__init__(len(table.names), self._all())

    @cached_property
    def _largest_share(self) -> float:
        return float(self.table.share.max(initial=0.0))

    def bar_length(self, position: int) -> float:
        """Return the share shown at a position over the largest one, which fills its cell."""
        share = float(self.table.share[self.source(position)])
        has_bar = self._largest_share > 0 and math.isfinite(share)
        return share / self._largest_share if has_bar else 0.0

    def _refresh(self) -> None:
        super()._refresh()
        self._cumulative = None

    @property
    def cumulative(self) -> FloatArray:
        """Shares added up in the order shown, float64 [N] by row."""
        if self._cumulative is None:
            self._cumulative = cumulative_share(self.table.share, self.order)
        return self._cumulative

    def _all(self) -> list[Column]:
        table = self.table
        scale = self._unit.from_ms(1.0)
        cumulative = share_column(
            "cumulative", "Cumulative", lambda: self.cumulative, _CUMULATIVE_HELP
        )
        return [
            place_column(len(table.names)),
            name_column("name", "Name", table.names),
            name_column("type", "Type", table.op_types),
            self._shape(),
            count_column("macs", "MACs", table.macs),
            count_column("bytes", "Bytes", table.bytes_moved, format_bytes),
            count_column("weights", "Weights", table.weight_bytes, format_bytes),
            number_column("latency", f"Latency ({self._unit})", table.latency_ms * scale),
            share_column(SHARE, "Share", lambda: table.share),
            replace(cumulative, sort_keys=lambda: table.share),
            name_column("bound", "Bound by", table.bound_type),
            *self._looks(),
            name_column("flags", "Flags", table.flags),
        ]

    def _looks(self) -> list[Column]:
        table, peak = self.table, operators_peak(self.table.attention)
        if peak is None or table.attention is None or self._device is None:
            return []
        labels = [token_label(name, self._device) for name in table.attention.metrics]
        ranks = text_ranks(labels)

        def text(row: int) -> str:
            at = looked_at(peak, row, labels)
            return at if peak.even[row] else f"{at} ({percent(float(peak.share[row]))})"

        return [
            Column(
                "looks",
                "Looks mostly at",
                numeric=False,
                text=text,
                # Metric by metric, the strongest first.
                sort_keys=lambda: ranks[peak.at] - peak.share / 2,
                help="The metric of the device that the operator attends to most.",
            )
        ]

    def _shape(self) -> Column:
        shapes = self.table.output_shapes

        def elements() -> FloatArray:
            return np.fromiter(
                (float(math.prod(shape)) for shape in shapes), np.float64, len(shapes)
            )

        return Column(
            "shape",
            "Output shape",
            numeric=False,
            text=lambda row: shape_text(shapes[row]),
            sort_keys=elements,
            help="Of the first output. Sorted by the number of elements.",
        )
