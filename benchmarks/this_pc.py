"""Errors of predictions of this PC: from facts, two rates, ten seconds and twelve probes.

    python -m benchmarks.real_networks FOLDER
    python -m benchmarks.this_pc --networks FOLDER --output docs/results [--kept FOLDER]

The ten seconds are measured as the product does it, in a store of their own, with the two rates
that the first prediction measures: the matrix product is evidence of its own. Then a
usual session of twelve networks is measured with the real networks in between: visits of
``benchmarks.probe_accuracy``, so that a machine that changes its speed does so for all. Thirteen
real networks count, of convolutions and of attention; none of them is a probe. They are predicted
through the product's service. ``--threads 0`` asks the same of all cores: the page then also says
what the ten seconds under one thread alone would be worth there. The machine has to be idle, for
ten minutes. With ``--kept`` what was measured is kept in that folder and not measured again.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import Table, add_arguments, add_kept, kept_folder, publish
from benchmarks.probe_accuracy import (
    LIMIT_S,
    PROBES,
    Floats,
    Kept,
    Real,
    errors,
    in_words,
    visited,
)
from benchmarks.real_sets import THIRTEEN
from predictor.core.prediction import Prediction
from predictor.core.records import Target, TargetId
from predictor.core.units import significant
from predictor.cost.engine import TargetMeasurements
from predictor.devices.schema import device_from_object, device_to_object
from predictor.presentation.wording import percent
from predictor.probing.choice import PlanRequest
from predictor.probing.measuring.interface import RunConfiguration
from predictor.services.models.ingestion import IngestionWorker
from predictor.services.prediction.engines import CLOSERTOME
from predictor.services.prediction.predict import predict
from predictor.services.probing.plan import probe_target
from predictor.services.probing.quick import Refusal, probe_quickly
from predictor.services.signatures.user_signatures import read_user_signatures
from predictor.store.database import open_database

FACTS, RATES, QUICK, LONG = "facts", "two rates", "ten seconds", "twelve probes"
# Median and largest error.
LIMITS = {RATES: (0.25, 0.60), QUICK: (0.15, 0.60), LONG: (0.10, 0.35)}
SECONDS_LIMIT = 12.0
Measured = Mapping[TargetId, TargetMeasurements]


def quick_probing(kept: Kept) -> dict[str, Any]:
    """Measure the ten seconds, or return what was kept of them."""
    earlier: dict[str, Any] | None = kept.document("quick")
    if earlier is not None:
        return earlier
    probing = probe_quickly(kept.folder / "quick.db")
    if isinstance(probing, Refusal):
        raise SystemExit(probing.words)
    document = {
        "seconds": probing.seconds,
        "networks": probing.networks,
        "device": device_to_object(probing.device, {}),
    }
    kept.keep("quick", document)
    return document


def measured_in(path: Path, target: Target) -> Measured:
    """Return the measurements in a store that count for a target, by target."""
    with closing(open_database(path)) as database:
        return read_user_signatures(database).of([target])


def main() -> int:
    """Print the table; return 1 where a limit is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_arguments(parser, repeats=1)
    parser.add_argument("--networks", type=Path, required=True, help="folder of ONNX files")
    parser.add_argument("--threads", type=int, default=1, help="default: 1; 0: all cores")
    add_kept(parser)
    options = parser.parse_args()
    with kept_folder(options) as folder:
        return _compare(options, Kept(folder))


def _compare(options: argparse.Namespace, kept: Kept) -> int:
    quick = quick_probing(kept)
    device = device_from_object(quick["device"], "device").device
    target = probe_target(device, options.threads)
    files = [options.networks / f"{name}.onnx" for name in THIRTEEN]
    with IngestionWorker() as worker:
        models = [worker.ingest(str(path)) for path in files]
    request = PlanRequest(
        target=target,
        probes=PROBES,
        budget_s=LIMIT_S,
        configuration=RunConfiguration(threads=target.threads),
        live=True,
    )
    name = f"t{target.threads}-visits"
    real = visited(kept, name, request, files, models, use_anyway=True)
    of_quick = measured_in(kept.folder / "quick.db", target)
    sources: dict[str, Measured] = {RATES: {}, QUICK: of_quick}
    for key in of_quick if len(of_quick) > 1 else ():
        sources[f"{QUICK}, t{key.threads} alone"] = {key: of_quick[key]}
    sources[LONG] = measured_in(kept.folder / f"{name}.db", target)
    networks = [network.model for network in real]
    without_rates = replace(target, device=replace(device, measured={}))
    predictions = {
        FACTS: predict(networks, [without_rates]),
        **{
            source: predict(networks, [target], measured=measured)
            for source, measured in sources.items()
        },
    }
    _publish(options, quick, target, real, predictions)
    return 0 if quick["seconds"] <= SECONDS_LIMIT and _within_limits(predictions, real) else 1


def _within_limits(by_source: Mapping[str, Sequence[Prediction]], real: Sequence[Real]) -> bool:
    sizes: dict[str, Floats] = {name: np.abs(errors(by_source[name], real)) for name in LIMITS}
    return all(
        np.median(sizes[name]) <= median and sizes[name].max() <= largest
        for name, (median, largest) in LIMITS.items()
    )


def _publish(
    options: argparse.Namespace,
    quick: Mapping[str, Any],
    target: Target,
    real: Sequence[Real],
    by_source: Mapping[str, Sequence[Prediction]],
) -> None:
    source_errors = [errors(predictions, real) for predictions in by_source.values()]
    rows = [
        (
            network.name,
            significant(network.median_ms, 4),
            f"{significant(min(network.visits_ms))} to {significant(max(network.visits_ms))}",
            *(percent(float(of_source[place]), signed=True) for of_source in source_errors),
        )
        for place, network in enumerate(real)
    ]
    figures = [
        {
            "network": network.name,
            "measured_ms": network.median_ms,
            "visits_ms": network.visits_ms,
            **{
                f"{source}_ms": predictions[place].latency_ms
                for source, predictions in by_source.items()
            },
        }
        for place, network in enumerate(real)
    ]
    busy = float(np.median([network.others_cores for network in real]))
    notes = [
        *(f"{source}: {in_words(predictions, real)}." for source, predictions in by_source.items()),
        f"The ten seconds took {quick['seconds']:.1f} s, for {quick['networks']} networks.",
        f"Other programs used {busy:.1f} cores while the real networks were measured.",
        *(
            f"Limits after {name}: median {percent(median)}, largest {percent(largest)}."
            for name, (median, largest) in LIMITS.items()
        ),
    ]
    threads = "one thread" if target.threads == 1 else f"{target.threads} threads"
    title = f"Thirteen real networks on this PC, {threads}"
    table = Table(("network", "measured ms", "visits", *by_source), rows)
    name = "this-pc" if options.threads == 1 else "this-pc-all-threads"
    publish(name, title, table, figures, options.output, notes, CLOSERTOME)


if __name__ == "__main__":
    sys.exit(main())
