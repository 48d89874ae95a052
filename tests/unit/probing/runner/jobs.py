"""Jobs of a block of the runner."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from tests.support.probe_plans import QUICK


def job(path: Path, **changes: Any) -> dict[str, Any]:
    configuration = {
        "provider": "CPUExecutionProvider",
        "provider_options": {},
        "threads": 1,
        "affinity": [],
        "graph_optimisation": "all",
        **changes.pop("configuration", {}),
    }
    settings = {**asdict(QUICK), **changes.pop("settings", {})}
    return {
        "path": str(path),
        "inputs": {},
        "configuration": configuration,
        "settings": settings,
        **changes,
    }
