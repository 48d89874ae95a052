"""The inputs of the network as tensors: graphs and targets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from ctm_research.network.graph_table import GraphTable
from predictor.core.errors import InputError


@dataclass(frozen=True, slots=True, eq=False)
class GraphBatch:
    """G graphs on one flat node axis.

    Attributes:
        op_code: int64 [N].
        features: float32 [N, F], not standardised.
        edges: int64 [2, E], producer and consumer on the flat axis.
        graph: int64 [N], index of each operator's graph.
        node_counts: int64 [G].
    """

    op_code: Tensor
    features: Tensor
    edges: Tensor
    graph: Tensor
    node_counts: Tensor

    @classmethod
    def of(cls, table: GraphTable) -> GraphBatch:
        """Return all graphs of ``table``."""
        return cls(
            op_code=torch.as_tensor(table.op_code.astype(np.int64)),
            features=torch.as_tensor(table.features),
            edges=torch.as_tensor(table.flat_edges),
            graph=torch.as_tensor(table.graph_ids),
            node_counts=torch.as_tensor(table.node_counts),
        )

    def __len__(self) -> int:
        return int(self.node_counts.shape[0])


@dataclass(frozen=True, slots=True, eq=False)
class TargetBatch:
    """T targets; fields that the network does not read may be None.

    Attributes:
        values: float32 [T, M], standardised logs of the metrics.
        available: bool [T, M]; the values of others are never read. A row without any is a device
            without any known metric.
        identifier: int64 [T], for networks with identifiers.
        signature: float32 [T, k], ln of the latencies of the k reference networks in ms.
    """

    values: Tensor
    available: Tensor
    identifier: Tensor | None = None
    signature: Tensor | None = None

    def __len__(self) -> int:
        return int(self.values.shape[0])


def check_finite(subject: str, values: Tensor | None) -> None:
    """Raise InputError where a value is NaN or infinite."""
    if values is None or bool(torch.isfinite(values).all()):
        return
    where = tuple(int(i) for i in torch.nonzero(~torch.isfinite(values))[0])
    raise InputError(
        subject,
        f"the value at {where} is {values[where].item()}, and must be finite",
        "correct it, or leave it out where it is not known",
    )


def check_shape(subject: str, values: Tensor | None, expected: tuple[int, ...]) -> None:
    """Raise InputError where ``values`` are missing or have another shape than ``expected``."""
    shape = None if values is None else tuple(values.shape)
    if shape != expected:
        raise InputError(
            subject,
            f"{'missing' if shape is None else f'the shape is {shape}'}, expected {expected}",
            "give it as the network's configuration says",
        )
