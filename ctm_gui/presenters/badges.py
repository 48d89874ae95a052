"""Words in a frame beside a bar: the basis of its number, and doubt."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from predictor.core.records import Basis, Prediction


class BadgeStyle(StrEnum):
    """Outline of a badge: the firmer its statement, the firmer the line."""

    FILLED = "filled"
    OUTLINED = "outlined"
    DASHED = "dashed"
    PLAIN = "plain"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Badge:
    """A word in a frame beside a bar."""

    text: str
    style: BadgeStyle


_BASIS_STYLES = {
    Basis.MEASURED: BadgeStyle.FILLED,
    Basis.PROBED: BadgeStyle.OUTLINED,
    Basis.ZERO_SHOT: BadgeStyle.DASHED,
    Basis.ANALYTIC: BadgeStyle.PLAIN,
}


def badges_of(prediction: Prediction) -> tuple[Badge, ...]:
    """Return what a number rests on, and whether the engine knows such models and devices."""
    if prediction.latency_ms is None or prediction.basis is None:
        return ()
    basis = Badge(prediction.basis.value, _BASIS_STYLES[prediction.basis])
    if not prediction.out_of_distribution:
        return (basis,)
    return (basis, Badge("uncertain", BadgeStyle.WARNING))
