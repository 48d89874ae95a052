"""Latencies of the pool's networks on known targets, from which DBSel learns their differences.

Published latencies of these networks are few, so predicted ones stand for them. Working them out
takes a minute, which is why they ship: ``resources/probes/known.npz``, written by
``packaging/make_known.py``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from predictor.core.errors import HostError
from predictor.core.resources import resources_dir

FILE: Final = "known.npz"


@dataclass(frozen=True, slots=True, eq=False)
class KnownLatencies:
    """Predicted latencies of the N networks of the pool on D targets.

    Attributes:
        engine: that predicted them.
        networks: fingerprints, in the order of the pool.
        targets: their keys.
        latency_ms: float64 [N, D].
    """

    engine: str
    networks: tuple[str, ...]
    targets: tuple[str, ...]
    latency_ms: NDArray[np.float64]


@cache
def load_pool_latencies(path: Path | None = None) -> KnownLatencies:
    """Read the latencies that ship.

    Raises:
        HostError: the file cannot be read: the installation is damaged.
    """
    place = path or resources_dir() / "probes" / FILE
    try:
        with np.load(place, allow_pickle=False) as data:
            return KnownLatencies(
                str(data["engine"]),
                tuple(data["networks"].tolist()),
                tuple(data["targets"].tolist()),
                data["latency_ms"].astype(np.float64),
            )
    except (OSError, ValueError, KeyError, EOFError) as error:
        raise HostError(str(place), f"it cannot be read ({error})", "install again") from error
