"""How near predictions of this PC come: from facts, after the ten seconds, after twelve probes.

    python -m benchmarks.real_networks FOLDER
    python -m benchmarks.this_pc --networks FOLDER --output docs/results [--kept FOLDER]

The ten seconds are measured as the product does it, in a store of their own, with the rates. Then a
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
    VISIT_SHARE,
    VISITS,
    Beside,
    Floats,
    Kept,
    Real,
    as_file,
    errors,
    in_words,
    real_of,
    visit_name,
)
from benchmarks.real_sets import THIRTEEN
from predictor.core.prediction import Prediction
from predictor.core.records import Target, TargetId
from predictor.core.units import significant
from predictor.cost.engine import TargetMeasurements
from predictor.devices.schema import device_from_object, device_to_object
from predictor.graph.model import Model
from predictor.presentation.wording import percent
from predictor.probing.choice import PlanRequest
from predictor.probing.measuring.interface import RunConfiguration
from predictor.services.models.ingestion import IngestionWorker
from predictor.services.prediction.engines import CLOSERTOME
from predictor.services.prediction.predict import predict
from predictor.services.probing.measure import measure
from predictor.services.probing.open import open_probing
from predictor.services.probing.plan import plan_probes, probe_target
from predictor.services.probing.quick import Refusal, probe_quickly
from predictor.services.signatures.user_signatures import read_user_signatures
from predictor.store.database import open_database

FACTS, QUICK, LONG = "facts", "ten seconds", "twelve probes"
LIMITS = {QUICK: (0.15, 0.60), LONG: (0.10, 0.35)}  # median and largest error
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


def visited(
    kept: Kept, target: Target, files: Sequence[Path], models: Sequence[Model]
) -> list[Real]:
    """Measure a usual session with visits to real networks in between."""
    name = f"t{target.threads}"
    entries: dict[str, Any] | None = kept.document(f"{name}-visits")
    if entries is None:
        networks = [as_file(path, model) for path, model in zip(files, models, strict=True)]
        visits = [
            replace(network, name=visit_name(network.name, visit))
            for network in networks
            for visit in range(VISITS)
        ]
        runner = Beside(visits, PROBES)
        request = PlanRequest(
            target=target,
            probes=PROBES,
            budget_s=LIMIT_S,
            configuration=RunConfiguration(threads=target.threads),
            live=True,
        )
        plan = plan_probes(request)
        budget_s = LIMIT_S * (1 + VISIT_SHARE * len(visits) / PROBES)
        plan = replace(plan, request=replace(plan.request, budget_s=budget_s))
        with open_probing(kept.folder / f"{name}.db") as probing:
            session = probing.sessions.start(plan)
            for _ in measure(probing.sessions, session.id, runner, use_anyway=True):
                pass
        entries = runner.entries
        kept.keep(f"{name}-visits", entries)
    pairs = zip(files, models, strict=True)
    reals = (real_of(path.stem, model, entries) for path, model in pairs)
    return [real for real in reals if real is not None]


def measured_in(path: Path, target: Target) -> Measured:
    """Return what a store has of the target's device."""
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
    real = visited(kept, target, files, models)
    of_quick = measured_in(kept.folder / "quick.db", target)
    sources: dict[str, Measured] = {FACTS: {}, QUICK: of_quick}
    for key in of_quick if len(of_quick) > 1 else ():
        sources[f"{QUICK}, t{key.threads} alone"] = {key: of_quick[key]}
    sources[LONG] = measured_in(kept.folder / f"t{target.threads}.db", target)
    ways = {
        name: predict([network.model for network in real], [target], measured=measured)
        for name, measured in sources.items()
    }
    _publish(options, quick, target, real, ways)
    return 0 if quick["seconds"] <= SECONDS_LIMIT and _hold(ways, real) else 1


def _hold(ways: Mapping[str, Sequence[Prediction]], real: Sequence[Real]) -> bool:
    sizes: dict[str, Floats] = {name: np.abs(errors(ways[name], real)) for name in LIMITS}
    return all(
        np.median(sizes[name]) <= median and sizes[name].max() <= largest
        for name, (median, largest) in LIMITS.items()
    )


def _publish(
    options: argparse.Namespace,
    quick: Mapping[str, Any],
    target: Target,
    real: Sequence[Real],
    ways: Mapping[str, Sequence[Prediction]],
) -> None:
    by_way = [errors(predictions, real) for predictions in ways.values()]
    rows = [
        (
            network.name,
            significant(network.median_ms, 4),
            f"{significant(min(network.visits_ms))} to {significant(max(network.visits_ms))}",
            *(percent(float(of_way[place]), signed=True) for of_way in by_way),
        )
        for place, network in enumerate(real)
    ]
    figures = [
        {
            "network": network.name,
            "measured_ms": network.median_ms,
            "visits_ms": network.visits_ms,
            **{f"{way}_ms": predictions[place].latency_ms for way, predictions in ways.items()},
        }
        for place, network in enumerate(real)
    ]
    busy = float(np.median([network.others_cores for network in real]))
    notes = [
        *(f"{way}: {in_words(predictions, real)}." for way, predictions in ways.items()),
        f"The ten seconds took {quick['seconds']:.1f} s, for {quick['networks']} networks.",
        f"Other programs used {busy:.1f} cores while the real networks were measured.",
        *(
            f"Limits after {name}: median {percent(median)}, largest {percent(largest)}."
            for name, (median, largest) in LIMITS.items()
        ),
    ]
    threads = "one thread" if target.threads == 1 else f"{target.threads} threads"
    title = f"Thirteen real networks on this PC, {threads}"
    table = Table(("network", "measured ms", "visits", *ways), rows)
    name = "this-pc" if options.threads == 1 else "this-pc-all-threads"
    publish(name, title, table, figures, options.output, notes, CLOSERTOME)


if __name__ == "__main__":
    sys.exit(main())
