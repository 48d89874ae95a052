"""Writer of the prepared targets of a checkpoint: their estimates, rates and states."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from predictor.core.files import replaced, sync
from predictor.core.records import Target
from predictor.cost.rates.typical import Rates
from predictor.cost.roofline import PeakRates
from predictor.engine.checkpoint import ESTIMATE, checksum
from predictor.engine.estimate_file import read_estimate
from predictor.engine.operator_factors import Contexts
from predictor.engine.targets.prepared import OF_TARGETS, PREPARED, PreparedTargets, key_of


def write_prepared(folder: Path, targets: Sequence[Target]) -> None:
    """Write the file of a checkpoint whose estimate is written.

    Args:
        folder: of the checkpoint.
        targets: that are asked about together at most starts, in their order.

    Raises:
        OSError: a file cannot be read or written.
        KeyError, TypeError, ValueError, zipfile.BadZipFile: the estimate is damaged.
    """
    prepared = PreparedTargets.of(read_estimate(folder / ESTIMATE), targets)
    estimates, states, rated = prepared.estimates, prepared.states, prepared.rated
    words = {
        "key": key_of(checksum(folder / ESTIMATE), targets),
        "evidence": list(estimates.evidence),
        "doubts": list(estimates.doubts),
        "class_chips": list(estimates.class_chips),
        "basis": [state.basis for state in states],
        "problems": [(at, state.problem) for at, state in enumerate(states) if state.problem],
        "unrated": list(rated.problems.items()),
    }
    arrays = {
        "words": np.frombuffer(json.dumps(words).encode(), np.uint8),
        "columns": np.array(rated.columns, np.int32),
        **{name: getattr(estimates, name) for name in OF_TARGETS},
        **_arrays(estimates.rates),
        **_arrays(estimates.contexts),
        **_arrays(rated.rates),
    }
    with replaced(folder / PREPARED) as written:
        with written.open("wb") as file:
            np.savez_compressed(file, **arrays)
        sync(written)


def _arrays(record: Rates | PeakRates | Contexts) -> dict[str, NDArray[Any]]:
    """Return the arrays of a record by the name of its class and of its field."""
    kind = type(record).__name__
    return {f"{kind}.{field.name}": getattr(record, field.name) for field in fields(record)}
