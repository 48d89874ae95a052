"""Choose the reference networks of the ten seconds of this machine, in the order of measuring.

    python packaging/make_quick.py [FILE]

The information-optimal choice among the small networks of the pool, for one thread of a laptop.
It ships, as choosing takes longer than measuring: PCs of other makes get the same networks.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Final

from destination import destination

from predictor.probing.networks.pool import PoolNetwork, load_pool
from predictor.probing.networks.quick import FILE, SCHEMA
from predictor.probing.selection.operator_design import OperatorDesign
from predictor.services.devices.catalogue import load_catalogue
from predictor.services.probing.expectation import beliefs_of
from predictor.services.probing.plan import probe_target

TARGET: Final = Path(__file__).resolve().parent.parent / "resources" / "probes" / FILE
DEVICE: Final = "core-i7-1165g7"
COUNT: Final = 8
# So that a run takes milliseconds, which other programs seldom interrupt, and a file is written at
# once.
LARGEST_MACS: Final = 150_000_000
LARGEST_PARAMETERS: Final = 2_500_000


def chosen() -> list[PoolNetwork]:
    """Return the networks, the most informative first.

    Raises:
        RuntimeError: the engine is one without operators.
    """
    pool = load_pool()
    beliefs = beliefs_of(probe_target(load_catalogue().by_id[DEVICE], 1))
    if beliefs is None:
        raise RuntimeError("the usual engine predicts no operators, by which networks are chosen")
    small = [
        (network, work)
        for network, work in zip(pool, beliefs.works, strict=True)
        if network.macs <= LARGEST_MACS and network.parameters <= LARGEST_PARAMETERS
    ]
    design = OperatorDesign([work for _, work in small], beliefs.requested)
    return [small[place][0] for place in design.choose(COUNT)]


def main() -> int:
    """Write their names."""
    path = destination(__doc__, TARGET)
    document = {"schema": SCHEMA, "networks": [network.name for network in chosen()]}
    path.write_text(f"{json.dumps(document, indent=1)}\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
