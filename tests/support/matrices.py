"""Comparisons of several models with hand-picked latencies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ctm_gui.prediction.comparison import ComparedModel, Comparison
from predictor.core.records import Precision, Target
from predictor.graph.model import Model
from tests.support.graphs import make_target
from tests.support.operator_graphs import Named, graph_of
from tests.unit.gui.conftest import comparison_row


def model_named(name: str, operators: Sequence[Named] = (Named(name="/a/x"),)) -> Model:
    return Model(
        path=f"/models/{name}",
        size_bytes=1,
        modified_ns=1,
        ir_version=9,
        opsets={"": 17},
        producer="",
        inputs=(),
        outputs=(),
        dynamic=(),
        notes=(),
        graph=graph_of(operators, fingerprint=name),
    )


def comparison_of(
    latencies: Mapping[str, Sequence[float | None]],
    operators: Mapping[str, Sequence[Named]] | None = None,
    **facts: object,
) -> Comparison:
    """Compare models by label, a latency a target; ``facts`` go into every prediction."""
    count = len(next(iter(latencies.values())))
    targets = tuple(_target(index) for index in range(count))
    models = tuple(
        ComparedModel(number, label, model_named(label, (operators or {}).get(label, (Named(),))))
        for number, label in enumerate(latencies, start=1)
    )
    rows = tuple(
        comparison_row(target.device.id, latency, label, **facts)
        for label, row in latencies.items()
        for target, latency in zip(targets, row, strict=True)
    )
    return Comparison(models=models, targets=targets, rows=rows, predicted=len(rows))


def _target(index: int) -> Target:
    target = make_target(runs=(Precision.FP32,))
    device = target.device
    named = type(device)(
        id=f"device-{index}",
        name=f"Device {index}",
        vendor=device.vendor,
        family=device.family,
        metrics=device.metrics,
        configurations=device.configurations,
    )
    return Target(named, target.configuration)
