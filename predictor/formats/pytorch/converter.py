"""From the graph of an exported program to an ONNX model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import onnx
from numpy.typing import NDArray

from predictor.core.errors import InputError
from predictor.core.text import shortened
from predictor.formats.builder import ModelBuilder
from predictor.formats.emitter import Symbol, UnreadError, static
from predictor.formats.pytorch import (  # noqa: F401  # each registers its rules
    contractions,
    elementwise,
    indexing,
    normalization,
    quantization,
    recurrent,
    reductions,
    shapes,
    windows,
)
from predictor.formats.pytorch.call import RULES, Call, ProgramValues
from predictor.formats.pytorch.program import (
    DAMAGED,
    Json,
    Reference,
    Subgraph,
    TensorMeta,
    argument,
    results,
    tensor_meta,
)

_AGAIN: Final = "export the network again with torch.export.save"
_MAX_DEPTH: Final = 16
_MAX_NODES: Final = 200_000
_DOMAIN: Final = "pytorch"
# Checks and hints: no work on the values.
_CHECKS: Final = ("aten._assert", "aten.sym_constrain_range", "aten._constrain")
_CONDITIONS: Final = frozenset(
    {
        "_operator.eq",
        "_operator.ne",
        "_operator.ge",
        "_operator.gt",
        "_operator.le",
        "_operator.lt",
        "_operator.and_",
        "_operator.or_",
        "torch.sym_not",
    }
)
_ARITHMETIC: Final = {
    "_operator.add": "Add",
    "_operator.floordiv": "Div",
    "_operator.mod": "Mod",
    "_operator.mul": "Mul",
    "_operator.sub": "Sub",
    "torch.sym_max": "Max",
    "torch.sym_min": "Min",
    "math.trunc": "",
    "torch.sym_int": "",
    "_operator.pos": "",
    "_operator.neg": "Neg",
}
_WEIGHTS: Final = ("parameter", "buffer", "tensor_constant")


class Place(NamedTuple):
    """Where a tensor is stored.

    Attributes:
        member: of the archive.
        offset: of its first element, in elements.
        strides: steps from one element to the next along each axis, in elements.
    """

    member: str
    offset: int
    strides: tuple[int, ...]


Constants = Callable[[str, TensorMeta], NDArray[Any] | None]
"""Values of a small stored tensor by its name in the state of the program; None: not read."""


class Converter:
    """Writer of one program.

    Args:
        path: of the file, for errors.
        program: its JSON.
        constants: values of small tensors.
        stored: where a parameter is stored, by its name; parameters of one place are one.
    """

    def __init__(
        self, path: str, program: Json, constants: Constants, stored: Mapping[str, Place]
    ) -> None:
        self._path = path
        self._graph = program["graph_module"]["graph"]
        self._signature = program["graph_module"]["signature"]
        self._constants, self._stored = constants, stored
        self._builder = ModelBuilder(f"pytorch {program.get('torch_version', '')}".strip())
        self._values = ProgramValues(self._builder)
        self._weights: dict[tuple[Place | str, TensorMeta], str] = {}
        self._nodes = 0

    def model(self) -> onnx.ModelProto:
        """Return the ONNX model.

        Raises:
            InputError: the graph is damaged.
        """
        try:
            self._read_metas(self._graph)
            self._add_inputs()
        except DAMAGED as error:
            raise self._damaged("its graph") from error
        self._add_nodes(self._graph, 0)
        try:
            self._add_outputs()
            return self._builder.finish()
        except DAMAGED as error:
            raise self._damaged("its list of outputs") from error

    def _damaged(self, what: str) -> InputError:
        return InputError(self._path, f"{what} does not have the form of a program", _AGAIN)

    def _read_metas(self, graph: Json) -> None:
        for name, meta in graph["tensor_values"].items():
            try:
                self._values.metas[name] = tensor_meta(meta)
            except KeyError:
                continue  # a type that ONNX does not have: what reads it stays unknown

    def _add_inputs(self) -> None:
        if "input_specs" not in self._signature:
            reason = "it was written by a version of torch before 2.2"
            raise InputError(self._path, reason, _AGAIN)
        for spec in self._signature["input_specs"]:
            (kind, value), *_ = spec.items()
            value_of: Any = value.get("arg")
            if kind in _WEIGHTS:
                self._add_weight(value_of["name"], self._state_name(kind, value))
            elif kind == "user_input":
                self._add_input(argument(value_of))

    @staticmethod
    def _state_name(kind: str, value: Json) -> str:
        return str(value.get(f"{kind}_name", ""))

    def _add_weight(self, name: str, state: str) -> None:
        meta = self._values.metas[name]
        dims = static(meta.dims)
        place = self._stored.get(state, name), meta
        if place in self._weights:
            self._values.names[name] = self._weights[place]
            return
        data = self._constants(state, meta)
        if data is not None:
            self._builder.constant(data, name)
        else:
            self._builder.weight(name, meta.dtype, dims)
        self._values.name(name)
        self._values.names[name] = self._weights[place] = name

    def _add_input(self, value: Any) -> None:
        if not isinstance(value, Reference):
            return  # a number that the program was written for
        if not value.is_tensor:
            self._builder.input(value.name, onnx.TensorProto.INT64, [1])
            self._values.symbols[value.name] = self._values.name(value.name)
            return
        meta = self._values.metas[value.name]
        self._builder.input(value.name, meta.dtype, meta.dims)
        self._values.names[value.name] = self._values.name(value.name)

    def _add_nodes(self, graph: Json, depth: int) -> None:
        if depth > _MAX_DEPTH:
            raise InputError(self._path, f"its graphs are nested over {_MAX_DEPTH} deep", _AGAIN)
        try:
            nodes = list(graph["nodes"])
        except DAMAGED as error:
            raise self._damaged("its graph") from error
        self._nodes += len(nodes)
        if self._nodes > _MAX_NODES:
            reason = f"it has more than {_MAX_NODES} operators, the most that are read"
            raise InputError(self._path, reason, "give a smaller network")
        for node in nodes:
            try:
                self._add_node(node, depth)
            except DAMAGED as error:
                raise self._misfit(node) from error

    def _misfit(self, node: Any) -> InputError:
        target, name = (
            str(node.get(key, "?")) if isinstance(node, dict) else "?" for key in ("target", "name")
        )
        return InputError(
            self._path,
            f"its operator '{shortened(name, 80)}' ({shortened(target, 80)}) is damaged",
            _AGAIN,
        )

    def _add_node(self, node: Json, depth: int) -> None:
        target = node["target"].removeprefix("torch.ops.")
        outputs = list(results(node))
        name = node.get("name") or next(filter(None, outputs), target)
        if not isinstance(name, str):
            raise TypeError("a name is no text")
        if target in _CONDITIONS or target.startswith(_CHECKS):
            return
        if target.startswith("higher_order."):
            self._inline(target, node, outputs, depth)
        elif target in _ARITHMETIC or target.startswith("aten.sym_size"):
            self._add_symbol(target, name, node, outputs)
        else:
            self._add_call(target, name, node, outputs)

    def _add_call(self, target: str, name: str, node: Json, outputs: list[str]) -> None:
        arguments = {item["name"]: argument(item["arg"]) for item in node["inputs"]}
        space, kind, overload = (*target.split("."), "", "")[:3]
        kind = kind.removesuffix("_") if f"{space}.{kind}" not in RULES else kind
        call = Call(self._values, kind, name, arguments, outputs)
        rule = RULES.get(f"{space}.{kind}.{overload}") or RULES.get(f"{space}.{kind}")
        try:
            made = None if rule is None else rule(call)
        except DAMAGED:
            made = None
        if made is None:
            self._add_unknown(target, call)
            return
        made = [made] if isinstance(made, str) else made
        for output, value in zip(outputs, made, strict=False):
            if output and value:
                self._values.names[output] = value

    def _add_unknown(self, target: str, call: Call) -> None:
        """Add an operator of which only the shapes are clear."""
        reads = [
            self._values.names[item.name]
            for value in call.arguments.values()
            for item in (value if isinstance(value, list) else [value])
            if isinstance(item, Reference) and item.name in self._values.names
        ]
        stated = [name for name in call.outputs if name in self._values.metas]
        if not stated:
            return
        made = call.emit_all(target, reads, len(stated), domain=_DOMAIN)
        for output, value in zip(stated, made, strict=True):
            meta = self._values.metas[output]
            self._builder.shape(value, meta.dtype, meta.dims)
            self._values.names[output] = value

    def _add_symbol(self, target: str, name: str, node: Json, outputs: list[str]) -> None:
        """Add an integer that is computed from the sizes of values."""
        arguments = {str(i): argument(item["arg"]) for i, item in enumerate(node["inputs"])}
        call = Call(self._values, target, name, arguments, outputs)
        values = self._values
        if target.startswith("aten.sym_size"):
            meta, axis = call.meta("0"), int(arguments["1"])
            values.symbols[outputs[0]] = call.size(
                call.tensor("0"), meta.dims, axis % len(meta.dims)
            )
            return
        try:
            operands: list[Symbol] = [call.symbol(key) or 0 for key in arguments]
        except (UnreadError, LookupError):
            return  # a share of a size: what reads it stays unknown
        op_type = _ARITHMETIC[target]
        if not op_type:
            values.symbols[outputs[0]] = operands[0]
            return
        inputs = [call.vector([operand]) for operand in operands]
        values.symbols[outputs[0]] = call.emit(op_type, inputs)

    def _inline(self, target: str, node: Json, outputs: list[str], depth: int) -> None:
        """Write a higher-order operator's graph in its place."""
        items = [argument(item["arg"]) for item in node["inputs"]]
        graphs = [item.graph for item in items if isinstance(item, Subgraph)]
        if len(graphs) != 1:
            raise InputError(
                self._path,
                f"it holds the control flow {shortened(target, 80)}, which is not read",
                "export the network to ONNX: torch.onnx.export(model, inputs, 'model.onnx')",
            )
        place = next(i for i, item in enumerate(items) if isinstance(item, Subgraph))
        operands = [
            operand
            for item in items[place + 1 :]
            for operand in (item if isinstance(item, list) else [item])
        ]
        values = self._values
        bound = [self._bound(operand) for operand in operands]
        with values.scope():
            made = self._inlined(graphs[0], bound, depth)
        for output, name in zip(outputs, made, strict=False):
            if name:
                values.names[output] = name

    def _inlined(self, graph: Json, operands: Sequence[Any], depth: int) -> list[str]:
        """Write a graph with its inputs bound; return the ONNX values of its outputs."""
        self._read_metas(graph)
        formals = [argument(item) for item in graph["inputs"]]
        for formal, operand in zip(formals, operands, strict=True):
            self._bind(formal, operand)
        self._add_nodes(graph, depth + 1)
        made = [argument(item) for item in graph["outputs"]]
        flat = [v for item in made for v in (item if isinstance(item, list) else [item])]
        names = self._values.names
        return [names.get(v.name, "") if isinstance(v, Reference) else "" for v in flat]

    def _bound(self, operand: Any) -> Any:
        """Return what an operand is in ONNX; None of a value that ONNX does not have."""
        if not isinstance(operand, Reference):
            return operand if isinstance(operand, int) else None
        return (self._values.names if operand.is_tensor else self._values.symbols).get(operand.name)

    def _bind(self, formal: Any, operand: Any) -> None:
        """Name an operand as the graph does; what reads one that is None stays unknown."""
        if operand is None or not isinstance(formal, Reference):
            return
        if not formal.is_tensor:
            if isinstance(operand, int | str):
                self._values.symbols[formal.name] = operand
            return
        if not isinstance(operand, str):
            raise TypeError("a number in the place of a tensor")
        self._values.names[formal.name] = operand

    def _add_outputs(self) -> None:
        outputs = [
            value
            for item in self._graph["outputs"]
            for value in [argument(item)]
            if isinstance(value, Reference) and value.is_tensor
        ]
        used: set[str] = set()
        for value in outputs:
            name, meta = self._values.names[value.name], self._values.metas[value.name]
            if name in used or (name in self._values.names.values() and name != value.name):
                name = self._builder.node("Identity", [name], [self._values.name(value.name)])
            used.add(name)
            self._builder.output(name, meta.dtype, meta.dims)
