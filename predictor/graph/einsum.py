"""Multiply-accumulates of Einsum."""

from __future__ import annotations

import math

from predictor.graph.network import Network, Node
from predictor.graph.work import NO_WORK, Work, product_work

_ELLIPSIS_SYMBOL = "."


def einsum_work(network: Network, node: Node) -> Work:
    """Count an Einsum: two operands as one product, more from left to right."""
    operands = [network.type_of(name).dims for name in node.inputs]
    equation = node.attributes.string("equation").replace(" ", "").replace("...", _ELLIPSIS_SYMBOL)
    left, arrow, output = equation.partition("->")
    terms = left.split(",")
    if len(terms) != len(operands) or len(terms) < 2:
        return NO_WORK
    labelled = [_label(term, dims) for term, dims in zip(terms, operands, strict=True)]
    sizes: dict[str, int] = {}
    for labels, dims in zip(labelled, operands, strict=True):
        for label, size in zip(labels, dims, strict=False):
            sizes[label] = max(size, sizes.get(label, 1))
    dotted = {label for label in sizes if label.startswith(_ELLIPSIS_SYMBOL)}
    wanted = _wanted(labelled, arrow, output, dotted)
    if len(labelled) == 2:
        return _pair(set(labelled[0]), set(labelled[1]), wanted, sizes)
    return _chain([set(labels) for labels in labelled], wanted, sizes)


def _label(term: str, dims: tuple[int, ...]) -> list[str]:
    """Name each axis; those under an ellipsis are named from the right."""
    hidden = len(dims) - len(term.replace(_ELLIPSIS_SYMBOL, ""))
    labels: list[str] = []
    for symbol in term:
        if symbol == _ELLIPSIS_SYMBOL:
            labels += [f"{_ELLIPSIS_SYMBOL}{hidden - i}" for i in range(hidden)]
        else:
            labels.append(symbol)
    return labels


def _wanted(labelled: list[list[str]], arrow: str, output: str, dotted: set[str]) -> set[str]:
    if arrow:
        return set(output.replace(_ELLIPSIS_SYMBOL, "")) | dotted
    every = [label for labels in labelled for label in labels]
    return {label for label in every if every.count(label) == 1} | dotted


def _pair(a: set[str], b: set[str], wanted: set[str], sizes: dict[str, int]) -> Work:
    def volume(labels: set[str]) -> int:
        return math.prod(sizes[label] for label in labels)

    if not (a | b) - wanted:
        return NO_WORK  # nothing is summed: an elementwise or outer product
    return product_work(
        volume(a & b & wanted),
        volume((a - b) & wanted),
        volume((b - a) & wanted),
        volume((a | b) - wanted),
    )


def _chain(terms: list[set[str]], wanted: set[str], sizes: dict[str, int]) -> Work:
    macs, current = 0, terms[0]
    for position, term in enumerate(terms[1:], start=1):
        later = set().union(*terms[position + 1 :], wanted)
        macs += _pair(current, term, later, sizes).macs
        current = (current | term) & later
    return Work(macs)
