"""Clean-up to the graph that an inference runtime would run: same results, less work.

Constants are folded, no-ops and dead nodes dropped, batch normalisation folded into convolutions,
activations and conversions marked as parts of the operators that they run in.
"""

from __future__ import annotations

from predictor.graph.network import Constant, Network, Node
from predictor.graph.operator_graph import OperatorFlag
from predictor.graph.operators import (
    ACTIVATIONS,
    CONTROL,
    DTYPE_BITS,
    INDEX_INPUTS,
    PARAMETER_INPUTS,
    RANDOM,
    SCALE_INPUTS,
    VIEWS,
)

# The result has the elements of the first input in its stored type.
_COPIES = frozenset(
    {"DequantizeLinear", "Flatten", "Identity", "Reshape", "Squeeze", "Transpose", "Unsqueeze"}
)
# Copies of its first input.
_REPEATING = frozenset({"Expand", "Tile"})
_PICKING = frozenset({"Gather", "GatherElements", "GatherND", "Slice", "Split"})


def fold_constants(network: Network) -> None:
    """Drop every node whose inputs are constants or static shapes; its outputs are constants."""
    remaining: list[Node] = []
    for node in network.nodes:
        if not _is_foldable(network, node):
            remaining.append(node)
            continue
        network.scales.update(scale_tensors(network, node))
        for name in node.outputs:
            if name:
                network.constants[name] = _folded(network, node, name)
    network.nodes = remaining


def _is_foldable(network: Network, node: Node) -> bool:
    # Shapes are bound by now, so these are constants even of computed values.
    if node.op in {"Shape", "Size"}:
        return node.inputs[0] not in network.data_dependent
    if node.op in CONTROL or node.op in RANDOM or node.op == "Unknown" or _in_loop(node):
        return False
    constants = network.constants
    has_input = False
    for name in node.inputs:
        if name:
            if name not in constants:
                return False
            has_input = True
    return has_input or node.op == "Constant"


def _in_loop(node: Node) -> bool:
    """A loop-carried value is named like its initial one and would look constant."""
    scope = node.scope
    while scope is not None:
        if scope.carries:
            return True
        scope = scope.parent
    return False


def _folded(network: Network, node: Node, output: str) -> Constant:
    """Return the constant that a node makes, with its stored tensors and bits an element.

    ConstantOfShape with a stored shape counts as stored itself: files without weights carry each
    weight so.
    """
    constants = network.constants
    inputs = [constants[name] for name in node.inputs if name in constants]
    derived = node.op in {"Shape", "Size"} or any(c.derived for c in inputs)
    bits = DTYPE_BITS[network.type_of(output).dtype]
    if inputs and (node.op in _COPIES or (node.op == "Cast" and inputs[0].is_quantised)):
        bits = inputs[0].bits
    if node.op in {"Constant", "ConstantOfShape"}:
        return Constant(() if derived else (output,), bits, derived)
    if node.op in _REPEATING and inputs and node.inputs[0] in constants:
        stored = stored_tensors(network, node.inputs[0])
        return inputs[0]._replace(roots=stored, bits=bits, derived=derived)
    roots = [r for name in data_inputs(node) if name in constants for r in constants[name].roots]
    picks_elements = node.op in _PICKING or any(c.picks_elements for c in inputs)
    is_quantised = node.op == "DequantizeLinear" or any(c.is_quantised for c in inputs)
    return Constant(tuple(dict.fromkeys(roots)), bits, derived, picks_elements, is_quantised)


def stored_tensors(network: Network, name: str) -> tuple[str, ...]:
    """Return the tensors that a model stores for a constant, of a quantised one with its scales."""
    constant = network.constants[name]
    return constant.roots if constant.is_quantised else value_tensors(network, name)


def value_tensors(network: Network, name: str) -> tuple[str, ...]:
    """Return the tensors that a constant is made of, or itself if it has fewer elements.

    Of what picks rows the whole table counts.
    """
    constant = network.constants[name]
    if len(constant.roots) < 2 or constant.picks_elements:
        return constant.roots
    elements = sum(network.type_of(root).elements for root in constant.roots)
    return constant.roots if elements <= network.type_of(name).elements else (name,)


def scale_tensors(network: Network, node: Node) -> list[str]:
    """Return the stored tensors that scale or shift integers of a node."""
    return [
        root
        for position in SCALE_INPUTS.get(node.op, ())
        if position < len(node.inputs) and node.inputs[position] in network.constants
        for root in network.constants[node.inputs[position]].roots
    ]


def data_inputs(node: Node) -> list[str]:
    """Return the inputs that hold data: no shapes, axes, bounds or indices."""
    steering = PARAMETER_INPUTS.get(node.op, ()) + INDEX_INPUTS.get(node.op, ())
    if not steering:
        return [name for name in node.inputs if name]
    return [name for i, name in enumerate(node.inputs) if name and i not in steering]


CONTRACTIONS = frozenset({"Conv", "ConvTranspose", "Gemm", "MatMul"})
_GATES = frozenset({"Sigmoid", "HardSigmoid"})
# Multiply integers by their own definition.
_INTEGER_WORDS = """
    ConvInteger DynamicQuantizeLSTM DynamicQuantizeMatMul MatMulInteger MatMulInteger16
    MatMulIntegerToFloat NhwcQLinearConv QAttention QGemm QLinearConv QLinearConvTranspose
    QLinearMatMul
"""
_INTEGER = frozenset(_INTEGER_WORDS.split())
# Their integer kernels give integers; a product may give floats (MatMulIntegerToFloat).
_NEEDS_QUANTISED_OUTPUT = frozenset({"Conv", "ConvTranspose"})
# Domains of formats whose runtimes run a convolution of integers whatever follows it.
_FLOAT_RESULTS = frozenset({"ncnn", "openvino"})
# Runtimes have integer kernels for these, or they only move data.
_INTEGER_CAPABLE_WORDS = """
    Add ArgMax AveragePool BatchNormalization Clip Concat DepthToSpace Div Expand Flatten Gather
    GlobalAveragePool HardSigmoid HardSwish LeakyRelu MaxPool Mul PRelu Pad ReduceMean Relu
    Reshape Resize Sigmoid Slice Softmax SpaceToDepth Split Squeeze Sub Tanh TopK Transpose
    Unsqueeze Where
"""
INTEGER_CAPABLE = CONTRACTIONS | frozenset(_INTEGER_CAPABLE_WORDS.split())


def mark_views(network: Network) -> None:
    """Flag every operator that changes the shape only."""
    for node in network.nodes:
        if node.op in VIEWS and node.inputs[0] not in network.constants:
            node.flags |= int(OperatorFlag.VIEW)


def mark_epilogues(network: Network) -> None:
    """Record activations that are all that reads a contraction as fused into it.

    ``x * sigmoid(x)`` (SiLU) and ``x * hardsigmoid(x)`` are two nodes that fuse together.
    """
    consumers = consumers_of(network)
    outputs = set(network.outputs)
    for node in network.nodes:
        if node.op not in CONTRACTIONS or node.outputs[0] in outputs:
            continue
        # A reader with other repeats stands in another loop body and cannot be an epilogue.
        readers = [r for r in consumers.get(node.outputs[0], []) if r.repeats == node.repeats]
        for fused in _epilogue(network, node.outputs[0], readers, consumers, outputs):
            fuse(fused, node)


def fuse(node: Node, host: Node) -> None:
    """Mark ``node`` as a part of ``host``."""
    node.flags |= int(OperatorFlag.FUSED)
    node.fused_into = host


def _epilogue(
    network: Network,
    value: str,
    readers: list[Node],
    consumers: dict[str, list[Node]],
    outputs: set[str],
) -> list[Node]:
    if len(consumers.get(value, [])) != len(readers):
        return []
    if len(readers) == 1:
        only = readers[0]
        fits = only.op in ACTIVATIONS and only.inputs[0] == value and _steered(network, only)
        return [only] if fits else []
    gates = [r for r in readers if r.op in _GATES]
    products = [r for r in readers if r.op == "Mul"]
    if len(readers) != 2 or len(gates) != 1 or len(products) != 1:
        return []
    gate, product = gates[0], products[0]
    is_gated = {*product.inputs} == {value, gate.outputs[0]}
    sole = len(consumers.get(gate.outputs[0], [])) == 1 and gate.outputs[0] not in outputs
    return [gate, product] if is_gated and sole else []


def _steered(network: Network, node: Node) -> bool:
    """Bounds and slopes of the activation are constants."""
    return all(name in network.constants for name in node.inputs[1:] if name)


def mark_quantised(network: Network) -> None:
    """Flag integer operators, give them their integer values, and fuse their conversions."""
    for node in network.nodes:
        if node.op in _INTEGER or node.op.startswith("QLinear"):
            node.flags |= int(OperatorFlag.QUANTISED)
    if any(node.op == "DequantizeLinear" for node in network.nodes):
        _Pattern(network).mark()


class _Pattern:
    """Finds operators between DequantizeLinear and QuantizeLinear."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._producer = {name: node for node in network.nodes for name in node.outputs if name}
        self._consumers = consumers_of(network)
        self._outputs = set(network.outputs)
        self._gives_floats = not _FLOAT_RESULTS.isdisjoint(network.opsets)

    def mark(self) -> None:
        hosts = [node for node in self._network.nodes if self._is_host(node)]
        for node in hosts:
            self._fuse_output(node)
            # A view between the two conversions multiplies nothing.
            if node.op not in VIEWS:
                node.flags |= int(OperatorFlag.QUANTISED)
        chosen = set(map(id, hosts))
        for node in self._network.nodes:
            if node.op == "DequantizeLinear":
                self._fuse_input(node, chosen)

    def _is_host(self, node: Node) -> bool:
        if node.op not in INTEGER_CAPABLE or node.fused_into is not None:
            return False
        dynamic = [i for i in node.inputs if i and i not in self._network.constants]
        made_by = [self._producer.get(name) for name in dynamic]
        if not dynamic or not all(p and p.op == "DequantizeLinear" for p in made_by):
            return False
        if node.op in CONTRACTIONS and not self._has_integer_weights(node):
            return False
        needs_output = frozenset() if self._gives_floats else _NEEDS_QUANTISED_OUTPUT
        return self._quantise_after(node) is not None or node.op in CONTRACTIONS - needs_output

    def _has_integer_weights(self, node: Node) -> bool:
        constants = self._network.constants
        return all(constants[i].bits <= 16 for i in node.inputs[:2] if i in constants)

    def _quantise_after(self, node: Node) -> Node | None:
        """Return the QuantizeLinear that alone reads the node, fused activations skipped."""
        value = node.outputs[0]
        while True:
            readers = self._consumers.get(value, [])
            if self._gives_floats and all(reader.fused_into is node for reader in readers):
                readers = readers[-1:]  # of x * sigmoid(x) the product
            if value in self._outputs or len(readers) != 1:
                return None
            only = readers[0]
            if only.op == "QuantizeLinear":
                return only
            if only.fused_into is not node:
                return None
            value = only.outputs[0]

    def _fuse_output(self, node: Node) -> None:
        quantise = self._quantise_after(node)
        if quantise is not None:
            fuse(quantise, node)

    def _fuse_input(self, node: Node, hosts: set[int]) -> None:
        """A DequantizeLinear that integer operators alone read does not run."""
        readers = self._consumers.get(node.outputs[0], [])
        sole = bool(readers) and node.outputs[0] not in self._outputs
        if sole and all(id(reader) in hosts for reader in readers):
            fuse(node, readers[0])


def clean_up(network: Network) -> None:
    """Drop no-ops and dead nodes, fold batch normalisation."""
    _drop_no_ops(network)
    drop_dead_nodes(network)
    _fold_batch_normalization(network)


def consumers_of(network: Network) -> dict[str, list[Node]]:
    """Return the nodes that read each value."""
    consumers: dict[str, list[Node]] = {}
    for node in network.nodes:
        names = node.consumed
        for name in names if len(names) < 2 else set(names):
            readers = consumers.get(name)
            if readers is None:
                consumers[name] = [node]
            else:
                readers.append(node)
    return consumers


def rename_values(network: Network, alias: dict[str, str]) -> None:
    """Let every reader of ``alias``'s keys read the value instead; follows chains."""
    if not alias:
        return

    def final(name: str) -> str:
        while name in alias:
            name = alias[name]
        return name

    for node in network.nodes:
        node.inputs = [final(name) for name in node.inputs]
        node.bodies = [b._replace(outputs=[final(o) for o in b.outputs]) for b in node.bodies]
    network.outputs = [final(name) for name in network.outputs]


def drop_dead_nodes(network: Network) -> None:
    """Drop every node whose outputs reach no output of the model."""
    needed = set(network.outputs)
    remaining: list[Node] = []
    # Backwards: all readers of a node are decided before the node itself.
    for node in reversed(network.nodes):
        if any(name in needed for name in node.outputs if name):
            remaining.append(node)
            needed.update(node.consumed)
    network.nodes = remaining[::-1]


_NO_OPS = frozenset({"Cast", "CastLike", "Dropout", "Identity"})
"""Operators that may pass their input on as it is."""


def _drop_no_ops(network: Network) -> None:
    if all(node.op not in _NO_OPS for node in network.nodes):
        return
    alias: dict[str, str] = {}
    used = {name for node in network.nodes for name in node.consumed} | set(network.outputs)
    remaining: list[Node] = []
    for node in network.nodes:
        if _is_no_op(network, node, used):
            alias[node.outputs[0]] = node.inputs[0]
        else:
            remaining.append(node)
    network.nodes = remaining
    rename_values(network, alias)


def _is_no_op(network: Network, node: Node, used: set[str]) -> bool:
    if node.op == "Identity":
        return True
    # In inference Dropout passes its input on; only a mask that is read needs it.
    if node.op == "Dropout":
        return len(node.outputs) < 2 or node.outputs[1] not in used
    if node.op in {"Cast", "CastLike"}:
        source, result = network.type_of(node.inputs[0]), network.type_of(node.outputs[0])
        return source.dtype == result.dtype
    return False


def _fold_batch_normalization(network: Network) -> None:
    """Fold BatchNormalization into the convolution whose only reader it is.

    Its scale goes into the weights and its shift into the bias, which then exists.
    """
    if all(node.op != "BatchNormalization" for node in network.nodes):
        return
    producer = {name: node for node in network.nodes for name in node.outputs if name}
    consumers = consumers_of(network)
    outputs = set(network.outputs)
    remaining: list[Node] = []
    for node in network.nodes:
        source = node.inputs[0] if node.inputs else ""
        convolution = producer.get(source)
        if (
            node.op != "BatchNormalization"
            or convolution is None
            or convolution.op not in {"Conv", "ConvTranspose"}
            or source in outputs
            or len(consumers[source]) != 1
            or convolution.repeats != node.repeats
            or not all(name in network.constants for name in node.inputs[1:])
            or convolution.inputs[1] not in network.constants
        ):
            remaining.append(node)
            continue
        _absorb(convolution, node)
        # A second BatchNormalization right behind the first folds too.
        producer[node.outputs[0]] = convolution
    network.nodes = remaining


def _absorb(convolution: Node, normalization: Node) -> None:
    convolution.outputs = [normalization.outputs[0]]
    if len(convolution.inputs) > 2 and convolution.inputs[2]:
        return
    bias = normalization.inputs[2]  # "B", one element a channel like the bias that it becomes
    convolution.inputs = [*convolution.inputs[:2], bias]
