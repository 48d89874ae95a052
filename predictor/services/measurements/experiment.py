"""Prediction of a measured table: probes go to the engine, the other rows are compared with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

from predictor.calibration.scores import Answers
from predictor.core.caching import IdentityCache
from predictor.core.errors import InputError
from predictor.core.progress import Progress, ProgressCallback, no_progress
from predictor.core.records import Basis, TargetId
from predictor.core.units import significant
from predictor.cost.engine import Engine, PredictionTable, TargetMeasurements
from predictor.cost.roofline import RooflineEngine
from predictor.graph.operator_graph import OperatorGraph
from predictor.services.measurements.draws import Candidates, Draw, Drawer, Plan, Rows
from predictor.services.measurements.measured_table import MeasuredTable
from predictor.services.measurements.table import Problems

Floats = NDArray[np.float64]

UNDER_BOUND: Final = 20.0
"""A latency this many times under its bound is no latency in ms. No published one is 6 times under
its estimate, which is above the bound."""

MAX_DEVIATION: Final = 200.0
"""A latency this many times further from its estimate than its target's median is in another unit.
Published ones are at most 43 times; a wrong unit makes 1000."""

_MIN_ROWS = 3  # a median of fewer identifies no outlier


class Analytic:
    """The roofline of all rows on their targets, and of graphs on the catalogue's targets.

    Args:
        table: the rows.

    Attributes:
        estimate_ms: float64 [rows], NaN where there is none.
        bound_ms: float64 [rows], NaN where there is none.
    """

    def __init__(self, table: MeasuredTable) -> None:
        self._engine = RooflineEngine()
        self._references = table.reference_targets
        self._catalogue_ms: IdentityCache[Floats] = IdentityCache(len(table.graphs))
        self.estimate_ms = np.full(len(table.rows), np.nan)
        self.bound_ms = np.full(len(table.rows), np.nan)
        for measured in table.targets:
            graphs = [table.graphs[row] for row in measured.rows.tolist()]
            prediction = self._engine.predict(graphs, [measured.target], {})
            self.estimate_ms[measured.rows] = prediction.latency_ms[:, 0]
            self.bound_ms[measured.rows] = prediction.bound_ms[:, 0]

    def catalogue_ms(self, graphs: Sequence[OperatorGraph]) -> Floats:
        """Return the estimates on the catalogue's targets that have one, float64 [N, T]."""
        table = np.stack(
            [self._catalogue_ms.get((g,), partial(self._estimates, g)) for g in graphs]
        )
        # DBSel compares complete columns: a target that lacks an estimate is left out.
        return table[:, np.isfinite(table).all(axis=0)]

    def _estimates(self, graph: OperatorGraph) -> Floats:
        estimates: Floats = self._engine.predict([graph], self._references, {}).latency_ms[0]
        return estimates

    def reference_ms(self, draw: Draw, latency_ms: Floats) -> Floats:
        """Return the estimates of the tests, scaled by the median ratio of the probes."""
        ratios = latency_ms[draw.probes] / self.estimate_ms[draw.probes]
        scale = float(np.median(ratios)) if ratios.size else 1.0
        return self.estimate_ms[draw.tests] * scale


def check_units(table: MeasuredTable, analytic: Analytic) -> None:
    """Refuse latencies that cannot be in ms.

    Raises:
        InputError: some are far under their bound, or far from the others of their target;
            each line is named.
    """
    problems = Problems(table.path)
    latency_ms = table.latency_ms
    # Comparisons with NaN are false: rows without a bound pass.
    for row in np.flatnonzero(latency_ms * UNDER_BOUND < analytic.bound_ms).tolist():
        problems.add(
            table.rows[row].line,
            f"latency_ms is {significant(latency_ms[row])}, and no run can take less than "
            f"{significant(analytic.bound_ms[row])} ms",
        )
    # A line under its bound is also far from the others: one sentence on it is enough.
    noted = {line for line, _ in problems.lines}
    # Logarithm: 10 times too long and 10 times too short are equally far.
    ratio = np.log(latency_ms / analytic.estimate_ms)
    for measured in table.targets:
        ratios = ratio[measured.rows]
        if np.isfinite(ratios).sum() < _MIN_ROWS:
            continue
        factors = np.exp(np.abs(ratios - np.nanmedian(ratios)))
        for row, factor in zip(measured.rows.tolist(), factors.tolist(), strict=True):
            if factor > MAX_DEVIATION and table.rows[row].line not in noted:
                problems.add(
                    table.rows[row].line,
                    f"latency_ms is {significant(latency_ms[row])}, {significant(factor)} times "
                    f"off what the other rows of {measured.label} lead to expect",
                )
    problems.lines.sort(key=lambda problem: problem[0])
    problems.check("give every latency in ms, and check the facts of the device")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Outcome:
    """N predictions of rows of a table.

    Attributes:
        engine: name and version.
        seeds: number of draws of probes.
        row: int64 [N], number of the row.
        target: int64 [N], number of the target.
        seed: int64 [N].
        probes: int64 [N], number of probes of the target.
        answers: of the engine.
        bound_ms: float64 [N].
        reference_ms: float64 [N], the roofline times the median ratio of the probes to it; the
            roofline itself without probes.
        basis: N, None where there is no number.
        problems: N, why there is no number, else empty.
        out_of_distribution: N, in words, else empty.
        left_out: targets without a prediction and why.
    """

    engine: str
    seeds: int
    row: Rows
    target: Rows
    seed: Rows
    probes: Rows
    answers: Answers
    bound_ms: Floats
    reference_ms: Floats
    basis: Sequence[Basis | None]
    problems: Sequence[str]
    out_of_distribution: Sequence[str]
    left_out: dict[str, str]


def run_experiment(
    table: MeasuredTable, plan: Plan, engine: Engine, progress: ProgressCallback = no_progress
) -> Outcome:
    """Draw probes and predict the other rows, once a seed.

    Args:
        table: the rows.
        plan: of the probes.
        engine: that predicts.
        progress: called before each call of the engine.

    Raises:
        InputError: no target has rows enough, or latencies are in another unit.
    """
    candidates, left_out = _candidates(table, plan)
    analytic = Analytic(table)
    check_units(table, analytic)
    drawer = Drawer(plan, table.latency_ms, table.graphs, analytic.catalogue_ms)
    seeds = plan.seeds if _is_random(candidates, plan) else 1
    groups = _groups(table, list(candidates))
    parts = []
    for seed in range(seeds):
        for number, group in enumerate(groups):
            progress(Progress(seed * len(groups) + number, seeds * len(groups), f"seed {seed}"))
            draws = {t: drawer.draw(candidates[t], seed, t) for t in group}
            parts.append(_predicted(table, engine, draws, seed, analytic))
    return Outcome(
        engine=engine.name,
        seeds=seeds,
        row=np.concatenate([part.row for part in parts]),
        target=np.concatenate([part.target for part in parts]),
        seed=np.concatenate([part.seed for part in parts]),
        probes=np.concatenate([part.probes for part in parts]),
        answers=Answers.joined([part.answers for part in parts]),
        bound_ms=np.concatenate([part.bound_ms for part in parts]),
        reference_ms=np.concatenate([part.reference_ms for part in parts]),
        basis=[basis for part in parts for basis in part.basis],
        problems=[text for part in parts for text in part.problems],
        out_of_distribution=[text for part in parts for text in part.out_of_distribution],
        left_out=left_out,
    )


def _candidates(table: MeasuredTable, plan: Plan) -> tuple[dict[int, Candidates], dict[str, str]]:
    candidates: dict[int, Candidates] = {}
    left_out: dict[str, str] = {}
    for number, measured in enumerate(table.targets):
        try:
            candidates[number] = Candidates.of(table.rows, measured.rows, plan.probes)
        except InputError as error:
            left_out[measured.label] = error.reason
    if not candidates:
        label, reason = next(iter(left_out.items()))
        raise InputError(label, reason, "give more rows or fewer probes")
    return candidates, left_out


def _is_random(candidates: dict[int, Candidates], plan: Plan) -> bool:
    # D-optimal design reads features alone: it chooses the same whatever the seed.
    return plan.selector != "dopt" and any(c.has_choice for c in candidates.values())


def _groups(table: MeasuredTable, numbers: Sequence[int]) -> list[list[int]]:
    """Part the targets so that no two of a group have one id: an engine's table is keyed by it."""
    groups: list[list[int]] = []
    ids: list[set[TargetId]] = []
    for number in numbers:
        target_id = table.targets[number].target.id
        place = next((i for i, used in enumerate(ids) if target_id not in used), len(groups))
        if place == len(groups):
            groups.append([])
            ids.append(set())
        groups[place].append(number)
        ids[place].add(target_id)
    return groups


def _predicted(
    table: MeasuredTable, engine: Engine, draws: dict[int, Draw], seed: int, analytic: Analytic
) -> Outcome:
    """Predict the tests of targets with ids of their own in one call."""
    targets = [table.targets[number].target for number in draws]
    measured = {
        target.id: _measurements(table, draw.probes)
        for target, draw in zip(targets, draws.values(), strict=True)
        if draw.probes.size
    }
    row = np.concatenate([draw.tests for draw in draws.values()])
    # Target of each test row, [rows]: cells of the [graphs, targets] table are picked by both.
    column = np.repeat(np.arange(len(draws)), [draw.tests.size for draw in draws.values()])
    graphs, place = _distinct([table.graphs[number] for number in row.tolist()])
    prediction = engine.predict(graphs, targets, measured)
    cells = list(zip(place.tolist(), column.tolist(), strict=True))
    latency_ms = table.latency_ms
    return Outcome(
        engine=engine.name,
        seeds=1,
        row=row,
        target=np.array(list(draws), np.int64)[column],
        seed=np.full(len(row), seed, np.int64),
        probes=np.array([draw.probes.size for draw in draws.values()], np.int64)[column],
        answers=_answers(prediction, latency_ms[row], place, column),
        bound_ms=prediction.bound_ms[place, column],
        reference_ms=np.concatenate(
            [analytic.reference_ms(draw, latency_ms) for draw in draws.values()]
        ),
        basis=[prediction.basis[g][t] for g, t in cells],
        problems=[prediction.problems.get(cell, "") for cell in cells],
        out_of_distribution=[prediction.out_of_distribution.get(cell, "") for cell in cells],
        left_out={},
    )


def _measurements(table: MeasuredTable, probes: Rows) -> TargetMeasurements:
    """Return probes as an engine takes them; a table has no spread of their samples."""
    return TargetMeasurements(
        signature_id="",
        graphs=[table.graphs[row] for row in probes.tolist()],
        latency_ms=table.latency_ms[probes],
        noise=np.zeros(len(probes)),
    )


def _distinct(graphs: Sequence[OperatorGraph]) -> tuple[list[OperatorGraph], Rows]:
    """Return each object once, and the place of each of ``graphs`` among them."""
    places: dict[int, int] = {}
    # By identity: equal graphs of a table are one object, and comparing them would take long.
    place = np.array([places.setdefault(id(graph), len(places)) for graph in graphs], np.int64)
    first = {id(graph): graph for graph in graphs}
    return [first[key] for key in places], place


def _answers(
    prediction: PredictionTable, measured_ms: Floats, row: Rows, column: NDArray[np.integer]
) -> Answers:
    return Answers(
        measured_ms=measured_ms,
        predicted_ms=prediction.predicted_ms[row, column],
        low80_ms=prediction.low80_ms[row, column],
        high80_ms=prediction.high80_ms[row, column],
        low95_ms=prediction.low95_ms[row, column],
        high95_ms=prediction.high95_ms[row, column],
    )
