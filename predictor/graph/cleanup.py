"""Clean-up to the graph that an inference runtime would run: same results, less work."""

from __future__ import annotations

from predictor.graph.network import Network, Node


def clean_up(network: Network) -> None:
    """Drop what does nothing, drop what nobody needs, fold batch normalisation."""
    _drop_no_ops(network)
    drop_dead_nodes(network)
    _fold_batch_normalization(network)


def consumers_of(network: Network) -> dict[str, list[Node]]:
    """Return the nodes that read each value."""
    consumers: dict[str, list[Node]] = {}
    for node in network.nodes:
        for name in set(node.consumed):
            consumers.setdefault(name, []).append(node)
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
    kept: list[Node] = []
    for node in reversed(network.nodes):
        if any(name in needed for name in node.outputs if name):
            kept.append(node)
            needed.update(node.consumed)
    network.nodes = kept[::-1]


def _drop_no_ops(network: Network) -> None:
    alias: dict[str, str] = {}
    used = {name for node in network.nodes for name in node.consumed} | set(network.outputs)
    kept: list[Node] = []
    for node in network.nodes:
        if _is_no_op(network, node, used):
            alias[node.outputs[0]] = node.inputs[0]
        else:
            kept.append(node)
    network.nodes = kept
    rename_values(network, alias)


def _is_no_op(network: Network, node: Node, used: set[str]) -> bool:
    if node.op == "Identity":
        return True
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
    producer = {name: node for node in network.nodes for name in node.outputs if name}
    consumers = consumers_of(network)
    outputs = set(network.outputs)
    kept: list[Node] = []
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
            kept.append(node)
            continue
        _absorb(convolution, node)
        producer[node.outputs[0]] = convolution
    network.nodes = kept


def _absorb(convolution: Node, normalization: Node) -> None:
    convolution.outputs = [normalization.outputs[0]]
    if len(convolution.inputs) > 2 and convolution.inputs[2]:
        return
    bias = normalization.inputs[2]  # "B", one element a channel like the bias that it becomes
    convolution.inputs = [*convolution.inputs[:2], bias]
