"""Errors of the works that query heads may have, by the context of tokens, on silicon left out.

Three works are tried one at a time: keys and values that each head reads itself, arithmetic over
the vector rate, one thread block a score. Each kind of silicon is left out in turn, and the growth
of a token's time from the shortest to the longest context of a model is compared; the level of a
device, which is no matter of attention, cancels. The work that the rest would choose by leaving out
its own silicon is counted too.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from ctm_research.generation.fit import USUAL, Row, fit, predicted_seconds, spans
from ctm_research.generation.spread import left_out
from predictor.language.rates import Coefficients, Phase

WORKS: Final[Mapping[str, Coefficients]] = {
    "bytes of each head": replace(USUAL, head_bytes=2.0),
    "arithmetic": replace(USUAL, head_flops=4.0),
    "a thread block a score": replace(USUAL, head_step=1.0),
}
_BACKENDS: Final = ("cuda", "metal")
_FEWEST: Final = 2  # kinds of silicon with long contexts


def head_figures(rows: Sequence[Row]) -> list[dict[str, object]]:
    """Return the errors of growth with the context by backend and work, in percent of the time.

    Args:
        rows: of all backends.
    """
    figures: list[dict[str, object]] = []
    for backend in _BACKENDS:
        of = [r for r in rows if r.rate.backend == backend and r.rate.phase is Phase.DECODE]
        of = [row for row in of if row.rate.counts and not row.rate.fused]
        measured = [out[0].silicon for out in left_out(of) if spans(out)]
        if not measured:
            continue
        # To choose, the rest has to have long contexts on two kinds of silicon.
        chosen = Counter(_chosen(of, silicon) for silicon in measured if len(measured) > _FEWEST)
        for work, start in WORKS.items():
            errors = np.array(_errors(of, start))
            figures.append(
                {
                    "backend": backend,
                    "work": work,
                    "models": len(errors),
                    "median_error_percent": round(100 * float(np.median(errors)), 1),
                    "worst_error_percent": round(100 * float(errors.max()), 1),
                    "chosen_by": chosen[work],
                }
            )
    return figures


def _errors(rows: Sequence[Row], start: Coefficients) -> list[float]:
    """Return the errors of growth on silicon left out, as logarithms."""
    errors = []
    for out in left_out(rows):
        if ends := spans(out):
            c = fit([row for row in rows if row.silicon != out[0].silicon], start)
            log_errors = [math.log(predicted_seconds(row, c) / row.rate.seconds) for row in out]
            errors += [abs(log_errors[long] - log_errors[short]) for short, long in ends]
    return errors


def _chosen(rows: Sequence[Row], silicon: str) -> str:
    """Return the work that has the least error on the other silicon, each left out in turn."""
    rest = [row for row in rows if row.silicon != silicon]
    return min(WORKS, key=lambda work: float(np.median(_errors(rest, WORKS[work]))))
