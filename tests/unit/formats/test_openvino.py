"""OpenVINO IR: operations beyond the four networks, and files that are wrong."""

from __future__ import annotations

import lzma
from pathlib import Path

import numpy as np
import pytest

from predictor.core.errors import InputError
from predictor.formats.opening import open_model
from predictor.graph.model import Model
from predictor.graph.operator_graph import OperatorFlag
from predictor.graph.operators import DTYPES

FILES = Path(__file__).parents[2] / "golden" / "formats" / "openvino"


WINDOW_MACS = 987_486


def unpacked(name: str, folder: Path, *, weights: bool = True) -> Path:
    for suffix in (".xml", ".bin") if weights else (".xml",):
        data = lzma.decompress((FILES / f"{name}{suffix}.xz").read_bytes())
        (folder / name).with_suffix(suffix).write_bytes(data)
    return folder / f"{name}.xml"


def macs(model: Model) -> int:
    return int(model.graph.macs.sum())


def port(number: int, *dims: int | str, kind: str = "FP32") -> str:
    sizes = "".join(f"<dim>{size}</dim>" for size in dims)
    return f'<port id="{number}" precision="{kind}">{sizes}</port>'


def network(layer: str, dims: tuple[int | str, ...] = (1, 8, 4, 4), head: str = "") -> str:
    """Return the text of an IR with one layer between its input and its output."""
    shape = ",".join("?" if size == -1 else str(size) for size in dims)
    return f"""<?xml version="1.0"?>{head}
<net name="one" version="11"><layers>
<layer id="0" name="data" type="Parameter"><data shape="{shape}" element_type="f32"/>
<output>{port(0, *dims)}</output></layer>
{layer}
<layer id="2" name="end" type="Result"><input>{port(0, *dims)}</input></layer>
</layers><edges>
<edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>
<edge from-layer="1" from-port="1" to-layer="2" to-port="0"/>
</edges></net>"""


def simple(kind: str, data: str = "", dims: tuple[int | str, ...] = (1, 8, 4, 4)) -> str:
    ports = f"<input>{port(0, *dims)}</input><output>{port(1, *dims)}</output>"
    return f'<layer id="1" name="middle" type="{kind}">{data}{ports}</layer>'


def saved(folder: Path, text: str) -> Path:
    path = folder / "one.xml"
    path.write_text(text, encoding="utf-8")
    return path


def test_recurrent_layers_count_as_those_of_the_onnx_export(tmp_path: Path) -> None:
    assert macs(open_model(unpacked("recurrent", tmp_path))) == 464_640


def test_windows_count_as_those_of_the_onnx_export(tmp_path: Path) -> None:
    path = unpacked("windows", tmp_path)

    assert macs(open_model(path, shapes={"data": (1, 8, 16, 16)})) == WINDOW_MACS
    assert macs(open_model(path, shapes={"data": (3, 8, 16, 16)})) == 3 * WINDOW_MACS


def test_open_sizes_have_names(tmp_path: Path) -> None:
    model = open_model(unpacked("windows", tmp_path))

    assert model.inputs[0].declared == ("batch", 8, "height", "width")


def test_states_are_inputs_with_a_past(tmp_path: Path) -> None:
    path = unpacked("decoder", tmp_path)
    first, later = open_model(path), open_model(path, {"past_length": 100, "sequence_length": 1})
    width, rows = 64, 1000

    assert macs(first) == 128 * (4 * width * width + rows * width + 2 * 128 * width)
    assert macs(later) == 4 * width * width + rows * width + 2 * 101 * width
    shapes = {info.name: info.shape for info in later.inputs}
    assert shapes["attention_mask"] == (1, 101)
    assert shapes["past_key_values.0.key"] == (1, 4, 100, 16)


def test_compressed_weights_count_as_they_are_stored(tmp_path: Path) -> None:
    graph = open_model(unpacked("decoder", tmp_path)).graph
    table, matrix, scales = 2 * 64_000, 64 * 64, 2 * 64

    assert graph.weights_total_bytes == pytest.approx(table + matrix + scales, abs=100)


def test_a_loop_runs_as_often_as_its_slices(tmp_path: Path) -> None:
    model = open_model(unpacked("iterator", tmp_path))

    assert macs(model) == 6 * 2 * 8 * 8
    assert [output.shape for output in model.outputs] == [(2, 8), (2, 6, 8)]


def test_quantised_convolutions_work_on_integers(tmp_path: Path) -> None:
    graph = open_model(unpacked("yolo_head", tmp_path)).graph
    is_convolution = np.array([op == "Conv" for op in graph.op_types])
    flags = graph.flags[is_convolution]

    assert {DTYPES[code] for code in graph.dtype[is_convolution]} <= {"int8", "uint8"}
    assert (flags & int(OperatorFlag.QUANTISED)).all()
    assert graph.weights_total_bytes < 1.01 * graph.parameters + 3000


def test_missing_weights_are_counted_and_said(tmp_path: Path) -> None:
    path = unpacked("yolo_head", tmp_path, weights=False)
    model = open_model(path)

    assert macs(model) == 611_328_000
    assert any("yolo_head.bin" in note for note in model.notes)


def test_a_missing_value_that_decides_names_its_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"decoder\.bin', which is missing"):
        open_model(unpacked("decoder", tmp_path, weights=False))


def test_weights_that_are_cut_off_are_refused(tmp_path: Path) -> None:
    path = unpacked("recurrent", tmp_path)
    weights = path.with_suffix(".bin")
    weights.write_bytes(weights.read_bytes()[:1000])

    with pytest.raises(InputError, match="which has 1000"):
        open_model(path)


def test_an_unknown_operation_has_the_stated_shape(tmp_path: Path) -> None:
    layer = simple("RegionYolo").replace(port(1, 1, 8, 4, 4), port(1, 1, 128))
    model = open_model(saved(tmp_path, network(layer)))

    assert model.outputs[0].shape == (1, 128)
    assert any("openvino::RegionYolo is not known" in note for note in model.notes)


def test_old_versions_are_refused(tmp_path: Path) -> None:
    text = network(simple("ReLU")).replace('version="11"', 'version="7"')

    with pytest.raises(InputError, match=r"IR version 7; versions 10 and 11 are read.*ovc"):
        open_model(saved(tmp_path, text))


def test_document_types_are_refused(tmp_path: Path) -> None:
    head = '<!DOCTYPE net [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]>'

    with pytest.raises(InputError, match="document type declaration"):
        open_model(saved(tmp_path, network(simple("ReLU"), head=head)))


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('to-layer="1"', 'to-layer="9"', "has no source for its input 0"),
        ('from-layer="0"', 'from-layer="1" ', "reads output 0 of layer 1"),
        ("</net>", "", "is no XML"),
        ("<dim>8</dim>", "<dim>eight</dim>", "is no size"),
        ('id="2" name="end"', 'id="1" name="end"', "two of its layers have the id 1"),
        ("<dim>8</dim>", "<dim>8</dim>" * 70, "more than 64 dimensions"),
    ],
)
def test_contradictions_are_named(tmp_path: Path, old: str, new: str, reason: str) -> None:
    text = network(simple("ReLU"))
    assert old in text

    with pytest.raises(InputError, match=reason):
        open_model(saved(tmp_path, text.replace(old, new, 1)))


def test_a_circle_is_refused(tmp_path: Path) -> None:
    text = network(simple("ReLU")).replace(
        'from-layer="0" from-port="0" to-layer="1"', 'from-layer="1" from-port="1" to-layer="1"'
    )

    with pytest.raises(InputError, match="is a part of a circle"):
        open_model(saved(tmp_path, text))


def test_deep_elements_are_refused(tmp_path: Path) -> None:
    text = network(simple("ReLU")).replace("<layers>", "<layers>" + "<a>" * 500, 1)

    with pytest.raises(InputError, match="more than 128 deep"):
        open_model(saved(tmp_path, text))
