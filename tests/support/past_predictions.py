"""A store with a past: two models on two targets, predicted as the program does it."""

from __future__ import annotations

import dataclasses

from predictor.core.prediction import Prediction
from predictor.core.records import Device
from predictor.core.tensors import DynamicDimension, TensorInfo
from predictor.graph.model import Model
from predictor.services.prediction.predict import predict
from tests.support.graphs import Op, make_graph, make_target

FAST = dataclasses.replace(
    make_target(), device=dataclasses.replace(make_target().device, id="fast")
)
SLOW = make_target({"fp32_tflops": 0.2, "dram_bw_gbps": 10.0})
SLOW = dataclasses.replace(SLOW, device=dataclasses.replace(SLOW.device, id="slow", name="Slow 1"))
DEVICES: dict[str, Device] = {t.device.id: t.device for t in (FAST, SLOW)}


def small_model(name: str = "net.onnx", macs: int = 10**9, batch: int = 1) -> Model:
    """One operator; models of other MACs have other fingerprints."""
    graph = dataclasses.replace(
        make_graph([Op(macs=macs, read=10**6, written=10**6)]), fingerprint=f"{macs + batch:064x}"
    )
    dynamic = (DynamicDimension("batch", batch, 1, "named like a batch"),)
    inputs = (TensorInfo("x", "float32", ("batch", 3), (batch, 3)),)
    return Model(
        path=f"/models/{name}",
        size_bytes=10,
        modified_ns=20,
        ir_version=8,
        opsets={"": 17},
        producer="test",
        inputs=inputs,
        outputs=(),
        dynamic=dynamic,
        notes=(),
        graph=graph,
    )


def predictions_of(*models: Model) -> list[Prediction]:
    """Every model on both targets, by the engine without intervals."""
    return list(predict(models, [FAST, SLOW], "roofline"))
