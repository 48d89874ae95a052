"""ncnn .param: layers beyond the four networks, sizes of inputs, and files that are wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from predictor.core.errors import InputError
from predictor.formats.opening import open_model
from predictor.graph.model import Model
from predictor.graph.operator_graph import OperatorFlag

CONVOLUTION = "Convolution conv 1 1 data out 0=16 1=3 3=2 4=1 5=1 6=432 9=1"


def opened(folder: Path, *lines: str, shapes: dict[str, tuple[int, ...]] | None = None) -> Model:
    return open_model(saved(folder, *lines), shapes=shapes)


def saved(folder: Path, *lines: str) -> Path:
    path = folder / "one.param"
    blobs = sum(int(line.split()[3]) for line in lines)
    path.write_text("\n".join(["7767517", f"{len(lines)} {blobs}", *lines]) + "\n")
    return path


def image(width: int = 32, channels: int = 3) -> str:
    return f"Input data 0 1 data 0={width} 1={width} 2={channels}"


def result(model: Model) -> tuple[int, ...]:
    return model.outputs[0].shape


def macs(model: Model) -> int:
    return int(model.graph.macs.sum())


def test_channels_of_an_input_follow_from_the_first_convolution(tmp_path: Path) -> None:
    model = opened(tmp_path, "Input data 0 1 data", CONVOLUTION)

    assert model.inputs[0].declared == ("batch", 3, "height", "width")
    assert model.inputs[0].shape == (1, 3, 224, 224)
    assert macs(model) == 16 * 27 * 112 * 112


def test_a_shape_sets_the_input_and_the_batch(tmp_path: Path) -> None:
    lines = ("Input data 0 1 data", CONVOLUTION)
    model = opened(tmp_path, *lines, shapes={"data": (4, 3, 64, 32)})

    assert result(model) == (4, 16, 32, 16)


def test_channels_of_a_joined_input_are_what_the_others_leave(tmp_path: Path) -> None:
    first = "Convolution made 1 1 a b 0=24 1=1 6=72"
    joined = "Concat join 2 1 b c d 0=0"
    last = "Convolution used 1 1 d out 0=8 1=1 6=320"
    model = opened(tmp_path, "Input a 0 1 a", "Input c 0 1 c", first, joined, last)

    assert [info.declared[:2] for info in model.inputs] == [("batch", 3), ("batch", 16)]


@pytest.mark.parametrize(
    ("line", "shape", "count"),
    [
        ("ConvolutionDepthWise l 1 1 data out 0=8 1=3 4=1 6=72 7=8", (1, 8, 16, 16), 72 * 256),
        ("Convolution l 1 1 data out 0=4 1=5 11=1 4=-233 6=160", (1, 4, 16, 16), 160 * 256),
        ("Deconvolution l 1 1 data out 0=4 1=4 3=2 4=1 6=512", (1, 4, 32, 32), 512 * 256),
        ("Pooling l 1 1 data out 0=1 4=1", (1, 8), 0),
        ("Pooling l 1 1 data out 0=0 1=3 2=2 5=0", (1, 8, 8, 8), 0),
        ("Pooling l 1 1 data out 0=1 7=1 8=4", (1, 8, 4, 4), 0),
        ("InnerProduct l 1 1 data out 0=10 1=1 2=20480", (1, 10), 20480),
        ("Interp l 1 1 data out 0=2 1=2.0 2=3.0", (1, 8, 32, 48), 0),
        ("Interp l 1 1 data out 0=1 3=20 4=24", (1, 8, 20, 24), 0),
        ("Reshape l 1 1 data out 0=16 1=-1", (1, 128, 16), 0),
        ("Permute l 1 1 data out 0=3", (1, 16, 16, 8), 0),
        ("Padding l 1 1 data out 0=1 1=2 2=3 3=4", (1, 8, 19, 23), 0),
        ("Crop l 1 1 data out 0=2 1=3 2=0 3=10 4=11 5=8", (1, 8, 11, 10), 0),
        ("Crop l 1 1 data out -23309=2,1,2 -23310=2,-1,8 -23311=2,1,2", (1, 8, 14, 6), 0),
        ("PixelShuffle l 1 1 data out 0=2", (1, 2, 32, 32), 0),
        ("Reorg l 1 1 data out 0=2", (1, 32, 8, 8), 0),
        ("ShuffleChannel l 1 1 data out 0=2", (1, 8, 16, 16), 0),
        ("Softmax l 1 1 data out 0=0 1=1", (1, 8, 16, 16), 0),
        ("GroupNorm l 1 1 data out 0=2 1=8 2=1e-5", (1, 8, 16, 16), 0),
        ("PReLU l 1 1 data out 0=8", (1, 8, 16, 16), 0),
        ("BinaryOp l 1 1 data out 0=7 1=1 2=1.5", (1, 8, 16, 16), 0),
        ("UnaryOp l 1 1 data out 0=6", (1, 8, 16, 16), 0),
        ("Reduction l 1 1 data out 0=3 1=0 -23303=2,1,2 4=0 5=1", (1, 8), 0),
        ("ExpandDims l 1 1 data out -23303=1,0", (1, 1, 8, 16, 16), 0),
        ("Flatten l 1 1 data out", (1, 2048), 0),
        ("Tile l 1 1 data out -23302=3,2,1,1", (1, 16, 16, 16), 0),
    ],
)
def test_a_layer_has_its_shape_and_work(
    tmp_path: Path, line: str, shape: tuple[int, ...], count: int
) -> None:
    model = opened(tmp_path, image(16, 8), line)

    assert result(model) == shape
    assert macs(model) == count


@pytest.mark.parametrize(
    ("line", "shape", "count"),
    [
        ("LSTM l 1 1 data out 0=24 1=3072 2=2", (1, 10, 48), 2 * 10 * 96 * (16 + 24)),
        ("GRU l 1 1 data out 0=24 1=1152 2=0", (1, 10, 24), 10 * 72 * (16 + 24)),
        ("MultiHeadAttention l 1 1 data out 0=16 1=4 2=256", (1, 10, 16), 10 * 1024 + 3200),
        ("Gemm l 1 1 data out 3=1 5=1 6=1 8=20 9=16 10=4", (1, 10, 20), 10 * 320),
        ("LayerNorm l 1 1 data out 0=16 1=1e-5 2=1", (1, 10, 16), 0),
        ("Convolution1D l 1 1 data out 0=4 1=3 4=1 6=120", (1, 4, 16), 120 * 16),
    ],
)
def test_a_layer_of_rows_has_its_shape_and_work(
    tmp_path: Path, line: str, shape: tuple[int, ...], count: int
) -> None:
    model = opened(tmp_path, "Input data 0 1 data 0=16 1=10", line)

    assert result(model) == shape
    assert macs(model) == count


def test_a_gate_of_channels_is_broadcast_over_pixels(tmp_path: Path) -> None:
    lines = (
        "Split s 1 2 data a b",
        "Pooling p 1 1 a c 0=1 4=1",
        "BinaryOp m 2 1 b c out 0=2",
    )

    assert result(opened(tmp_path, image(16, 8), *lines)) == (1, 8, 16, 16)


def test_integer_weights_make_integer_convolutions(tmp_path: Path) -> None:
    second = "Convolution last 1 1 out end 0=8 1=1 5=1 6=128 8=1"
    graph = opened(tmp_path, image(), f"{CONVOLUTION} 8=1", second).graph
    is_convolution = np.array([op == "Conv" for op in graph.op_types])

    assert (graph.flags[is_convolution] & int(OperatorFlag.QUANTISED)).all()
    assert graph.parameters == 432 + 128 + 16 + 8
    assert graph.weights_total_bytes < 2 * graph.parameters


@pytest.mark.parametrize(
    "line",
    ["Convolution c 2 1 data w out 0=4 1=3 19=1", "Deconvolution c 2 1 data w out 0=4 1=3 28=1"],
)
def test_a_convolution_with_a_blob_of_weights_is_flagged(tmp_path: Path, line: str) -> None:
    model = opened(tmp_path, image(), "MemoryData m 0 1 w 0=3 1=3 11=3 2=4", line)

    assert any(f"ncnn::{line.split(maxsplit=1)[0]} is not known" in note for note in model.notes)


def test_an_unknown_layer_is_said(tmp_path: Path) -> None:
    model = opened(tmp_path, image(), "Whatever one 1 1 data out 0=4")

    assert any("ncnn::Whatever is not known" in note for note in model.notes)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("Convolution conv 1 1 other out 0=16", "reads 'other', which no layer before it makes"),
        ("Convolution conv 1 1 data data 0=16", "makes 'data', which another layer makes too"),
        ("Convolution conv 1 2 data out", "states 3 blobs, but names fewer"),
        ("Convolution conv 1 1 data out 0=x", "has the parameter '0=x', no number"),
        ("Slice s 1 1 data out -23300=3,1,2", "of another length"),
        ("Convolution conv 1 1 data out 0=16 1=0 6=9", "has a window, stride or dilation below 1"),
        ("Concat c 1 1 data out 0=7", "has the axis 7 of 3"),
        ("Input more 0 2 a b", "reads blobs, or makes other than one"),
        ("Tensor.slice s 1 1 data out", "is no layer of ncnn"),
        ("ReLU r \u00b9 1 data out", "is no layer: type, name and counts"),
        ("Convolution c 1 1 data out 0=4 1=3", "has a weight of 0 elements, no multiple of 36"),
        ("Convolution c 1 1 data out 0=4 1=3 6=36", "reads 3 channels, but has weights of 1"),
        ("Deconvolution c 1 1 data out 0=4 1=3 6=35", "has a weight of 35 elements"),
        ("LSTM l 1 1 data out 0=24", "has a weight of 0 elements, no multiple of 96"),
    ],
)
def test_contradictions_are_named(tmp_path: Path, line: str, reason: str) -> None:
    path = saved(tmp_path, image())
    path.write_text(f"{path.read_text()}{line}\n")

    with pytest.raises(InputError, match=reason):
        open_model(path)


def test_a_file_that_is_cut_off_is_refused(tmp_path: Path) -> None:
    path = saved(tmp_path, image(), CONVOLUTION)
    path.write_text(path.read_text().replace("2 2\n", "9 9\n"))

    with pytest.raises(InputError, match="states 9 layers, but has 2"):
        open_model(path)


def test_the_binary_form_is_named(tmp_path: Path) -> None:
    path = tmp_path / "one.param.bin"
    path.write_bytes((7767517).to_bytes(4, "little") + bytes(64))

    with pytest.raises(InputError, match="binary form of an ncnn"):
        open_model(path)
