"""Models of operators by hand, and a phone."""

from __future__ import annotations

from predictor.core.metrics import Family
from predictor.core.records import Cluster, Configuration, Device, Precision
from predictor.core.tensors import TensorInfo
from predictor.graph.model import Model
from tests.support.graphs import Op, make_graph
from tests.support.operator_graphs import Named, graph_of


def model_of(operators: list[Named]) -> Model:
    return Model(
        path="/models/net.onnx",
        size_bytes=1,
        modified_ns=1,
        ir_version=9,
        opsets={"": 17},
        producer="",
        inputs=(),
        outputs=(),
        dynamic=(),
        notes=(),
        graph=graph_of(operators),
    )


PHONE = Device(
    id="phone",
    name="Phone",
    vendor="",
    family=Family.MOBILE_CPU,
    metrics={"dram_bw_gbps": 30.0},
    configurations=(
        Configuration("onnxruntime", Precision.FP32, threads=4),
        Configuration("ncnn", Precision.FP32),
        Configuration("ncnn", Precision.FP16),
    ),
    clusters=(
        Cluster(name="Big", cores=2, clock_mhz=2000.0, fp32_au_per_core=8.0),
        Cluster(name="Little", cores=6, clock_mhz=1000.0, fp32_au_per_core=4.0),
    ),
)


def make_model(*ops: Op, path: str = "/models/net.onnx", batch: int = 1) -> Model:
    return Model(
        path=path,
        size_bytes=0,
        modified_ns=0,
        ir_version=8,
        opsets={"": 17},
        producer="",
        inputs=(
            TensorInfo("scale", "float32", (), ()),
            TensorInfo("x", "float32", (batch, 3), (batch, 3)),
        ),
        outputs=(),
        dynamic=(),
        notes=(),
        graph=make_graph(ops or [Op(macs=10**9, read=10**6, written=10**6)]),
    )
