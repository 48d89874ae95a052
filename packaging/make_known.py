"""Write what the pool's networks take on the catalogue's devices, as the shipped engine says.

    python packaging/make_known.py [FOLDER]

To be run when the pool, the catalogue or the checkpoint is another.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from destination import destination

from predictor.core.records import Target
from predictor.probing.networks.graphs import pool_graph
from predictor.probing.networks.known import FILE
from predictor.probing.networks.pool import load_pool
from predictor.services.devices.catalogue import load_catalogue
from predictor.services.prediction.engines import open_engine
from predictor.services.prediction.targets import resolve_targets

FOLDER = Path(__file__).resolve().parent.parent / "resources" / "probes"


def main() -> int:
    """Predict every network on every device that has a number."""
    folder = destination(__doc__, FOLDER)
    names = [network.fingerprint for network in load_pool()]
    graphs = [graph for name in names if (graph := pool_graph(name)) is not None]
    targets = resolve_targets(load_catalogue().devices)
    table = open_engine().predict(graphs, targets, {})
    told = ~np.isnan(table.latency_ms).any(axis=0)
    keys = tuple(_key(target) for target, is_told in zip(targets, told, strict=True) if is_told)
    with (folder / FILE).open("wb") as file:
        np.savez_compressed(
            file,
            engine=np.array(table.engine),
            networks=np.array(names),
            targets=np.array(keys),
            latency_ms=table.latency_ms[:, told].astype(np.float32),
        )
    return 0


def _key(target: Target) -> str:
    """Return the text of a target in the file, which keeps the configuration as it is listed."""
    c = target.configuration
    return f"{target.device.id}/{c.runtime}/{c.precision}/t{c.threads}/b{c.batch}"


if __name__ == "__main__":
    sys.exit(main())
