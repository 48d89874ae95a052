"""Checks of a batch of graphs before the paper's network reads it."""

from __future__ import annotations

from torch import Tensor

from ctm_research.network.batch import GraphBatch, check_finite, check_shape
from predictor.core.errors import InputError

_OPERATOR_CODES = 1 << 15  # what an int16 holds; those after the vocabulary count as unknown


def check_graphs(graphs: GraphBatch, features: int) -> None:
    """Check the shapes and values of a batch of graphs.

    Raises:
        InputError: a shape does not fit, an index is out of range, a feature not finite or
            negative.
    """
    nodes = graphs.op_code.shape[0]
    check_shape("node features", graphs.features, (nodes, max(features, graphs.features.shape[-1])))
    check_shape("graph numbers", graphs.graph, (nodes,))
    check_shape("edges", graphs.edges, (2, graphs.edges.shape[-1]))
    for name, indices, limit in (
        ("operator codes", graphs.op_code, _OPERATOR_CODES),
        ("edges", graphs.edges, nodes),
        ("graph numbers", graphs.graph, len(graphs)),
    ):
        _check_indices(name, indices, limit)
    check_finite("node features", graphs.features)
    if bool((graphs.features < 0).any()):
        raise InputError(
            "node features", "a feature is negative", "give sizes and counts from 0 on"
        )


def _check_indices(subject: str, indices: Tensor, limit: int) -> None:
    if indices.numel() and not (int(indices.min()) >= 0 and int(indices.max()) < limit):
        raise InputError(
            subject,
            f"they go from {int(indices.min())} to {int(indices.max())}, and there are {limit}",
            "give indices from 0",
        )
