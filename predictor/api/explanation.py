"""Where the time of a model goes on a target: ``explain``."""

from __future__ import annotations

from typing import Any

from predictor.api.predictions import Store, Targets, context_of
from predictor.api.tables import Row, Table
from predictor.api.targets import Requested
from predictor.core.errors import InputError
from predictor.core.prediction import Prediction
from predictor.services.prediction.explain import OperatorTable
from predictor.services.prediction.explain import explain as explain_pair
from predictor.services.prediction.sensitivity import Alternative, Sensitivity, sensitivity_of


class Explanation(Table):
    """Operators of a model with their parts of the latency, a row an operator.

    Attributes:
        prediction: whose parts they are.
        sensitivity: facts of the device that move the latency, with 10 % more of them.
        changes: latency with another precision, batch or number of threads, a row a change.
    """

    def __init__(
        self, prediction: Prediction, table: OperatorTable, sensitivity: Sensitivity
    ) -> None:
        self.prediction, self.sensitivity = prediction, sensitivity
        self.changes = Table([_change(change) for change in sensitivity.alternatives])
        super().__init__(_operators(table))


def _operators(table: OperatorTable) -> list[Row]:
    columns: dict[str, Any] = {
        "name": table.names,
        "op_type": table.op_types,
        "output_shape": ["×".join(map(str, shape)) for shape in table.output_shapes],
        "macs": table.macs.tolist(),
        "bytes_moved": table.bytes_moved.tolist(),
        "weight_bytes": table.weight_bytes.tolist(),
        "latency_ms": table.latency_ms.tolist(),
        "share": table.share.tolist(),
        "compute_ms": table.compute_ms.tolist(),
        "memory_ms": table.memory_ms.tolist(),
        "launch_ms": table.launch_ms.tolist(),
        "bound_type": table.bound_type,
    }
    values = zip(*columns.values(), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in values]


def _change(change: Alternative) -> dict[str, object]:
    names = ("latency_ms", "latency_factor", "low80_factor", "high80_factor", "throughput_factor")
    return {"change": change.change, **{name: getattr(change, name) for name in names}}


def explain(
    model: Any,
    target: Targets,
    *,
    runtime: str | None = None,
    precision: str | None = None,
    threads: int | None = None,
    engine: str = "",
    store: Store = None,
) -> Explanation:
    """Explain one model's time on one target, as ``ctm explain`` does.

    Args:
        model: a model of ``load``, or what it takes.
        target: a device or a target.
        runtime: in place of the usual one of the device.
        precision: the same.
        threads: the same; 0 for all cores.
        engine: ``closertome`` or ``roofline``; empty for the usual one.
        store: of what you measured before.

    Raises:
        InputError: an argument is wrong, or the target has no number for the model.
        HostError: the reader of model files cannot be started.
    """
    requested = Requested(runtime, precision, threads)
    with context_of(model, target, requested, engine, (), store) as (context, _):
        if len(context.models) != 1 or len(context.targets) != 1:
            pairs = len(context.models) * len(context.targets)
            raise InputError("ctm.explain", f"{pairs} pairs were requested", "name one of each")
        (prediction,) = context.predicted()
        of_pair = context.models[0], context.targets[0], engine, context.measured
        table = explain_pair(*of_pair).scaled(prediction.scale)
        sensitivity = sensitivity_of(*of_pair, context.measurements).scaled(prediction.scale)
    return Explanation(prediction, table, sensitivity)
