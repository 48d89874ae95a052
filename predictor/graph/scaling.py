"""A graph at a multiple of its batch, without reading the file again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from predictor.graph.operator_graph import OperatorGraph


def at_batch(graph: OperatorGraph, factor: int) -> OperatorGraph:
    """Return a network of independent images at ``factor`` times the batch of its file.

    Each image goes through such a network by itself, so all activations and MACs grow with the
    batch and the weights do not: the counts are exact, also where the exporter fixed the batch in a
    way that ingestion cannot change. A product with a weight gets more rows (M), a product of two
    activations more groups. Shapes, attributes and fingerprint stay those of the file.
    """
    if factor == 1:
        return graph
    # [N, 4]: groups, M, N, K.
    gemm = graph.gemm.copy()
    has_weight = graph.weight_bytes > 0
    gemm[:, 1] *= np.where(has_weight, factor, 1)
    gemm[:, 0] *= np.where(has_weight, 1, factor)
    return replace(
        graph,
        macs=graph.macs * factor,
        bytes_read=graph.bytes_read * factor,
        bytes_written=graph.bytes_written * factor,
        gemm=gemm,
        input_bytes=graph.input_bytes * factor,
        output_bytes=graph.output_bytes * factor,
        peak_activation_bytes=graph.peak_activation_bytes * factor,
    )
