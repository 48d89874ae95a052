"""The outcome of a table as a JSON document."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Final

import numpy as np

from predictor.calibration.scores import Answers, Scores, bootstrap
from predictor.services.measurements.draws import Plan
from predictor.services.measurements.experiment import Outcome
from predictor.services.measurements.measured_table import MeasuredTable

SCHEMA: Final = "ctm-evaluation-measurements/1"
REFERENCE: Final = {
    False: "the roofline estimate",
    True: "the roofline estimate times the median of measured over estimate of the probes",
}

Entry = dict[str, object]


def document(table: MeasuredTable, plan: Plan, outcome: Outcome) -> Entry:
    """Return rows and summary; unknown values are None."""
    with_probes = bool((outcome.probes > 0).any())
    return {
        "schema": SCHEMA,
        "engine": outcome.engine,
        "plan": {**asdict(plan), "seeds": outcome.seeds, "roles": _with_roles(table)},
        "reference": REFERENCE[with_probes],
        "left_out": [
            {"target": label, "reason": reason} for label, reason in outcome.left_out.items()
        ],
        "summary": {"all": _all(outcome), "targets": _targets(table, outcome)},
        "rows": [_row(table, outcome, index) for index in range(len(outcome.row))],
    }


def _with_roles(table: MeasuredTable) -> bool:
    return table.rows[0].role is not None


def _all(outcome: Outcome) -> Entry:
    """Return the figures of all rows, with 95 % intervals over draws of targets."""
    intervals = bootstrap(outcome.answers, outcome.target)
    return {
        "targets": len(np.unique(outcome.target)),
        **asdict(Scores.of(outcome.answers)),
        "bootstrap95": {name: list(ends) for name, ends in intervals.items()},
        "reference": asdict(Scores.of(reference_answers(outcome))),
    }


def _targets(table: MeasuredTable, outcome: Outcome) -> list[Entry]:
    reference = reference_answers(outcome)
    entries = []
    for number in np.unique(outcome.target).tolist():
        of_target = outcome.target == number
        measured = table.targets[number]
        entries.append(
            {
                "target": table.rows[int(measured.rows[0])].target,
                "label": measured.label,
                "device": measured.target.device.id,
                "probes": int(outcome.probes[of_target][0]),
                **asdict(Scores.of(outcome.answers.take(of_target))),
                "reference": asdict(Scores.of(reference.take(of_target))),
            }
        )
    return entries


def reference_answers(outcome: Outcome) -> Answers:
    """Return the answers of the reference, which has no intervals."""
    nothing = np.full(len(outcome.row), np.nan)
    return replace(
        outcome.answers,
        predicted_ms=outcome.reference_ms,
        low80_ms=nothing,
        high80_ms=nothing,
        low95_ms=nothing,
        high95_ms=nothing,
    )


def _row(table: MeasuredTable, outcome: Outcome, index: int) -> Entry:
    row = table.rows[int(outcome.row[index])]
    configuration = table.targets[int(outcome.target[index])].target.configuration
    basis = outcome.basis[index]
    return {
        "target": row.target,
        "model": row.model,
        "latency_ms": row.latency_ms,
        **_numbers(outcome, index),
        "basis": None if basis is None else basis.value,
        "seed": int(outcome.seed[index]),
        "probes": int(outcome.probes[index]),
        "line": row.line,
        "runtime": configuration.runtime,
        "precision": configuration.precision.value,
        "threads": configuration.threads,
        "batch": row.batch,
        "problem": outcome.problems[index] or None,
        "out_of_distribution": outcome.out_of_distribution[index] or None,
    }


def _numbers(outcome: Outcome, index: int) -> Mapping[str, float | None]:
    answers = ("predicted_ms", "low80_ms", "high80_ms", "low95_ms", "high95_ms")
    values = {name: float(getattr(outcome.answers, name)[index]) for name in answers}
    values |= {name: float(getattr(outcome, name)[index]) for name in ("bound_ms", "reference_ms")}
    # JSON has no NaN.
    return {name: None if math.isnan(value) else value for name, value in values.items()}
