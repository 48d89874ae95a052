"""Whether a graph is one of the reference networks, which keep their former fingerprints."""

from __future__ import annotations

from functools import cache

from predictor.core.resources import resources_dir


def is_reference(fingerprint: str) -> bool:
    """Return whether a network of the shipped pool has a fingerprint."""
    return bool(fingerprint) and f'"{fingerprint}"' in _pool_text()


@cache
def _pool_text() -> str:
    # As text: parsing it would take longer than reading a small model.
    return (resources_dir() / "probes" / "pool.json").read_text(encoding="utf-8")
