"""Where a measurement comes from, as far as its provenance tells."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from predictor.core.records import Measurement


@dataclass(frozen=True, slots=True)
class Provenance:
    """Facts of a measurement; None where nothing tells.

    Attributes:
        network: name of what was measured, empty where a file has none.
        source: local, ssh, kit or import.
        verdict: steady or noisy, of our own runner.
        words: the verdict for people.
        note: of the user.
        operators: nodes as ``[name, op_type, time_ns]``.
    """

    network: str | None
    source: str | None
    verdict: str | None
    words: str | None
    note: str | None
    operators: list[Any] | None

    @classmethod
    def of(cls, measurement: Measurement) -> Provenance:
        """Read the provenance of a measurement."""
        facts = json.loads(measurement.provenance)
        names = ("network", "source", "verdict", "words", "note", "operators")
        return cls(*(facts.get(name) for name in names))
