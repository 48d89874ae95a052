"""Operators that a runtime does not run on a unit."""

from __future__ import annotations

from dataclasses import replace

import pytest

from predictor.core.metrics import Family
from predictor.core.records import Precision, Target
from predictor.core.runtimes import RUNTIMES
from predictor.cost.support import support_lists, unsupported
from predictor.graph.operator_graph import OperatorGraph
from predictor.presentation.prediction_rows import Place, PredictionRow, TableContext
from predictor.presentation.remarks import remarks
from predictor.services.devices.catalogue import load_catalogue
from predictor.services.prediction.engines import ROOFLINE
from predictor.services.prediction.predict import predict
from tests.support.graphs import FUSED, VIEW, Op, make_graph, make_target
from tests.support.models import make_model


def graph_of(*types: str, flags: int = 0) -> OperatorGraph:
    graph = make_graph([Op(read=8, written=8, flags=flags) for _ in types])
    return replace(graph, op_types=types)


def target_of(
    runtime: str,
    family: Family,
    vendor: str = "",
    precision: Precision = Precision.FP16,
    architecture: str = "",
) -> Target:
    target = make_target(runtime=runtime, family=family, precision=precision)
    device = replace(target.device, vendor=vendor, architecture=architecture)
    return replace(target, device=device)


def npu_of(architecture: str, runtime: str = "tflite") -> Target:
    return target_of(runtime, Family.NPU, "Maker", Precision.INT8, architecture)


QNN = target_of("onnxruntime", Family.NPU, "Qualcomm")


@pytest.mark.parametrize(
    ("target", "op_type", "consequence"),
    [
        (QNN, "NonZero", "on the CPU instead"),
        (target_of("onnxruntime", Family.GPU, "NVIDIA"), "QLinearConv", "on the CPU instead"),
        (target_of("tflite", Family.MOBILE_GPU), "TopK", "on the CPU instead"),
        (target_of("tensorrt", Family.GPU), "QLinearConv", "the model is not converted"),
        (target_of("openvino", Family.CPU), "DeformConv", "the model is not converted"),
        (target_of("rknn", Family.NPU), "TopK", "the model is not converted"),
        (target_of("qnn", Family.NPU, "Qualcomm"), "Unique", "the model is not converted"),
        (target_of("snpe", Family.NPU, "Qualcomm"), "Loop", "the model is not converted"),
        (target_of("tflite", Family.NPU, "Qualcomm"), "GridSample", "on the CPU instead"),
        (target_of("coreml", Family.NPU, "Apple"), "NonZero", "on the CPU instead"),
        (target_of("onnxruntime", Family.GPU, "Apple"), "NonZero", "on the CPU instead"),
        (npu_of("edgetpu"), "Abs", "on the CPU instead"),
        (npu_of("ethos-u65-256"), "Transpose", "on the CPU instead"),
        (npu_of("intel-npu-4000", "openvino"), "Unique", "the model is not compiled"),
        (target_of("openvino", Family.GPU), "BitwiseNot", "the model is not compiled"),
    ],
)
def test_an_operator_off_the_list_is_named_and_a_convolution_is_not(
    target: Target, op_type: str, consequence: str
) -> None:
    (refused,) = unsupported(graph_of("Conv", op_type, "Conv", op_type), [target])
    assert refused is not None
    assert refused.operators == ("op_1", "op_3")
    assert refused.types == (op_type,)
    assert refused.consequence == consequence
    assert refused.source
    assert unsupported(graph_of("Conv", "Relu", "Gemm"), [target]) == [None]


def test_without_a_list_nothing_is_judged() -> None:
    graph = graph_of("Unheard")
    for target in (
        target_of("ncnn", Family.CPU),
        target_of("onnxruntime", Family.CPU),
        target_of("onnxruntime", Family.GPU, "AMD"),
        npu_of("vip8000"),
        npu_of("edgetpu", "onnxruntime"),
    ):
        assert unsupported(graph, [target]) == [None]


def test_other_domains_and_what_does_not_run_are_not_judged() -> None:
    assert unsupported(graph_of("com.microsoft::Odd"), [QNN]) == [None]
    for flag in (VIEW, FUSED):
        assert unsupported(graph_of("NonZero", flags=flag), [QNN]) == [None]


def test_an_erf_is_part_of_a_gelu_in_floating_point_alone() -> None:
    quantised = target_of("onnxruntime", Family.NPU, "Qualcomm", Precision.INT8)
    graph = graph_of("Erf", "Conv")
    assert unsupported(graph, [QNN]) == [None]
    (refused,) = unsupported(graph, [quantised])
    assert refused is not None
    assert refused.types == ("Erf",)


def test_the_remark_names_the_types_and_what_happens() -> None:
    model = make_model(*(Op(macs=10, read=8, written=8) for _ in range(5)))
    types = ("NonZero", "Det", "Unique", "NonZero", "Bernoulli")
    model = replace(model, graph=replace(model.graph, op_types=types))
    target = target_of("tensorrt", Family.GPU, precision=Precision.FP32)
    (prediction,) = predict([model], [target], ROOFLINE)
    for place in (Place.COMPARE, Place.DETAILS, Place.TEXT, Place.REPORT):
        said = remarks(
            PredictionRow(prediction=prediction, device_name="Board", model_label="net"),
            TableContext(place),
        )
        # NonZero is on the list.
        assert (
            "3 operators not supported by TensorRT 10.15 (Det, Unique, Bernoulli): the model is "
            "not converted"
        ) in said


def test_lists_are_of_runtimes_and_vendors_that_there_are() -> None:
    devices = load_catalogue().devices
    for listed in support_lists():
        assert listed.runtimes <= set(RUNTIMES)
        assert listed.types
        assert "Conv" in listed.types if listed.lists_all else "Conv" not in listed.types
        assert listed.runtimes & {
            configuration.runtime
            for device in devices
            for configuration in device.configurations
            if listed.covers(
                configuration.runtime, device.family, device.vendor, device.architecture
            )
        }


def test_a_list_of_one_design_goes_before_that_of_all() -> None:
    graph = graph_of("Conv", "Unique")
    assert unsupported(graph, [npu_of("myriad-x", "openvino")]) == [None]
    (refused,) = unsupported(graph, [npu_of("intel-npu-4000", "openvino")])
    assert refused is not None
    assert refused.runtime == "OpenVINO on an NPU"
