"""A model that is read again at another batch."""

from __future__ import annotations

from collections.abc import Mapping

from predictor.core.errors import InputError
from predictor.core.progress import CancelToken
from predictor.graph.model import LEADING_BATCH, NAMED_BATCH, Model
from predictor.services.models.ingestion import IngestionWorker


def read_at(
    ingestion: IngestionWorker,
    model: Model,
    bindings: Mapping[str, int],
    batch: int,
    cancel: CancelToken | None = None,
) -> Model:
    """Read a model's file at another batch: its graph gets shapes and a fingerprint of its own.

    Args:
        ingestion: reads files.
        model: as it is open.
        bindings: values that the user gave to its dynamic dimensions, by name; that of the batch
            gives way.
        batch: inputs of one run.
        cancel: ends the reading within half a second.

    Returns:
        The model at the batch; ``model`` itself where that is its own batch.

    Raises:
        InputError: an operator pins the batch, or the file cannot be read; said in one sentence.
        HostError, CancelledError: as of ``IngestionWorker.ingest``.
    """
    other_bindings = {
        name: value for name, value in bindings.items() if name not in _batch_names(model)
    }
    try:
        read = ingestion.ingest(model.path, other_bindings, batch, cancel=cancel)
    except InputError as error:
        place = error.subject.removeprefix(model.path).removeprefix(", ")
        reason = f"{place}: {error.reason}" if place else error.reason
        raise InputError(
            model.path, f"it cannot run at batch {batch}: {reason}", error.action
        ) from error
    return model if read.graph.fingerprint == model.graph.fingerprint else read


def _batch_names(model: Model) -> frozenset[str]:
    """Return the names of the open dimensions that a batch sets."""
    for reason in (NAMED_BATCH, LEADING_BATCH):
        if names := frozenset(d.name for d in model.dynamic if d.reason == reason):
            return names
    return frozenset()
