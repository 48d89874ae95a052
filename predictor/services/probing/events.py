"""The events of a probe run, as the window and the command line see them."""

from __future__ import annotations

from dataclasses import dataclass

from predictor.core.units import significant
from predictor.presentation.wording import percent
from predictor.probing.measuring.interface import NetworkDone, ProbeEvent
from predictor.probing.runner.settings import Settings

DRIFT_LIMIT = Settings().drift
"""A sentinel whose medians differ by more than this share has drifted."""


@dataclass(frozen=True, slots=True)
class ProbesChosen:
    """Networks chosen by the measurements of the session so far; they are measured next.

    Attributes:
        names: of the networks.
        again: whether they were inconclusive and are measured again, as there is time left.
    """

    names: tuple[str, ...]
    again: bool = False


SessionEvent = ProbeEvent | ProbesChosen
"""Events of a session: those of its runner, and the choice of further networks."""


def drift_words(drift: float) -> str:
    """Drift of the sentinel, in a sentence."""
    if drift <= DRIFT_LIMIT:
        return f"Steady machine ({percent(drift)} drift)."
    return f"The machine changed its speed ({percent(drift)} drift): repeat when idle."


def done_words(event: NetworkDone) -> str:
    """Return the result of a network in a few words: ``12.3 ms, steady``."""
    median_ms = event.document.get("median_ms")
    if median_ms is None:
        return "inconclusive: its blocks differ"
    return f"{significant(float(median_ms), 4)} ms, {event.document['verdict']}"
