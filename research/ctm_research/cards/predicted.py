"""The rows of a timed table beside what the engine that ships predicts, nothing measured."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from predictor.core.progress import ProgressCallback, no_progress
from predictor.services.devices.catalogue import Catalogue
from predictor.services.measurements.draws import Plan
from predictor.services.measurements.experiment import run_experiment
from predictor.services.measurements.measured_table import open_measured_table
from predictor.services.prediction.engines import open_engine


@dataclass(frozen=True, slots=True)
class PredictedRow:
    """One row of a table.

    Attributes:
        model: name of its graph.
        precision: of the run.
        batch: of the run.
        measured_ms: latency as timed.
        predicted_ms: P50 of the engine.
        low80_ms: low end of its 80 % interval.
        high80_ms: high end of it.
    """

    model: str
    precision: str
    batch: int
    measured_ms: float
    predicted_ms: float
    low80_ms: float
    high80_ms: float


def predicted_rows(
    path: Path, graphs: Path, catalogue: Catalogue, progress: ProgressCallback = no_progress
) -> list[PredictedRow]:
    """Predict each row of a table, in its order.

    Args:
        path: table in the form of ``ctm evaluate measurements``; each row states precision and
            batch.
        graphs: folder with a file ``MODEL.onnx`` for each model of the table.
        catalogue: the shipped devices.
        progress: told of each reading.

    Raises:
        InputError: the table or a graph is missing or damaged.
    """
    table = open_measured_table(path, graphs, graphs, catalogue, progress)
    outcome = run_experiment(table, Plan(0, "random", 1), open_engine(""), progress)
    place = {row: number for number, row in enumerate(outcome.row.tolist())}
    answers = outcome.answers
    rows = []
    for number, row in enumerate(table.rows):
        at = place[number]
        rows.append(
            PredictedRow(
                row.model,
                str(row.precision),
                row.batch or 1,
                row.latency_ms,
                float(answers.predicted_ms[at]),
                float(answers.low80_ms[at]),
                float(answers.high80_ms[at]),
            )
        )
    return rows
