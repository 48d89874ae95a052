"""A few physical numbers of an architecture's graph that its cost depends on."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from ctm_research.nas.spaces.kernels import KernelTable
from predictor.graph.operators import OPERATOR_CODE

STRUCTURE_NAMES: Final = (
    "kernels launched",
    "activations in epilogues",
    "MACs of pointwise convolutions",
    "MACs of depthwise convolutions",
    "MACs of other contractions",
    "MACs",
    "activation bytes",
    "weight bytes",
    "depthwise convolutions",
    "grouped pointwise convolutions",
    "depthwise 5 x 5 convolutions",
    "kernels without a contraction",
)


def structure(table: KernelTable) -> NDArray[np.float64]:
    """Return float64 [A, 12], the features :data:`STRUCTURE_NAMES` of every graph."""
    macs = table.column("macs").astype(np.float64)
    window, groups = table.column("window"), table.column("groups")
    convolution = table.column("op_code") == OPERATOR_CODE["Conv"]
    pointwise = convolution & (window == 1)
    depthwise = convolution & (window > 1) & (groups > 1)
    return table.total(
        np.column_stack(
            [
                np.ones(len(macs)),
                table.column("fused"),
                np.where(pointwise, macs, 0),
                np.where(depthwise, macs, 0),
                np.where(pointwise | depthwise, 0, macs),
                macs,
                table.column("bytes_read") + table.column("bytes_written"),
                table.column("weight_bytes"),
                depthwise,
                pointwise & (groups > 1),
                depthwise & (window == 5),
                macs == 0,
            ]
        )
    )


def operator_counts(table: KernelTable) -> NDArray[np.float64]:
    """Return float64 [A, O], kernels of each operator type that a graph launches."""
    codes = table.column("op_code")
    return table.total(codes[:, None] == np.unique(codes))
