"""TensorFlow Lite files become the ONNX model of the same network."""

from __future__ import annotations

import lzma
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import tflite

from predictor.core.errors import InputError
from predictor.formats.opening import open_model
from predictor.formats.tflite.file import OPERATORS
from predictor.formats.tflite.layouts import as_filed, channels_first, is_regrouped, is_view
from predictor.graph.model import Model
from predictor.graph.operator_graph import OperatorFlag, OperatorGraph
from predictor.graph.operators import DTYPES
from tests.support.networks.tflite_files import (
    BOOL,
    INT8,
    INT32,
    Operator,
    Tensor,
    numbers,
    tflite_file,
    zeros,
)

FILES = Path(__file__).parents[2] / "golden" / "formats"
NETWORKS = sorted(path.name.partition(".")[0] for path in FILES.glob("*.tflite.xz"))
IMAGE = Tensor((1, 8, 8, 4))
_CONVERSIONS = {"QuantizeLinear", "DequantizeLinear"}


def golden(name: str, folder: Path, batch: int | None = None) -> Model:
    path = folder / Path(name).name
    path.write_bytes(lzma.decompress((FILES / f"{name}.xz").read_bytes()))
    return open_model(path, batch=batch)


def opened(
    folder: Path,
    tensors: Sequence[Tensor],
    operators: Sequence[Operator],
    inputs: Sequence[int] = (0,),
    outputs: Sequence[int] | None = None,
) -> Model:
    path = folder / "network.tflite"
    ends = [len(tensors) - 1] if outputs is None else outputs
    path.write_bytes(tflite_file(tensors, operators, inputs, ends))
    return open_model(path)


def types(graph: OperatorGraph) -> Counter[str]:
    return Counter(kind for kind in graph.op_types if kind not in _CONVERSIONS)


def running(graph: OperatorGraph) -> Counter[str]:
    """Return the operators that run of themselves, by type."""
    silent = OperatorFlag.FUSED | OperatorFlag.VIEW
    pairs = zip(graph.op_types, graph.flags, strict=True)
    return Counter(kind for kind, flags in pairs if not flags & silent)


@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_has_the_fingerprint_of_its_onnx_file(name: str, tmp_path: Path) -> None:
    file = golden(f"{name}.tflite", tmp_path)

    assert file.graph.fingerprint == golden(f"{name}.onnx", tmp_path).graph.fingerprint
    assert file.format == "TensorFlow Lite"
    assert not file.notes


@pytest.mark.parametrize("name", ["residual", "detector"])
def test_integers_change_types_and_bytes_alone(name: str, tmp_path: Path) -> None:
    of_floats = golden(f"tflite/{name}.float.tflite", tmp_path).graph
    integers = golden(f"tflite/{name}.int8.tflite", tmp_path).graph

    assert integers.macs.sum() == of_floats.macs.sum() > 0
    # Biases of zeros, which the file of floats joins, have scales of their own.
    assert integers.parameters == pytest.approx(of_floats.parameters, rel=0.005)
    assert types(integers) == types(of_floats)
    # int32 biases and scales are what is over a quarter.
    assert of_floats.weights_total_bytes / integers.weights_total_bytes > 3.5
    assert not running(integers).keys() & _CONVERSIONS
    counted = integers.macs > 0
    assert {DTYPES[code] for code in integers.dtype[counted]} == {"int8"}
    assert integers.has_flag(OperatorFlag.QUANTISED)[counted].all()


def test_weights_alone_in_integers_or_halves(tmp_path: Path) -> None:
    of_floats = golden("tflite/residual.float.tflite", tmp_path).graph
    for precision, most in (("dynamic", 0.35), ("fp16", 0.51)):
        graph = golden(f"tflite/residual.{precision}.tflite", tmp_path).graph
        assert graph.fingerprint == of_floats.fingerprint
        assert graph.weights_total_bytes < most * of_floats.weights_total_bytes
        assert running(graph) == running(of_floats)


def test_macs_of_kinds_of_convolutions(tmp_path: Path) -> None:
    graph = golden("tflite/segmenter.float.tflite", tmp_path).graph

    dilated, grouped = 9 * 4 * 8 * 32 * 32, 9 * 4 * 8 * 16 * 16
    transposed, last = 9 * 8 * 6 * 16 * 16, 6 * 3 * 16 * 16
    assert graph.macs.sum() == dilated + grouped + transposed + last


def test_loops_run_as_often_as_their_counters_say(tmp_path: Path) -> None:
    model = golden("tflite/recurrent.float.tflite", tmp_path)

    cells = 4 * 16 * (8 + 16) + 2 * 4 * 8 * (16 + 8)
    assert model.graph.macs.sum() == 12 * cells + 16 * 4
    assert not model.notes


def test_a_loop_that_one_of_two_conditions_keeps_running_has_no_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(OPERATORS, tflite.BuiltinOperator.LOGICAL_AND, "LOGICAL_OR")

    model = golden("tflite/recurrent.float.tflite", tmp_path)

    assert len(model.notes) == 3
    in_loops = model.graph.has_flag(OperatorFlag.UNKNOWN_TRIPS)
    assert in_loops[model.graph.macs > 0].sum() == 6


def test_a_loop_whose_states_have_a_batch_refuses_another(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="batch"):
        golden("tflite/recurrent.float.tflite", tmp_path, batch=4)


def test_another_batch_multiplies_the_work(tmp_path: Path) -> None:
    for name in ("mobilenet_v2", "tflite/detector.int8"):
        single, four = (golden(f"{name}.tflite", tmp_path, batch).graph for batch in (None, 4))
        assert four.macs.sum() == 4 * single.macs.sum()
        assert four.parameters == single.parameters


def test_images_have_channels_first_and_open_sizes_names(tmp_path: Path) -> None:
    (image,) = golden("tflite/residual.float.tflite", tmp_path).inputs
    model = opened(
        tmp_path,
        [Tensor((-1, -1, -1, 3)), zeros(4, 3, 3, 3), Tensor((-1, -1, -1, 4))],
        [Operator("CONV_2D", [0, 1], [2], "Conv2DOptions", {"StrideW": 1, "StrideH": 1})],
    )

    assert image.declared == ("batch", 3, 32, 32)
    assert model.inputs[0].declared == ("batch", 3, "height", "width")
    assert model.graph.macs.sum() == 9 * 3 * 4 * 224 * 224


def test_heads_of_detectors_are_reordered_once(tmp_path: Path) -> None:
    """Rows of boxes out of an image with channels first need a Transpose, as torch writes it."""
    options = {"StrideW": 1, "StrideH": 1}
    graph = opened(
        tmp_path,
        [IMAGE, zeros(12, 3, 3, 4), Tensor((1, 8, 8, 12)), numbers(1, 192, 4), Tensor((1, 192, 4))],
        [
            Operator("CONV_2D", [0, 1], [2], "Conv2DOptions", options),
            Operator("RESHAPE", [2, 3], [4]),
        ],
    ).graph

    assert running(graph) == {"Conv": 1, "Transpose": 1}


def test_a_flattened_image_before_a_dense_layer_is_a_view(tmp_path: Path) -> None:
    options = {"StrideW": 1, "StrideH": 1}
    graph = opened(
        tmp_path,
        [
            IMAGE,
            zeros(2, 1, 1, 4),
            Tensor((1, 8, 8, 2)),
            numbers(1, 128),
            Tensor((1, 128)),
            zeros(5, 128),
            Tensor((1, 5)),
        ],
        [
            Operator("CONV_2D", [0, 1], [2], "Conv2DOptions", options),
            Operator("RESHAPE", [2, 3], [4]),
            Operator("FULLY_CONNECTED", [4, 5, -1], [6]),
        ],
    ).graph

    assert running(graph) == {"Conv": 1, "Gemm": 1}


def test_unknown_operators_are_named_and_have_the_shapes_of_the_file(tmp_path: Path) -> None:
    results = [Tensor((1, 10, 4)), Tensor((1, 10)), Tensor((1, 10)), Tensor((1,))]
    model = opened(
        tmp_path,
        [Tensor((1, 192, 4)), Tensor((1, 192, 11)), *results],
        [Operator("TFLite_Detection_PostProcess", [0, 1], [2, 3, 4, 5])],
        [0, 1],
        [2, 3, 4, 5],
    )

    assert [output.shape for output in model.outputs] == [tensor.dims for tensor in results]
    (note,) = model.notes
    assert "tflite::TFLite_Detection_PostProcess" in note
    assert "its arithmetic is not" in note


@pytest.mark.parametrize("kind", ["edgetpu-custom-op", "ethos-u", "DISPATCH_OP", "DELEGATE"])
def test_compiled_networks_are_refused(kind: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="give the file that it was compiled from"):
        opened(tmp_path, [IMAGE, IMAGE], [Operator(kind, [0], [1])])


def test_conversions_that_the_file_runs_stay(tmp_path: Path) -> None:
    integers = Tensor((1, 8, 8, 4), INT8, None, is_quantised=True)
    graph = opened(
        tmp_path,
        [IMAGE, integers, integers, IMAGE],
        [
            Operator("QUANTIZE", [0], [1]),
            Operator("ADD", [1, 1], [2], "AddOptions", {"FusedActivationFunction": 1}),
            Operator("DEQUANTIZE", [2], [3]),
        ],
    ).graph

    assert running(graph) == {"QuantizeLinear": 1, "Add": 1, "Relu": 1, "DequantizeLinear": 1}


@pytest.mark.parametrize(("kind", "count"), [("SQUARE", 1), ("SQUARED_DIFFERENCE", 2)])
def test_squares_of_integers_count_as_integers(kind: str, count: int, tmp_path: Path) -> None:
    integers = Tensor((1, 8, 8, 4), INT8, None, is_quantised=True)
    inputs = [*range(count)]
    graph = opened(
        tmp_path, [integers] * (count + 1), [Operator(kind, inputs, [count])], inputs
    ).graph

    assert running(graph) == Counter({"Mul": 1, "Sub": count - 1})
    assert graph.has_flag(OperatorFlag.QUANTISED).sum() == count


def test_types_that_the_schema_lacks_are_refused(tmp_path: Path) -> None:
    weights = Tensor((16, 64), 20, np.zeros(512, np.uint8))
    with pytest.raises(InputError, match="'t1' is of type 20"):
        opened(
            tmp_path,
            [Tensor((1, 64)), weights, Tensor((1, 16))],
            [Operator("FULLY_CONNECTED", [0, 1, -1], [2])],
        )


_CELL = [zeros(16, 8)] * 4 + [zeros(16, 16)] * 4
_STEPS = {"StrideD": 1, "StrideH": 1, "StrideW": 1}
_STATES = [Tensor((1, 16))] * 2
_LSTM = [0, *range(1, 9), -1, -1, -1, *range(9, 13), -1, -1, 13, 14]


@pytest.mark.parametrize(
    ("tensors", "operator", "macs"),
    [
        (
            [Tensor((1, 5, 8)), *_CELL, *[zeros(16)] * 4, *_STATES, Tensor((1, 5, 16))],
            Operator("UNIDIRECTIONAL_SEQUENCE_LSTM", _LSTM, [15]),
            5 * 4 * 16 * (8 + 16),
        ),
        (
            [Tensor((1, 40)), zeros(16, 40), zeros(16, 8), zeros(16), _STATES[0], _STATES[0]],
            Operator("SVDF", [0, 1, 2, 3, 4], [5], "SVDFOptions", {"Rank": 1}),
            16 * 40 + 16 * 8,
        ),
        (
            [Tensor((2, 4, 8)), Tensor((2, 5, 8)), Tensor((2, 4, 5))],
            Operator("BATCH_MATMUL", [0, 1], [2], "BatchMatMulOptions", {"AdjY": True}),
            2 * 4 * 8 * 5,
        ),
        (
            [Tensor((1, 4, 8, 8, 2)), zeros(3, 3, 3, 2, 4), Tensor((1, 4, 8, 8, 4))],
            Operator("CONV_3D", [0, 1], [2], "Conv3DOptions", _STEPS),
            27 * 2 * 4 * 4 * 8 * 8,
        ),
    ],
    ids=lambda value: value.type if isinstance(value, Operator) else "",
)
def test_macs_of_single_operators(
    tensors: list[Tensor], operator: Operator, macs: int, tmp_path: Path
) -> None:
    dynamic = [i for i in operator.inputs if i >= 0 and tensors[i].values is None]

    assert opened(tmp_path, tensors, [operator], dynamic).graph.macs.sum() == macs


def test_biases_of_a_recurrent_layer_and_peepholes_of_a_cell_are_weights(tmp_path: Path) -> None:
    cell = [Tensor((1, 5, 8)), *_CELL, *[zeros(16)] * 7, *_STATES, Tensor((1, 5, 16))]
    inputs = [*range(16), -1, -1, 16, 17]
    lstm = Operator("UNIDIRECTIONAL_SEQUENCE_LSTM", inputs, [18])
    layer = [Tensor((1, 5, 8)), zeros(16, 8), zeros(16, 16), zeros(16), _STATES[0]]
    rnn = Operator("UNIDIRECTIONAL_SEQUENCE_RNN", [0, 1, 2, 3, 4], [5])

    # A constant of one zero stands for the biases of the states.
    of_cell = opened(tmp_path, cell, [lstm], (0, 16, 17)).graph
    assert of_cell.parameters == 4 * 16 * (8 + 16) + 7 * 16 + 1
    of_layer = opened(tmp_path, [*layer, Tensor((1, 5, 16))], [rnn], (0, 4)).graph
    assert of_layer.parameters == 16 * (8 + 16) + 16 + 1


def test_a_cell_with_layer_normalisations_is_unknown(tmp_path: Path) -> None:
    normalizations = [zeros(16)] * 4
    tensors = [Tensor((1, 5, 8)), *_CELL, *[zeros(16)] * 4, *_STATES, *normalizations]
    operator = Operator("UNIDIRECTIONAL_SEQUENCE_LSTM", [*_LSTM, *range(15, 19)], [19])
    model = opened(tmp_path, [*tensors, Tensor((1, 5, 16))], [operator], (0, 13, 14))

    assert model.graph.has_flag(OperatorFlag.UNKNOWN).sum() == len(model.notes) == 1


_SAME = (
    "ABS ELU EXP GELU HARD_SWISH L2_NORMALIZATION LEAKY_RELU LOGISTIC RELU6 RSQRT SOFTMAX SQUARE"
)
_TWO = "ADD DIV FLOOR_MOD MAXIMUM MUL POW PRELU SQUARED_DIFFERENCE SUB"
_TRUTHS = Tensor((1, 8, 8, 4), BOOL)
_PADS = Tensor((4, 2), INT32, np.array([[0, 0], [1, 1], [2, 2], [0, 0]], np.int32))
_SCALAR = Tensor((), INT32, np.array(3, np.int32))


@pytest.mark.parametrize(
    ("tensors", "operator"),
    [
        *(([IMAGE, IMAGE], Operator(kind, [0], [1])) for kind in _SAME.split()),
        *(([IMAGE, IMAGE, IMAGE], Operator(kind, [0, 1], [2])) for kind in _TWO.split()),
        ([IMAGE, IMAGE, _TRUTHS], Operator("NOT_EQUAL", [0, 1], [2])),
        ([IMAGE, numbers(3), Tensor((1, 8, 8), INT32)], Operator("ARG_MAX", [0, 1], [2])),
        ([IMAGE, numbers(1, 2), Tensor((1, 4))], Operator("MEAN", [0, 1], [2])),
        ([IMAGE, _PADS, Tensor((1, 10, 12, 4))], Operator("PAD", [0, 1], [2])),
        ([IMAGE, numbers(1, 2, 1, 1), Tensor((1, 16, 8, 4))], Operator("TILE", [0, 1], [2])),
        (
            [IMAGE, numbers(0, 1, 0, 2), numbers(1, 3, -1, 2), Tensor((1, 3, 8, 2))],
            Operator("SLICE", [0, 1, 2], [3]),
        ),
        (
            [
                IMAGE,
                numbers(0, 0, 0, 0),
                numbers(1, 8, 8, 4),
                numbers(1, 2, 1, 1),
                Tensor((4, 8, 4)),
            ],
            Operator(
                "STRIDED_SLICE", [0, 1, 2, 3], [4], "StridedSliceOptions", {"ShrinkAxisMask": 1}
            ),
        ),
        (
            [Tensor((1, 10)), _SCALAR, Tensor((1, 3)), Tensor((1, 3), INT32)],
            Operator("TOPK_V2", [0, 1], [2, 3]),
        ),
        (
            [IMAGE, Tensor((3,), INT32), Tensor((1, 8, 3, 4))],
            Operator("GATHER", [0, 1], [2], "GatherOptions", {"Axis": 2}),
        ),
        (
            [
                Tensor((1, 16, 4, 8)),
                Tensor((1, 1, 4, 8)),
                Tensor((4,), INT32),
                Tensor((1, 16, 4, 8)),
            ],
            Operator("DYNAMIC_UPDATE_SLICE", [0, 1, 2], [3]),
        ),
        ([IMAGE, numbers(16, 4), Tensor((1, 16, 4, 4))], Operator("RESIZE_BILINEAR", [0, 1], [2])),
    ],
    ids=lambda value: value.type if isinstance(value, Operator) else "",
)
def test_shapes_are_those_of_the_file(
    tensors: list[Tensor], operator: Operator, tmp_path: Path
) -> None:
    dynamic = [i for i in operator.inputs if tensors[i].values is None]
    model = opened(tmp_path, tensors, [operator], dynamic, operator.outputs)

    for output, index in zip(model.outputs, operator.outputs, strict=True):
        dims = tensors[index].dims
        is_image = operator.type in {"PAD", "RESIZE_BILINEAR"}
        wanted = [dims[axis] for axis in channels_first(4)] if is_image else [*dims]
        assert [*output.shape] in (wanted, [*dims])
    assert not model.notes


def test_layouts_that_order_elements_alike() -> None:
    image = channels_first(4)

    assert is_view((1, 1, 1, 8), as_filed(4), image)
    assert not is_view((1, 2, 2, 8), as_filed(4), image)
    assert is_regrouped((-1, 8, 2, 4, 3), channels_first(5), (-1, 16, 4, 3), image)
    assert not is_regrouped((1, 8, 8, 12), image, (1, 192, 4), as_filed(3))
    assert not is_regrouped((1, 8), as_filed(2), (1, 9), as_filed(2))


def test_cut_files_are_refused_in_one_sentence(tmp_path: Path) -> None:
    data = lzma.decompress((FILES / "tflite" / "residual.int8.tflite.xz").read_bytes())
    path = tmp_path / "cut.tflite"
    sizes = random.Random(1).sample(range(8, len(data)), 30)  # noqa: S311 - no secret
    reasons = []
    for size in sizes:
        path.write_bytes(data[:size])
        with pytest.raises(InputError) as caught:
            open_model(path)
        reasons.append(str(caught.value))

    assert all("\n" not in reason for reason in reasons)
