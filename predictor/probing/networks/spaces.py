"""The search spaces by name: a code becomes a model, a file, or an operator graph."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final, Protocol

import onnx

from predictor.core.errors import HostError, InputError
from predictor.graph.ingest import build_model
from predictor.graph.operator_graph import OperatorGraph
from predictor.graph.reader import ReadModel
from predictor.probing.networks.families import FAMILIES, family_network
from predictor.probing.networks.fbnet import CIFAR, IMAGENET, fbnet
from predictor.probing.networks.nasbench201 import nasbench201
from predictor.probing.networks.ofa import ofa
from predictor.probing.networks.writer import model_bytes


class Builder(Protocol):
    """Builds the network of a code."""

    def __call__(
        self, code: Sequence[int], batch: int = 1, *, with_weights: bool = True
    ) -> onnx.ModelProto:
        """Return the model."""


BUILDERS: Final[dict[str, Builder]] = {
    "fbnet-cifar100": partial(fbnet, CIFAR),
    "fbnet-imagenet": partial(fbnet, IMAGENET),
    "nasbench201": nasbench201,
    "nasbench201-eager": partial(nasbench201, eager=True),
    "ofa-mbv3-w1.0": partial(ofa, multiplier=1.0),
    "ofa-mbv3-w1.2": partial(ofa, multiplier=1.2),
    **{space: partial(family_network, space) for space in FAMILIES},
}


def write_network(path: Path, space: str, code: Sequence[int], batch: int = 1) -> str:
    """Write the file of a model with weights; return its SHA-256 in hex.

    Args:
        path: of the file; its folder is made where it is missing.
        space: one of :data:`BUILDERS`.
        code: of the architecture, in the form of the space.
        batch: images at once.

    Raises:
        InputError: there is no such space, or code or batch are wrong.
        HostError: the disk is full or the folder cannot be written.
    """
    data = model_bytes(_builder(space)(code, batch))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    except OSError as error:
        reason = f"it cannot be written ({error.strerror})"
        raise HostError(str(path), reason, "free some space") from error
    return hashlib.sha256(data).hexdigest()


def operator_graph_of(space: str, code: Sequence[int], batch: int = 1) -> OperatorGraph:
    """Return the graph that ingesting the file of a model gives, without its weights and the file.

    Networks of search spaces keep their fingerprints by the former recipe: what was measured of
    them, and what was learned from it, is found by those.

    Args:
        space: one of :data:`BUILDERS`.
        code: of the architecture, in the form of the space.
        batch: images at once.

    Raises:
        InputError: there is no such space, or code or batch are wrong.
    """
    proto = _builder(space)(code, batch, with_weights=False)
    graph = build_model(ReadModel(proto=proto, path=proto.graph.name), {}, None, {}).graph
    return graph.as_formerly()


def _builder(space: str) -> Builder:
    try:
        return BUILDERS[space]
    except KeyError:
        raise InputError(
            f"search space {space}", "there is no such space", f"give one of {', '.join(BUILDERS)}"
        ) from None
