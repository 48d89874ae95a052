"""The reference networks of the ten seconds of this machine, in the order of measuring.

``packaging/make_quick.py`` chooses them once for all PCs: to choose takes longer than to measure.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from predictor.core.errors import HostError
from predictor.core.resources import resources_dir
from predictor.probing.networks.pool import PoolNetwork, load_pool

FILE: Final = "quick.json"
SCHEMA: Final = "ctm-quick-probes/1"


def load_quick(path: Path | None = None) -> tuple[PoolNetwork, ...]:
    """Return the networks, the most informative first.

    Args:
        path: of the file; None for the one that ships.

    Raises:
        HostError: the file cannot be read: the installation is damaged.
    """
    path = path or resources_dir() / "probes" / FILE
    pool = {network.name: network for network in load_pool()}
    try:
        names = json.loads(path.read_text(encoding="utf-8"))["networks"]
        return tuple(pool[name] for name in names)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise HostError(str(path), f"it cannot be read ({error})", "install again") from error
