"""Errors of prompts by the joules that an operation is taken to cost, on silicon left out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from ctm_research.generation.fit import Row, fit, predicted_seconds
from ctm_research.generation.make import BACKENDS as KINDS
from ctm_research.generation.spread import left_out
from predictor.cost.rates.facts import FLOPS_PER_MAC
from predictor.cost.rates.power import sustained_product_macs_per_s
from predictor.language.rates import Coefficients, Group, Phase

ENERGIES: Final = (0.0, 1.2e-12, 1.4e-12, 1.6e-12, 1.8e-12)
"""Joules of an operation that were tried; 0 takes rates as stated."""

_BACKENDS: Final = ("cuda", "metal", "vulkan")


def sustained_figures(rows: Sequence[Row]) -> list[dict[str, object]]:
    """Return the errors of prompts by backend and energy, coefficients alone, in percent.

    Args:
        rows: of all backends.
    """
    figures: list[dict[str, object]] = []
    for backend in _BACKENDS:
        of = [row for row in rows if row.rate.backend == backend and row.rate.counts]
        if not of:
            continue
        start = fit(of, KINDS[backend].usual)
        prompts = [row for row in of if row.rate.phase is Phase.PREFILL]
        figures += [{"backend": backend, **_figure(prompts, start, each)} for each in ENERGIES]
    return figures


def _figure(rows: Sequence[Row], start: Coefficients, energy: float) -> dict[str, object]:
    with_energy = [_at(row, energy) for row in rows]
    errors: dict[tuple[str, Group], list[float]] = defaultdict(list)
    for out in left_out(with_energy):
        c = fit([row for row in with_energy if row.silicon != out[0].silicon], start)
        for row in out:
            errors[row.cell].append(abs(predicted_seconds(row, c) / row.rate.seconds - 1))
    cells = np.array([np.median(of) for of in errors.values()])
    return {
        "picojoules": round(energy * 1e12, 3),
        "devices": len({device for device, _ in errors}),
        "median_error_percent": round(100 * float(np.median(cells)), 1),
        "mean_error_percent": round(100 * float(cells.mean()), 1),
    }


def _at(row: Row, energy: float) -> Row:
    stated = row.machine.stated_matrix / FLOPS_PER_MAC
    matrix = FLOPS_PER_MAC * sustained_product_macs_per_s(row.rate.device, stated, energy)
    return replace(row, machine=replace(row.machine, matrix=matrix))
