"""The layers of an OpenVINO IR, read as a stream from its XML.

Reference:
    OpenVINO documentation, "OpenVINO IR format" and "Operation sets": elements ``net``, ``layers``,
    ``layer``, ``data``, ``input``, ``output``, ``port``, ``dim``, ``edges``, ``edge``, and those of
    bodies, ``port_map`` and ``back_edges``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, BinaryIO, Final, TypeAlias
from xml.parsers import expat

from onnx import TensorProto

from predictor.core.errors import InputError
from predictor.core.text import shortened
from predictor.formats.builder import MisfitError
from predictor.graph.reader import READ_LIMITS

AGAIN: Final = "convert the model again with a current OpenVINO (ovc)"
_CHUNK_BYTES: Final = 1 << 20
_MAX_DEPTH: Final = 128
_MAX_ELEMENTS: Final = 5_000_000
MAX_RANK: Final = 64
_MAX_DIGITS: Final = 19
_VERSIONS: Final = ("10", "11")
_SKIPPED: Final = frozenset({"rt_info", "meta_data", "pre-process", "statistics"})

Source: TypeAlias = tuple[int, int]
"""A value: id of the layer that makes it, and of the layer's output port."""

# Element types of IR; those without an ONNX type take the one of their width.
_TYPES: Final = {
    "f64": TensorProto.DOUBLE,
    "f32": TensorProto.FLOAT,
    "f16": TensorProto.FLOAT16,
    "bf16": TensorProto.BFLOAT16,
    "i64": TensorProto.INT64,
    "i32": TensorProto.INT32,
    "i16": TensorProto.INT16,
    "i8": TensorProto.INT8,
    "i4": TensorProto.INT4,
    "u64": TensorProto.UINT64,
    "u32": TensorProto.UINT32,
    "u16": TensorProto.UINT16,
    "u8": TensorProto.UINT8,
    "u4": TensorProto.UINT4,
    "u2": TensorProto.UINT4,
    "nf4": TensorProto.UINT4,
    "f4e2m1": TensorProto.FLOAT4E2M1,
    "f8e4m3": TensorProto.FLOAT8E4M3FN,
    "f8e5m2": TensorProto.FLOAT8E5M2,
    "f8e8m0": TensorProto.UINT8,
    "boolean": TensorProto.BOOL,
    "bool": TensorProto.BOOL,
    "string": TensorProto.STRING,
}


def element_type(text: str) -> int:
    """Return the ONNX type of ``f32``, ``FP32``, ``i4``; UNDEFINED of one that ONNX lacks."""
    name = text.strip().lower()
    name = "f" + name[2:] if name.startswith("fp") else name
    return int(_TYPES.get(name, TensorProto.UNDEFINED))


@dataclass(slots=True)
class Port:
    """An input or output of a layer.

    Attributes:
        id: number by which edges name it.
        dtype: its ONNX type, UNDEFINED where the file does not state it.
        dims: sizes, None for an open one.
        names: of the tensor, as the model had them before its conversion.
    """

    id: int
    dtype: int
    names: tuple[str, ...]
    dims: list[int | None] = field(default_factory=list)

    @property
    def static(self) -> tuple[int, ...] | None:
        """The sizes, None where one is open."""
        sizes = tuple(size for size in self.dims if size is not None)
        return sizes if len(sizes) == len(self.dims) else None


@dataclass(slots=True)
class Mapping:
    """A line between a layer with bodies and one body: elements of ``port_map`` or ``back_edges``.

    Attributes:
        role: ``input``, ``output`` or ``edge``.
        values: its attributes.
    """

    role: str
    values: dict[str, str]


@dataclass(slots=True, kw_only=True)
class Layer:
    """A layer.

    Attributes:
        id: of the layer in its network.
        name: as the file has it.
        type: of the operation.
        data: its attributes.
        inputs: ports in order.
        outputs: ports in order.
        bodies: networks inside it, by the name of their element.
        maps: their mappings, by the name of the element.
    """

    id: int
    name: str
    type: str
    data: dict[str, str] = field(default_factory=dict)
    inputs: list[Port] = field(default_factory=list)
    outputs: list[Port] = field(default_factory=list)
    bodies: dict[str, Net] = field(default_factory=dict)
    maps: dict[str, list[Mapping]] = field(default_factory=dict)


@dataclass(slots=True)
class Net:
    """A network, or the body of a layer.

    Attributes:
        layers: by id, in the order of the file.
        edges: source of each input, by layer and input port.
    """

    layers: dict[int, Layer] = field(default_factory=dict)
    edges: dict[Source, Source] = field(default_factory=dict)


def read_document(path: str, stream: BinaryIO) -> Net:
    """Read the XML of an IR.

    Args:
        path: of the file, for the errors.
        stream: the file.

    Raises:
        InputError: it is no XML, no IR of version 10 or 11, has a document type, or contradicts
            itself.
    """
    reader = _Reader(path)
    try:
        while chunk := stream.read(_CHUNK_BYTES):
            reader.feed(chunk)
        return reader.finish()
    except expat.ExpatError as error:
        reason = f"line {error.lineno} is no XML: {expat.ErrorString(error.code)}"
        raise InputError(path, reason, AGAIN) from error
    except (ValueError, LookupError) as error:  # an encoding that Python lacks
        raise InputError(path, f"its text cannot be decoded: {error}", AGAIN) from error


class _Reader:
    """Builds the networks of a file while expat walks over it."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._root: Net | None = None
        self._tags: list[str] = []
        self._nets: list[Net] = []
        self._layers: list[Layer] = []
        self._ports: list[Port] | None = None
        self._text: list[str] = []
        self._skipping = 0
        self._elements = 0
        self._layer_count = 0
        self._starts = {
            "layer": self._open_layer,
            "data": self._set_data,
            "input": self._open_input,
            "output": self._open_output,
            "port": self._open_port,
            "dim": self._open_dimension,
            "edge": self._open_edge,
        }
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.StartDoctypeDeclHandler = self._refuse_document_type

    def feed(self, chunk: bytes) -> None:
        self._parser.Parse(chunk, False)

    def finish(self) -> Net:
        self._parser.Parse(b"", True)
        if self._root is None or not self._root.layers:
            raise self._error("it holds no layers")
        return self._root

    def _refuse_document_type(self, *_: Any) -> None:
        raise self._error("it has a document type declaration, which no IR has")

    def _start(self, tag: str, values: dict[str, str]) -> None:
        self._elements += 1
        if self._elements > _MAX_ELEMENTS:
            raise self._error(f"it has more than {_MAX_ELEMENTS} elements")
        if self._skipping or tag in _SKIPPED:
            self._skipping += 1
            if self._skipping > _MAX_DEPTH:
                raise self._error(f"its elements are more than {_MAX_DEPTH} deep")
            return
        self._tags.append(tag)
        if len(self._tags) > _MAX_DEPTH:
            raise self._error(f"its elements are more than {_MAX_DEPTH} deep")
        if len(self._tags) == 1:
            self._open_root(tag, values)
        elif tag in self._starts:
            self._starts[tag](values)
        elif tag == "body" or tag.endswith("_body"):
            self._nets.append(self._layer().bodies.setdefault(tag, Net()))

    def _end(self, tag: str) -> None:
        if self._skipping:
            self._skipping -= 1
            return
        self._tags.pop()
        if tag == "layer" and self._layers:
            self._layers.pop()
        elif tag == "dim":
            self._close_dimension()
        elif tag in {"input", "output"}:
            self._ports = None
        elif (tag == "body" or tag.endswith("_body")) and len(self._nets) > 1:
            self._nets.pop()

    def _open_root(self, tag: str, values: dict[str, str]) -> None:
        version = values.get("version", "")
        if tag != "net":
            raise self._error(f"its root is '{shortened(tag, 40)}' and not 'net', so it is no IR")
        if version not in _VERSIONS:
            raise self._error(
                f"it is IR version {shortened(version, 20) or 'unknown'}; "
                f"versions {' and '.join(_VERSIONS)} are read"
            )
        self._root = Net()
        self._nets.append(self._root)

    def _open_layer(self, values: dict[str, str]) -> None:
        self._layer_count += 1
        if self._layer_count > READ_LIMITS.nodes:
            raise self._error(f"it has more than {READ_LIMITS.nodes} layers")
        number = self._number(values, "id")
        net = self._nets[-1]
        if number in net.layers:
            raise self._error(f"two of its layers have the id {number}")
        layer = Layer(
            id=number,
            name=values.get("name") or f"layer {number}",
            type=values.get("type", ""),
        )
        net.layers[number] = layer
        self._layers.append(layer)

    def _set_data(self, values: dict[str, str]) -> None:
        self._layer().data.update(values)

    def _open_input(self, values: dict[str, str]) -> None:
        self._open_side("input", values)

    def _open_output(self, values: dict[str, str]) -> None:
        self._open_side("output", values)

    def _open_side(self, side: str, values: dict[str, str]) -> None:
        """Open the ports of a layer, or take a line of a port map."""
        layer, parent = self._layer(), self._tags[-2]
        if parent == "layer":
            self._ports = layer.inputs if side == "input" else layer.outputs
        elif parent.endswith("port_map"):
            layer.maps.setdefault(parent, []).append(Mapping(side, values))

    def _open_port(self, values: dict[str, str]) -> None:
        if self._ports is None:
            raise self._error("a port stands outside of a layer's inputs and outputs")
        names = tuple(name for name in values.get("names", "").split(",") if name)
        self._ports.append(
            Port(self._number(values, "id"), element_type(values.get("precision", "")), names)
        )

    def _open_dimension(self, _: dict[str, str]) -> None:
        # For dimensions alone: the rest of the text are thousands of line ends.
        self._text.clear()
        self._parser.CharacterDataHandler = self._text.append

    def _close_dimension(self) -> None:
        self._parser.CharacterDataHandler = None
        text = "".join(self._text).strip()
        if not self._ports or self._tags[-1:] != ["port"]:
            raise self._error("a dimension stands outside of a port")
        dims = self._ports[-1].dims
        if len(dims) == MAX_RANK:
            raise self._error(f"a port has more than {MAX_RANK} dimensions")
        dims.append(self._size(text))

    def _open_edge(self, values: dict[str, str]) -> None:
        if self._tags[-2:-1] == ["back_edges"]:
            self._layer().maps.setdefault("back_edges", []).append(Mapping("edge", values))
            return
        source = self._number(values, "from-layer"), self._number(values, "from-port")
        target = self._number(values, "to-layer"), self._number(values, "to-port")
        self._nets[-1].edges[target] = source

    def _layer(self) -> Layer:
        if not self._layers:
            raise self._error(f"'{shortened(self._tags[-1], 40)}' stands outside of a layer")
        return self._layers[-1]

    def _number(self, values: dict[str, str], key: str) -> int:
        text = values.get(key, "")
        if not is_count(text):
            raise self._error(
                f"the attribute {key} of '{self._tags[-1]}' is '{shortened(text, 40)}', no number"
            )
        return int(text)

    def _size(self, text: str) -> int | None:
        try:
            return parsed_size(text)
        except MisfitError as error:
            raise self._error(f"the dimension '{shortened(text, 40)}' is no size") from error

    def _error(self, reason: str) -> InputError:
        line = self._parser.CurrentLineNumber
        return InputError(self._path, f"{reason} (line {line})", AGAIN)


def is_count(text: str) -> bool:
    """Whether a text is a whole number from 0 on, of 64 bits."""
    return text.isascii() and text.isdigit() and len(text) < _MAX_DIGITS


def parsed_size(text: str) -> int | None:
    """Return a dimension, None of an open one (``-1``, ``?``, ``1..8``).

    Raises:
        MisfitError: it is no dimension.
    """
    text = text.strip()
    if is_count(text):
        return int(text)
    if text in {"-1", "?"} or ".." in text:
        return None
    raise MisfitError(f"has the size '{shortened(text, 40)}', which no dimension has")
