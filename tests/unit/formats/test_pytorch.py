"""Exported programs of PyTorch: sizes, weights, quantised operators and damaged files."""

from __future__ import annotations

import json
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
from onnx import numpy_helper

from predictor.core.errors import InputError
from predictor.formats.opening import open_model
from predictor.formats.pytorch import read
from predictor.formats.pytorch.expressions import expression_text
from predictor.graph.operators import DTYPE_CODE
from tests.support.golden_formats import unpacked

FLOAT, INT8, INT64 = 7, 2, 5


def tensor(name: str) -> dict[str, Any]:
    return {"as_tensor": {"name": name}}


def meta(dtype: int, *sizes: int) -> dict[str, Any]:
    return {"dtype": dtype, "sizes": [{"as_int": size} for size in sizes]}


def node(target: str, output: str, **arguments: Any) -> dict[str, Any]:
    return {
        "target": f"torch.ops.{target}",
        "name": output,
        "inputs": [{"name": key, "arg": value} for key, value in arguments.items()],
        "outputs": [tensor(output)],
    }


def program(
    nodes: list[dict[str, Any]], values: Mapping[str, Any], parameters: Mapping[str, str]
) -> dict[str, Any]:
    """The JSON of a program of the input ``x`` whose output is that of its last operator."""
    specs = [
        {"parameter": {"arg": {"name": n}, "parameter_name": p}} for n, p in parameters.items()
    ]
    specs.append({"user_input": {"arg": tensor("x")}})
    graph = {
        "inputs": [tensor(name) for name in (*parameters, "x")],
        "outputs": [nodes[-1]["outputs"][0]],
        "nodes": nodes,
        "tensor_values": dict(values),
    }
    return {"graph_module": {"graph": graph, "signature": {"input_specs": specs}}}


def saved(path: Path, content: Any, **members: bytes) -> Path:
    """An archive with a graph and other members."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("m/models/model.json", json.dumps(content))
        for name, data in members.items():
            archive.writestr(f"m/{name}", data)
    return path


RELU = program(
    [node("aten.relu.default", "relu", self=tensor("x"))],
    {"x": meta(FLOAT, 2, 8), "relu": meta(FLOAT, 2, 8)},
    {},
)


def test_open_sizes_are_named_and_follow_one_another(tmp_path: Path) -> None:
    path = unpacked("pytorch/open.pt2.xz", tmp_path)
    open_names = [dimension.name for dimension in open_model(path).dynamic]
    batch, half, twice = open_names

    assert twice == f"2*{half}"
    wide = open_model(path, {batch: 4, half: 32})
    assert wide.inputs[0].shape == (4, 64)
    # Of 4 samples: 32 scores of 50 words, and two halves of attention.
    assert int(wide.graph.macs.sum()) == 4 * (32 * 32 * 50 + 2 * 2 * 32 * 32 * 32)


def test_shared_weights_count_once(tmp_path: Path) -> None:
    parameters = open_model(unpacked("pytorch/open.pt2.xz", tmp_path)).graph.parameters

    # Beside the table the numbers of attention: its scale, and those of the mask.
    assert 50 * 32 <= parameters < 50 * 32 + 8


def test_the_batch_of_a_file_can_be_replaced(tmp_path: Path) -> None:
    path = unpacked("transformer_block.pt2.xz", tmp_path)
    first, fourth = open_model(path), open_model(path, batch=4)

    assert int(fourth.graph.macs.sum()) == 4 * int(first.graph.macs.sum())
    assert fourth.graph.parameters == first.graph.parameters


def test_an_unknown_operator_keeps_its_shape_and_is_flagged(tmp_path: Path) -> None:
    nodes = [
        node("custom.twist.default", "twist", value=tensor("x")),
        node("aten.linear.default", "out", input=tensor("twist"), weight=tensor("w")),
    ]
    values = {
        "x": meta(FLOAT, 2, 8),
        "twist": meta(FLOAT, 3, 4),
        "w": meta(FLOAT, 5, 4),
        "out": meta(FLOAT, 3, 5),
    }
    model = open_model(saved(tmp_path / "m.pt2", program(nodes, values, {"w": "w"})))

    assert int(model.graph.macs.sum()) == 3 * 4 * 5
    assert any("custom.twist" in note and "arithmetic is not" in note for note in model.notes)


def test_a_form_that_no_rule_reads_stays_unknown(tmp_path: Path) -> None:
    nodes = [node("aten.unfold.default", "out", self=tensor("x"), dimension={"as_int": 7})]
    values = {"x": meta(FLOAT, 2, 8), "out": meta(FLOAT, 2, 3, 4)}
    model = open_model(saved(tmp_path / "m.pt2", program(nodes, values, {})))

    assert model.outputs[0].shape == (2, 3, 4)
    assert any("aten.unfold" in note for note in model.notes)


def test_a_call_without_its_operands_stays_unknown(tmp_path: Path) -> None:
    nodes = [node("aten.mm.default", "out", self=tensor("x"))]
    values = {"x": meta(FLOAT, 2, 8), "out": meta(FLOAT, 2, 3)}
    model = open_model(saved(tmp_path / "m.pt2", program(nodes, values, {})))

    assert any("aten.mm" in note for note in model.notes)


@pytest.mark.parametrize(
    ("target", "operands", "sizes", "op_types", "macs"),
    [
        ("inner", ("self", "other"), ((4, 8), (5, 8), (4, 5)), ["MatMul"], 4 * 8 * 5),
        (
            "addbmm",
            ("batch1", "batch2", "self"),
            ((3, 4, 8), (3, 8, 5), (4, 5), (4, 5)),
            ["MatMul", "ReduceSum", "Add"],
            3 * 4 * 8 * 5,
        ),
    ],
)
def test_products_have_the_sizes_of_torch(
    tmp_path: Path,
    target: str,
    operands: tuple[str, ...],
    sizes: tuple[tuple[int, ...], ...],
    op_types: list[str],
    macs: int,
) -> None:
    names = ("x", "w", "v")[: len(operands)]
    arguments = {key: tensor(name) for key, name in zip(operands, names, strict=True)}
    values = {name: meta(FLOAT, *dims) for name, dims in zip((*names, "out"), sizes, strict=True)}
    content = program(
        [node(f"aten.{target}.default", "out", **arguments)],
        values,
        {name: name for name in names[1:]},
    )
    model = open_model(saved(tmp_path / "m.pt2", content))

    assert (list(model.graph.op_types), int(model.graph.macs.sum())) == (op_types, macs)
    assert model.outputs[0].shape == sizes[-1]


def test_a_part_at_the_last_place_is_replaced(tmp_path: Path) -> None:
    place = {"dim": {"as_int": 0}, "index": {"as_int": -1}}
    nodes = [node("aten.select_scatter.default", "out", self=tensor("x"), src=tensor("w"), **place)]
    values = {"x": meta(FLOAT, 4, 8), "w": meta(FLOAT, 8), "out": meta(FLOAT, 4, 8)}
    proto = read(str(saved(tmp_path / "m.pt2", program(nodes, values, {"w": "w"}))))
    model = open_model(tmp_path / "m.pt2")

    op_types = [operator.op_type for operator in proto.graph.node]
    assert op_types == ["Unsqueeze", "Slice", "Concat", "Identity"]
    assert model.outputs[0].shape == (4, 8)


def of_sizes(target: str, output: str, *arguments: dict[str, Any]) -> dict[str, Any]:
    """A node that makes an integer."""
    symbol = node(target, output)
    symbol["inputs"] = [{"name": "", "arg": argument} for argument in arguments]
    symbol["outputs"] = [computed(output)]
    return symbol


def computed(name: str) -> dict[str, Any]:
    return {"as_sym_int": {"as_name": name}}


@pytest.mark.parametrize(
    ("arithmetic", "op_type"),
    [
        ([("_operator.neg", "n", computed("s"))], "Slice"),
        # A share of a size is no integer: what reads it stays unknown.
        (
            [
                ("_operator.mul", "half", computed("s"), {"as_float": 0.5}),
                ("math.trunc", "n", computed("half")),
            ],
            "aten.slice.Tensor",
        ),
    ],
)
def test_arithmetic_on_open_sizes(
    tmp_path: Path, arithmetic: list[tuple[Any, ...]], op_type: str
) -> None:
    values = {
        name: {"dtype": FLOAT, "sizes": [{"as_expr": {"expr_str": size}}, {"as_int": 8}]}
        for name, size in (("x", "s0"), ("out", "s1"))
    }
    nodes = [
        of_sizes("aten.sym_size.int", "s", tensor("x"), {"as_int": 0}),
        *(of_sizes(*row) for row in arithmetic),
        node("aten.slice.Tensor", "out", self=tensor("x"), dim={"as_int": 0}, start=computed("n")),
    ]
    proto = read(str(saved(tmp_path / "m.pt2", program(nodes, values, {}))))

    assert op_type in {operator.op_type for operator in proto.graph.node}


def test_quantised_layers_compute_in_integers(tmp_path: Path) -> None:
    limits = {"quant_min": {"as_int": -128}, "quant_max": {"as_int": 127}}
    scale = {"scale": {"as_float": 0.1}, "zero_point": {"as_int": 0}}
    space = "quantized_decomposed"
    quantize = f"{space}.quantize_per_tensor.default"
    dequantize = f"{space}.dequantize_per_tensor.default"
    nodes = [
        node(quantize, "q", input=tensor("x"), **scale, **limits),
        node(dequantize, "d", input=tensor("q"), **scale, **limits),
        node(
            f"{space}.dequantize_per_channel.default",
            "wd",
            input=tensor("w"),
            scales=tensor("s"),
            zero_points=tensor("z"),
            axis={"as_int": 0},
        ),
        node("aten.linear.default", "y", input=tensor("d"), weight=tensor("wd")),
        node(quantize, "q2", input=tensor("y"), **scale, **limits),
        node(dequantize, "out", input=tensor("q2"), **scale, **limits),
    ]
    values = {
        "x": meta(FLOAT, 2, 8),
        "q": meta(INT8, 2, 8),
        "d": meta(FLOAT, 2, 8),
        "w": meta(INT8, 16, 8),
        "s": meta(FLOAT, 16),
        "z": meta(INT64, 16),
        "wd": meta(FLOAT, 16, 8),
        "y": meta(FLOAT, 2, 16),
        "q2": meta(INT8, 2, 16),
        "out": meta(FLOAT, 2, 16),
    }
    content = program(nodes, values, {name: name for name in "wsz"})
    graph = open_model(saved(tmp_path / "m.pt2", content)).graph

    product = graph.op_types.index("Gemm")
    assert graph.dtype[product] == DTYPE_CODE["int8"]
    assert (graph.macs[product], graph.parameters) == (2 * 8 * 16, 8 * 16)


def test_neither_torch_nor_a_pickle_is_loaded(tmp_path: Path) -> None:
    before = set(sys.modules)
    bomb = b"cposix\nsystem\n(S'false'\ntR."
    path = saved(tmp_path / "m.pt2", RELU, **{"data/sample_inputs/model.pt": bomb})

    open_model(path)

    assert not {name for name in set(sys.modules) - before if name.startswith(("torch", "pickle"))}


def test_a_program_of_older_versions_is_read(tmp_path: Path) -> None:
    path = tmp_path / "m.pt2"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("serialized_exported_program.json", json.dumps(RELU))
        archive.writestr("serialized_state_dict.json", b"\x80\x02cposix\nsystem\n.")
        archive.writestr("version", "8.8")

    assert open_model(path).outputs[0].shape == (2, 8)


@pytest.mark.parametrize("stored_elements", [3, 20_000])
def test_small_integers_are_read_and_steer(tmp_path: Path, stored_elements: int) -> None:
    """Also those of a storage that is larger than what is read of it."""
    specs = {
        "tensor_constant": {"arg": {"name": "c"}, "tensor_constant_name": "c"},
    }
    nodes = [
        node("aten.index.Tensor", "out", self=tensor("x"), indices={"as_tensors": [{"name": "c"}]})
    ]
    values = {"x": meta(FLOAT, 4, 8), "c": meta(INT64, 3), "out": meta(FLOAT, 3, 8)}
    content = program(nodes, values, {})
    content["graph_module"]["signature"]["input_specs"].append(specs)
    stored = {
        "path_name": "tensor_0",
        "tensor_meta": {"strides": [{"as_int": 1}], "storage_offset": {"as_int": 0}},
    }
    config = json.dumps({"config": {"c": stored}}).encode()
    members = {
        "data/constants/model_constants_config.json": config,
        "data/constants/tensor_0": (2).to_bytes(8, "little") * stored_elements,
    }
    proto = read(str(saved(tmp_path / "m.pt2", content, **members)))

    indices = next(tensor for tensor in proto.graph.initializer if tensor.name == "c")
    assert list(numpy_helper.to_array(indices)) == [2, 2, 2]


def inlined(operands: list[dict[str, Any]], graph: dict[str, Any]) -> dict[str, Any]:
    """A node that runs a graph without gradients."""
    call = node("higher_order.wrap_with_set_grad_enabled", "inner")
    arguments = [{"as_bool": False}, {"as_graph": {"name": "g", "graph": graph}}, *operands]
    call["inputs"] = [{"name": "", "arg": argument} for argument in arguments]
    return call


def graph_of(
    inputs: list[dict[str, Any]], nodes: list[dict[str, Any]], *dims: int
) -> dict[str, Any]:
    """A graph whose values all have one shape."""
    names = [
        *(value["as_tensor"]["name"] for value in inputs if "as_tensor" in value),
        *(step["name"] for step in nodes),
    ]
    return {
        "inputs": inputs,
        "outputs": [nodes[-1]["outputs"][0]],
        "nodes": nodes,
        "tensor_values": {name: meta(FLOAT, *dims) for name in names},
    }


def test_names_in_an_inlined_graph_are_its_alone(tmp_path: Path) -> None:
    """relu(x) + neg(x), where the inlined graph has ``x`` and ``t`` for other values."""
    graph = graph_of([tensor("t")], [node("aten.neg.default", "x", self=tensor("t"))], 2, 8)
    nodes = [
        node("aten.relu.default", "t", self=tensor("x")),
        inlined([tensor("x")], graph),
        node("aten.add.Tensor", "sum", self=tensor("t"), other=tensor("inner")),
        node("aten.add.Tensor", "out", self=tensor("sum"), other=tensor("x")),
    ]
    values = {name: meta(FLOAT, 2, 8) for name in ("x", "t", "inner", "sum", "out")}
    proto = read(str(saved(tmp_path / "m.pt2", program(nodes, values, {}))))
    data = np.linspace(-4, 3, 16, dtype=np.float32).reshape(2, 8)

    session = onnxruntime.InferenceSession(proto.SerializeToString())
    assert session.run(None, {"x": data})[0] == pytest.approx(np.maximum(data, 0))


@pytest.mark.parametrize("operand", [{"as_none": True}, tensor("strange")])
def test_an_operand_without_a_value_leaves_unknown_what_reads_it(
    tmp_path: Path, operand: dict[str, Any]
) -> None:
    """Torch passes None to the graph; a value may have a type that ONNX does not have."""
    steps = [
        node("aten.mul.Tensor", "m", self=tensor("a"), other=tensor("b")),
        node("aten.relu.default", "r", self=tensor("a")),
    ]
    nodes = [
        node("custom.strange.default", "strange", self=tensor("x")),
        inlined([tensor("x"), operand], graph_of([tensor("a"), tensor("b")], steps, 2, 8)),
        node("aten.neg.default", "out", self=tensor("inner")),
    ]
    values = {name: meta(FLOAT, 2, 8) for name in ("x", "inner", "out")}
    model = open_model(saved(tmp_path / "m.pt2", program(nodes, values, {})))

    assert set(model.graph.op_types) >= {"Relu", "Neg"}
    assert any("aten.mul" in note for note in model.notes)


@pytest.mark.parametrize("operands", [[tensor("x")], [tensor("x"), {"as_int": 2}]])
def test_operands_that_do_not_fit_are_one_sentence(
    tmp_path: Path, operands: list[dict[str, Any]]
) -> None:
    steps = [node("aten.mul.Tensor", "m", self=tensor("a"), other=tensor("b"))]
    graph = graph_of([tensor("a"), tensor("b")], steps, 2, 8)
    values = {name: meta(FLOAT, 2, 8) for name in ("x", "inner")}
    content = program([inlined(operands, graph)], values, {})

    with pytest.raises(InputError, match=r"operator 'inner' \(.*higher_order.*\) is damaged"):
        open_model(saved(tmp_path / "m.pt2", content))


def test_control_flow_is_refused_with_a_way_out(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"control flow higher_order.cond.*onnx"):
        open_model(unpacked("pytorch/branches.pt2.xz", tmp_path))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ([], "form of a program"),
        ({"graph_module": {}}, "form of a program"),
        ({"graph_module": {"graph": {}, "signature": {}}}, "form of a program"),
        (
            {"graph_module": {"graph": {"tensor_values": {}}, "signature": {}}},
            "before 2.2",
        ),
    ],
)
def test_a_damaged_graph_is_one_sentence(tmp_path: Path, content: Any, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        open_model(saved(tmp_path / "m.pt2", content))


def test_a_deep_graph_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "m.pt2"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("m/models/model.json", "[" * 10**6)

    with pytest.raises(InputError, match="no JSON"):
        open_model(path)


def test_a_member_that_unpacks_to_more_than_is_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.pt2"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("m/models/model.json", b" " * (65 * 2**20))

    with pytest.raises(InputError, match="over 64 MiB"):
        open_model(path)


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("s0", "s0"),
        ("2*s0 + 1", "2*s0 + 1"),
        ("Symbol('s77', positive=True, integer=True)", "s77"),
        ("Mul(Integer(2), Symbol('s1', integer=True))", "2*s1"),
        ("Mul(Add(Symbol('a'), Integer(-1)), Symbol('b'))", "(a + -1)*b"),
        ("FloorDiv(Symbol('s1'), Integer(2))", "FloorDiv(Symbol('s1'), Integer(2))"),
        ("__import__('os')", "__import__('os')"),
    ],
)
def test_sizes_are_written_as_arithmetic(written: str, text: str) -> None:
    assert expression_text(written) == text
