"""Choices of targets that a network which is trained now distinguishes, as its inputs have them."""

from __future__ import annotations

from typing import Final

from predictor.core.metrics import Family
from predictor.core.records import Precision
from predictor.core.runtimes import RUNTIMES
from predictor.network.target_facts import CHOICE_KINDS

# A checkpoint has its own list. A target whose runtime is not among them has none of that kind.
CHOICES: Final = (
    *(f"runtime {row.name}" for row in RUNTIMES.values() if row.is_learned),
    *(f"precision {precision}" for precision in Precision),
    *(f"family {family}" for family in Family),
)
OF_KIND: Final = tuple(CHOICE_KINDS.index(choice.partition(" ")[0]) for choice in CHOICES)
