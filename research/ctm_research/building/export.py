"""The process that turns a package's definition into a graph, in the bridge's environment.

Each line of standard input is a job as a JSON object; it answers the number of parameters or
``{"reason": ...}``. Weights are never filled and products never computed: torch's exporter needs
shapes alone, so that a network of a billion parameters takes seconds.
"""

from __future__ import annotations

import gzip
import io
import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn
from unittest.mock import patch

import onnx
from onnx import TensorProto, helper

from ctm_research.bridge.convert import named, serve
from ctm_research.bridge.runtimes.torch_eager import library_module

OPSETS = (17, 18)  # that of the data folder's graphs, and one with Col2Im
KEPT = 64
"""Elements of a tensor that keeps its values: shapes and axes are among them."""
# Folding copies each matrix that is transposed.
_FOLDED_PARAMETERS = 1_000_000_000


def main() -> NoReturn:
    """Answer each job."""
    import torch  # noqa: PLC0415

    torch.nn.functional.rms_norm = rms_norm  # before timm is there, which takes a copy of it
    serve(_answer)


def _answer(fields: dict[str, Any]) -> dict[str, Any]:
    """Write the file of a job."""
    try:
        model, parameters = exported(fields["module"], fields["inputs"])
        # Equal graphs are equal bytes: the corpus is kept by the digest of its files.
        content = model.SerializeToString(deterministic=True)
        Path(fields["path"]).write_bytes(gzip.compress(content, mtime=0))
    except Exception as error:  # noqa: BLE001  # libraries' errors have no common base
        return {"reason": named(error)}
    return {"parameters": parameters}


def exported(place: str, inputs: list[list[int]]) -> tuple[onnx.ModelProto, int]:
    """Return the graph of a definition without its weights, and its number of parameters.

    Args:
        place: of the definition, as ``library:name key=value``.
        inputs: shape of each input; four dimensions are an image, fewer are numbers of tokens.
    """
    import torch  # noqa: PLC0415

    torch.set_num_threads(1)
    with warnings.catch_warnings(action="ignore"), torch.no_grad(), _unfilled_weights():
        module = library_module(place).eval()
    if place.startswith("timm:"):
        _spell_attention(module)
    return graph_of(module, inputs), sum(part.numel() for part in module.parameters())


def graph_of(module: Any, inputs: list[list[int]]) -> onnx.ModelProto:
    """Return the graph of a module of torch without its weights."""
    import torch  # noqa: PLC0415

    usual, later = OPSETS
    with warnings.catch_warnings(action="ignore"), torch.no_grad(), _no_products():
        try:
            model = _exported(module, inputs, usual)
        except torch.onnx.errors.UnsupportedOperatorError:
            model = _exported(module, inputs, later)
    without_weights(model, len(inputs))
    return model


def _exported(module: Any, inputs: list[list[int]], opset: int) -> onnx.ModelProto:
    import torch  # noqa: PLC0415

    content = io.BytesIO()
    parameters = sum(part.numel() for part in module.parameters())
    with _no_large_weights():
        torch.onnx.export(
            module,
            tuple(_input(shape) for shape in inputs),
            content,  # type: ignore[arg-type]  # a buffer serves too
            opset_version=opset,
            dynamo=False,  # operators spelled out, as in the graphs of the data folder
            do_constant_folding=parameters < _FOLDED_PARAMETERS,
            keep_initializers_as_inputs=True,  # else equal small ones become one
            input_names=[f"input{number}" for number in range(len(inputs))],
        )
    return onnx.load_from_string(content.getvalue())


def _input(shape: list[int]) -> Any:
    import torch  # noqa: PLC0415

    kind = torch.float32 if len(shape) == 4 else torch.int64
    return torch.ones(shape, dtype=kind)


def _spell_attention(module: Any) -> None:
    """Let timm's attention be products and a softmax, as in the graphs of the data folder."""
    for part in module.modules():
        if hasattr(part, "fused_attn"):
            part.fused_attn = False


def rms_norm(
    input: Any,  # noqa: A002  # torch's names
    normalized_shape: Any,
    weight: Any = None,
    eps: float | None = None,
) -> Any:
    """Return what torch's operator does, for which these opsets have none."""
    import torch  # noqa: PLC0415

    last = tuple(range(-len(normalized_shape), 0))
    eps = torch.finfo(input.dtype).eps if eps is None else eps
    normed = input * torch.rsqrt(input.pow(2).mean(last, keepdim=True) + eps)
    return normed if weight is None else normed * weight


@contextmanager
def _unfilled_weights() -> Iterator[None]:
    """Skip what fills tensors in place: pages that nobody touches take no memory."""
    from torch.utils._python_dispatch import TorchDispatchMode  # noqa: PLC0415

    class Unfilled(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch has no types here
        def __torch_dispatch__(
            self, function: Any, _: Any, arguments: Any = (), settings: Any = None
        ) -> Any:
            filled = arguments[0] if arguments and function._schema.is_mutable else None  # noqa: SLF001
            if filled is not None and filled.is_floating_point() and filled.numel() > KEPT:
                return filled
            return function(*arguments, **(settings or {}))

    with Unfilled():  # type: ignore[no-untyped-call]
        yield


@contextmanager
def _no_products() -> Iterator[None]:
    """Let convolutions and products of matrices return zeros of their shape."""
    import torch  # noqa: PLC0415

    def convolution(data: Any, weight: Any, bias: Any, *settings: Any) -> Any:
        shapes = [None if t is None else t.to("meta") for t in (data, weight, bias)]
        result = torch.ops.aten.convolution(*shapes, *settings[:6])
        return data.new_zeros(result.shape)

    def product(one: Any, other: Any) -> Any:
        return one.new_zeros((*one.shape[:-1], other.shape[-1]))

    def product_and_sum(_: Any, one: Any, other: Any, **__: Any) -> Any:
        return product(one, other)

    def softmax(data: Any, *_: Any) -> Any:
        return data.new_zeros(data.shape)

    replaced = {"_softmax": softmax, "_convolution": convolution, "mm": product, "bmm": product}
    replaced |= {"addmm": product_and_sum, "baddbmm": product_and_sum}
    with torch.library._scoped_library("aten", "IMPL") as library:  # noqa: SLF001
        for name, function in replaced.items():
            library.impl(name, function, "CPU")
        yield


@contextmanager
def _no_large_weights() -> Iterator[None]:
    """Keep large weights out of the file, which makes them inputs: the exporter has no such way.

    Its last inference of shapes would copy them all, and the corpus infers shapes by itself.
    """
    import torch  # noqa: PLC0415
    from torch.onnx._internal.torchscript_exporter import utils  # noqa: PLC0415

    whole = utils._model_to_graph  # noqa: SLF001

    def small(*arguments: Any, **settings: Any) -> Any:
        with patch.object(
            torch._C,  # noqa: SLF001
            "_jit_pass_onnx_graph_shape_type_inference",
            lambda *_: None,
        ):
            graph, weights, results = whole(*arguments, **settings)
        return graph, {n: w for n, w in weights.items() if w.numel() <= KEPT}, results

    with patch.object(utils, "_model_to_graph", small):
        yield


def without_weights(model: onnx.ModelProto, inputs: int) -> None:
    """Make a node of each weight, as the graphs of the data folder have them.

    Args:
        model: changed in place; its weights are inputs after the first ones, or constants.
        inputs: number of the network's own inputs.
    """
    graph = model.graph
    small = {tensor.name for tensor in graph.initializer}
    weights = {
        value.name: _dims_and_kind(value.type.tensor_type)
        for value in graph.input[inputs:]
        if value.name not in small
    }
    kept = []
    for node in graph.node:
        constant = node.attribute[0].t if _is_constant(node) else None
        if constant is not None and math.prod(constant.dims) > KEPT:
            weights[node.output[0]] = list(constant.dims), constant.data_type
        elif node.op_type == "Transpose" and node.input[0] in weights:
            dims, kind = weights[node.input[0]]
            order = next((a.ints for a in node.attribute), range(len(dims))[::-1])
            weights[node.output[0]] = [dims[axis] for axis in order], kind
        else:
            node.doc_string = ""
            kept.append(node)
    used = {name for node in kept for name in _read_by(node)}
    made = [_weight(name, *weights[name]) for name in weights if name in used]
    sizes = {node.input[0]: weights[node.output[0]][0] for node in made}
    del graph.node[:], graph.input[inputs:]
    graph.node.extend([*made, *kept])
    graph.initializer.extend(
        helper.make_tensor(name, TensorProto.INT64, [len(dims)], dims)
        for name, dims in sizes.items()
    )


def _read_by(node: onnx.NodeProto) -> Iterator[str]:
    """Yield the inputs of a node, and of those in its branches."""
    yield from node.input
    for attribute in node.attribute:
        for inner in attribute.g.node:
            yield from _read_by(inner)


def _dims_and_kind(tensor: onnx.TypeProto.Tensor) -> tuple[list[int], int]:
    return [d.dim_value for d in tensor.shape.dim], tensor.elem_type


def _is_constant(node: onnx.NodeProto) -> bool:
    return node.op_type == "Constant" and node.attribute[0].name == "value"


def _weight(name: str, dims: list[int], kind: int) -> onnx.NodeProto:
    size = f"shape_{'x'.join(map(str, dims))}"
    # Indices and masks of zeros are always valid.
    value = helper.make_tensor("value", kind, [1], [0.01 if kind in _REALS else 0])
    return helper.make_node("ConstantOfShape", [size], [name], name=f"weight/{name}", value=value)


_REALS = frozenset({TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16})
