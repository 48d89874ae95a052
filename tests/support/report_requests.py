"""Requests for reports, made without a file: small graphs on two made-up devices."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np

from predictor.core.documents import ProbingFacts, Provenance
from predictor.core.prediction import Prediction
from predictor.core.records import (
    Basis,
    Configuration,
    Device,
    Measurement,
    Precision,
    Signature,
    Target,
)
from predictor.core.stored import StoredSignature
from predictor.cost.engine import AttentionMaps
from predictor.graph.model import Model
from predictor.services.prediction.explain import OperatorTable, explain
from predictor.services.prediction.predict import predict
from predictor.services.report.request import MeasuredSignature, ReportedModel, ReportRequest
from tests.support.graphs import Op, make_target
from tests.support.models import make_model

CREATED = datetime(2026, 5, 4, 12, 30, tzinfo=UTC)
TWO = (Op(macs=10**9, read=10**6, written=10**6), Op(macs=10**8, read=10**6, written=10**6))
# What a stranger may call things: markup, right to left, wide letters, no letters at all.
HOSTILE = (
    "<b>bold</b><script>alert(1)</script>&amp;",
    "\u202eright to left \u05e9\u05dc\u05d5\u05dd",
    "漢字かな交じり文" * 40,
    "x" * 300,
    "a|b*c_d`e~[f](g) # h",
    "\x00\x1b[31m\n\ttab",
    "\U0001f600\ue000\udce9",
)


def make_device(title: str, /, *, speed: float = 1.0, **changes: object) -> Target:
    target = make_target()
    metrics = {metric: value * speed for metric, value in target.device.metrics.items()}
    sources = dict.fromkeys(metrics, "a data sheet")
    facts = {"id": title.lower(), "name": title, "metrics": metrics, "sources": sources, **changes}
    return replace(target, device=replace(target.device, **facts))  # type: ignore[arg-type]


SLOW, FAST = make_device("Slow", speed=0.5), make_device("Fast", speed=4.0)


def make_request(
    *models: Model, targets: tuple[Target, ...] = (SLOW, FAST), **changes: object
) -> ReportRequest:
    reported = tuple(
        ReportedModel(f"net{place}.onnx", model)
        for place, model in enumerate(models or (make_model(*TWO),))
    )
    predictions = predict([one.model for one in reported], targets, "roofline")
    request = ReportRequest(
        models=reported, targets=targets, predictions=predictions, explain=_explain, created=CREATED
    )
    return replace(request, **changes)  # type: ignore[arg-type]


def _explain(model: Model, target: Target) -> OperatorTable:
    return explain(model, target, "roofline")


def with_intervals(request: ReportRequest) -> ReportRequest:
    """Give every number an interval, as a learned engine does."""
    return replace(request, predictions=tuple(map(_with_interval, request.predictions)))


def _with_interval(prediction: Prediction) -> Prediction:
    p50 = prediction.latency_ms
    if p50 is None:
        return prediction
    ends = {"low80_ms": p50 * 0.8, "high80_ms": p50 * 1.25}
    ends |= {"low95_ms": p50 * 0.7, "high95_ms": p50 * 1.4}
    return replace(prediction, basis=Basis.ZERO_SHOT, **ends)


def attending(model: Model, target: Target) -> OperatorTable:
    """Explain with attention: operator i looks at fact i mod 2 alone."""
    table = _explain(model, target)
    count = len(table.names)
    heard = np.eye(2, dtype=np.float32)[np.arange(count) % 2]
    read = np.full((2, count), 1 / count, np.float32)
    maps = AttentionMaps(
        metrics=("fp32_tflops", "dram_bw_gbps"),
        operator_to_metric=heard,
        metric_to_operator=read,
        blend=0.6,
        residual=0.25,
    )
    return replace(table, attention=maps)


def fine_tuned_request() -> ReportRequest:
    """Return a request of which FAST was predicted with FiLM fine-tuned to its signature."""
    known = make_signature(FAST.device)
    request = make_request(signatures=(known,))
    probed = {"basis": Basis.PROBED, "fine_tuned": True, "signature": known.stored.signature.id}
    predictions = tuple(
        replace(each, engine="closertome/1", **(probed if each.device_id == "fast" else {}))  # type: ignore[arg-type]
        for each in request.predictions
    )
    return replace(request, predictions=predictions)


def make_signature(device: Device, *, active: bool = True) -> MeasuredSignature:
    configuration = Configuration("onnxruntime", Precision.FP32, 1, 1)
    measurement = Measurement(
        id="m" * 32,
        fingerprint="f" * 64,
        device_id=device.id,
        configuration=configuration,
        samples_ns=(4_000_000, 5_000_000, 6_000_000),
        value_ms=5.0,
        statistic="median",
        protocol="ctm-probe/1",
        provenance=Provenance({"network": "fbnet-00"}),
    )
    signature = Signature("5" * 32, device.id, configuration, (measurement.id,), active)
    facts = {
        "protocol": "ctm-probe/1",
        "settings": {
            "warm_up_runs": 10,
            "warm_up_s": 0.5,
            "least_runs": 11,
            "least_s": 1.0,
            "interval": 0.01,
            "cap_s": 13.1141,
        },
        "selector": "dbsel",
        "host": {"processor": "A processor", "system": "A system"},
        "drift": 0.012,
    }
    stored = StoredSignature(
        signature=signature, created_ns=1_700_000_000_000_000_000, facts=ProbingFacts(facts)
    )
    return MeasuredSignature(stored, (measurement,))


def hostile_request() -> ReportRequest:
    targets = tuple(
        make_device(f"d{place}", speed=place + 1.0, name=name, vendor=name, notes=name, system=name)
        for place, name in enumerate(HOSTILE)
    )
    model = make_model(*[Op(macs=10**8)] * len(HOSTILE))
    graph = replace(model.graph, names=HOSTILE, op_types=HOSTILE)
    hostile = replace(model, graph=graph, producer=HOSTILE[0], notes=HOSTILE, path="/" + HOSTILE[2])
    request = make_request(hostile, targets=targets, budget_ms=1.0, title="")
    return replace(request, models=(replace(request.models[0], label=HOSTILE[0]),))
