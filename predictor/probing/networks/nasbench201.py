"""NAS-Bench-201 architectures from their codes.

X. Dong and Y. Yang, "NAS-Bench-201: Extending the Scope of Reproducible Neural Architecture
Search", ICLR 2020, section 2.1, in the form for CIFAR: images of 32 x 32, five cells a stage.

A cell is a graph of four nodes; each of its six edges carries an operation, and a node is the sum
of the edges that end in it. Two forms are built of one code:

- *pruned*, the form of a graph compiler: edges without effect are left out. These are "none" edges,
  edges out of a node that the cell's input does not reach, and edges into a node that does not
  reach the cell's output. A cell whose output is not reached is its input times zero.
- *eager*, the form of PyTorch, operator by operator: all six edges, "none" as a multiplication by
  zero, as in the benchmark's own code.
"""

from __future__ import annotations

from collections.abc import Sequence

import onnx

from predictor.probing.networks import layers
from predictor.probing.networks.codes import checked_batch, checked_code
from predictor.probing.networks.writer import NetworkWriter, Value

OPERATIONS = ("none", "skip_connect", "nor_conv_1x1", "nor_conv_3x3", "avg_pool_3x3")
EDGES = ((0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3))
"""Node that an edge leaves and node that it enters, in the order of the code."""

CHOICES = (tuple(range(len(OPERATIONS))),) * len(EDGES)
IMAGE, CLASSES = 32, 10
_INPUT, _OUTPUT = 0, 3
_NONE = 0
_WIDTHS, _CELLS = (16, 32, 64), 5


def live_edges(code: Sequence[int]) -> tuple[int, ...]:
    """Return the positions of the edges that lie on a path from the input to the output.

    Args:
        code: six operations, indices into :data:`OPERATIONS`.
    """
    present = [position for position in range(len(EDGES)) if code[position] != _NONE]
    reached, reaching = {_INPUT}, {_OUTPUT}
    for position in present:  # EDGES is sorted by target, so one pass does
        source, target = EDGES[position]
        if source in reached:
            reached.add(target)
    # By falling source: all edges out of a node come before those into it.
    for position in sorted(present, key=lambda p: EDGES[p][0], reverse=True):
        source, target = EDGES[position]
        if target in reaching:
            reaching.add(source)
    return tuple(p for p in present if EDGES[p][0] in reached and EDGES[p][1] in reaching)


def nasbench201(
    code: Sequence[int],
    batch: int = 1,
    *,
    eager: bool = False,
    classes: int = CLASSES,
    with_weights: bool = True,
) -> onnx.ModelProto:
    """Build the network of a code.

    Args:
        code: six numbers from 0 to 4, in the order of :data:`EDGES`.
        batch: images at once.
        eager: build every edge; see the module's text.
        classes: numbers put out: 10 for CIFAR-10, 100 for CIFAR-100.
        with_weights: see :class:`NetworkWriter`.

    Raises:
        InputError: code or batch are wrong.
    """
    space = "nasbench201-eager" if eager else "nasbench201"
    numbers = checked_code(space, code, CHOICES)
    edges = tuple(range(len(EDGES))) if eager else live_edges(numbers)
    writer = NetworkWriter(f"{space}-{''.join(map(str, numbers))}", with_weights=with_weights)
    x = writer.input("image", (checked_batch(batch), 3, IMAGE, IMAGE))
    x = layers.conv(writer, "stem", x, _WIDTHS[0], kernel=3)
    for stage, width in enumerate(_WIDTHS):
        if stage:
            x = _reduction(writer, f"reduction{stage}", x, width)
        for cell in range(_CELLS):
            x = _cell(writer, f"stage{stage}.{cell}", x, numbers, edges)
    x = layers.relu(writer, "last.relu", layers.batch_norm(writer, "last.norm", x))
    return writer.finish(layers.classifier(writer, x, classes))


def _cell(
    writer: NetworkWriter, name: str, x: Value, code: Sequence[int], edges: Sequence[int]
) -> Value:
    if not edges:
        # 341 codes: built as a constant they would have no latency to learn from (0004).
        return layers.times_zero(writer, f"{name}.zero", x)
    nodes = {_INPUT: x}
    for position in edges:
        source, target = EDGES[position]
        edge = f"{name}.edge{source}{target}"
        y = _operation(writer, edge, nodes[source], OPERATIONS[code[position]])
        summed = nodes.get(target)
        nodes[target] = y if summed is None else layers.add(writer, f"{edge}.add", summed, y)
    return nodes[_OUTPUT]


def _operation(writer: NetworkWriter, name: str, x: Value, operation: str) -> Value:
    if operation == "none":
        return layers.times_zero(writer, name, x)
    if operation == "skip_connect":
        return x
    if operation == "avg_pool_3x3":
        return layers.average_pool(writer, name, x, kernel=3, stride=1, padding=1)
    kernel = 1 if operation == "nor_conv_1x1" else 3
    return _relu_conv(writer, name, x, x.shape[1], kernel=kernel)


def _relu_conv(
    writer: NetworkWriter, name: str, x: Value, width: int, *, kernel: int, stride: int = 1
) -> Value:
    # ReLU comes first, as in ReLUConvBN of the benchmark's code.
    rectified = layers.relu(writer, f"{name}.relu", x)
    return layers.conv(writer, f"{name}.conv", rectified, width, kernel=kernel, stride=stride)


def _reduction(writer: NetworkWriter, name: str, x: Value, width: int) -> Value:
    """Halve height and width in a residual block."""
    y = _relu_conv(writer, f"{name}.a", x, width, kernel=3, stride=2)
    y = _relu_conv(writer, f"{name}.b", y, width, kernel=3)
    shortcut = layers.average_pool(writer, f"{name}.pool", x, kernel=2, stride=2)
    # The benchmark's code has no normalisation after it, so there is no bias to stand for one.
    shortcut = layers.conv(writer, f"{name}.shortcut", shortcut, width, bias=False)
    return layers.add(writer, f"{name}.add", shortcut, y)
