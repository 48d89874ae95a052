"""Public measurements of queues at a stated rate, beside the simulation of ``ctm serve``.

    python -m benchmarks.queues --output docs/results

Nothing is fitted to these rows; those of eight cards are an eighth of the rate on one. Prompts of
MLPerf's requests are taken to be as long as the answers, of which the logs state the mean.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Final

from benchmarks.common import Table, parse_arguments, publish
from ctm_research.generation.models import MODELS
from predictor.language.architecture import DecoderArchitecture
from predictor.services.devices.catalogue import load_catalogue
from predictor.services.generation.records import GenerationRequest
from predictor.services.serving.records import Between, Load
from predictor.services.serving.serve import serve

ROWS: Final = Path(__file__).with_name("queues.csv")
# In place of a model that the published rates of research lack.
_PHI: Final = replace(MODELS["Phi-4-14B"], name="Phi-3-14B", vocabulary=32_064)
_MOST_SEQUENCES: Final = 2048


def model_of(name: str) -> DecoderArchitecture:
    """Return a decoder by its name."""
    return _PHI if name == _PHI.name else MODELS[name]


def judged() -> Iterator[dict[str, object]]:
    """Yield each row with the predicted figures and their 80 % intervals."""
    catalogue = load_catalogue()
    with ROWS.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            run = GenerationRequest(
                prompt=int(row["prompt"]),
                new=int(row["new"]),
                weights=row["weights"],
                kv_precision=row["kv"],
                runtime=row["runtime"],
            )
            load = Load(
                run=run,
                rate_per_s=float(row["rate_per_s"]),
                max_sequences=_MOST_SEQUENCES,
                chunk=int(row["chunk"]),
                requests=4000,
            )
            (serving,) = serve(model_of(row["model"]), [catalogue.find(row["device"])], load)
            yield {
                **row,
                "first": serving.first and serving.first.p50,
                "token": serving.token and serving.token.p50,
                "most": serving.capacity_per_s,
            }


def _cells(row: Mapping[str, object]) -> list[str]:
    pairs = (("first_ms", "first"), ("token_ms", "token"), ("most_per_s", "most"))
    figures = [text for one, two in pairs for text in (str(row[one] or "-"), _shown(row[two]))]
    return [str(row[name]) for name in ("source", "device", "model", "rate_per_s")] + figures


def _shown(value: object) -> str:
    if not isinstance(value, Between):
        return "-"
    high = f"{value.high:.3g}" if math.isfinite(value.high) else "-"
    return f"{value.median:.3g} ({value.low:.3g} to {high})"


def _errors(rows: list[dict[str, object]], published: str, predicted: str) -> list[float]:
    return [
        value.median / float(str(row[published])) - 1
        for row in rows
        if row[published] and isinstance(value := row[predicted], Between)
    ]


def main() -> None:
    """Predict the rows, and publish the table."""
    options = parse_arguments(__doc__, repeats=1)
    rows = list(judged())
    header = ("source", "device", "model", "requests/s", "first token, ms", "predicted")
    header += ("a token, ms", "predicted", "at most/s", "predicted")
    errors = {
        name: _errors(rows, *pair)
        for name, pair in {
            "first token": ("first_ms", "first"),
            "a token": ("token_ms", "token"),
            "the largest rate": ("most_per_s", "most"),
        }.items()
    }
    notes = [
        f"Median error of {name}: {median(map(abs, of)):.0%} of {len(of)} rows."
        for name, of in errors.items()
    ]
    notes += [
        "Medians, with 80 % intervals; no figure where the load is over the predicted capacity.",
        (
            "MLPerf: github.com/mlcommons/inference_results_v4.1, mlperf_log_summary.txt of Server "
            "and Offline. vLLM's benchmark of 2024 was read in a copy; its prompts have some 220 "
            "tokens, its answers 200."
        ),
    ]
    table = Table(header, [_cells(row) for row in rows])
    title = "Public queues of language models beside ctm serve"
    figures = [{name: _plain(value) for name, value in row.items()} for row in rows]
    publish("queues", title, table, figures, options.output, notes)


def _plain(value: object) -> object:
    if not isinstance(value, Between):
        return value
    high = value.high if math.isfinite(value.high) else None
    return {"median": value.median, "low80": value.low, "high80": high}


if __name__ == "__main__":
    main()
