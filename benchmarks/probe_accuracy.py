"""How near predictions come on this machine after probing: real networks that are no probes.

    python -m benchmarks.real_networks FOLDER
    python -m benchmarks.probe_accuracy --networks FOLDER --output docs/results [--kept FOLDER]

For each selector a session is planned and measured live, as the product does it: k = 12, one
thread, at most five minutes, this machine with measured rates. Then the runner measures the
networks of the folder by the same protocol, and they are predicted through the product's service:
before anything was measured, and from each signature. With ``--kept`` what was measured is kept in
that folder and not measured again.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.common import Table, add_arguments, publish
from predictor.core.records import Device, Prediction, Target
from predictor.core.units import significant
from predictor.devices.schema import device_from_object, device_to_object
from predictor.probing.measuring.interface import MeasuringPlan, NetworkDone, NetworkFile
from predictor.probing.measuring.local import LocalRunner
from predictor.services.ingestion import IngestionWorker, Model
from predictor.services.own_signatures import read_own_signatures
from predictor.services.prediction import predict
from predictor.services.probing import open_probing
from predictor.services.probing_plan import Wish, plan_probes, probe_target
from predictor.services.signature_fit import LeftOut, errors_in_words
from predictor.services.this_machine import describe_this_machine, with_measured
from predictor.store.database import open_database

PROBES, THREADS, LIMIT_S = 12, 1, 300.0
MEDIAN_LIMIT, WORST_LIMIT = 0.10, 0.35
SELECTORS = ("dbsel", "iopt", "adaptive")  # the first one is the product's usual
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Real:
    """A real network that was measured."""

    name: str
    model: Model
    median_ms: float
    verdict: str
    others_cores: float


@dataclass(frozen=True, slots=True)
class Kept:
    """The folder that what was measured is kept in."""

    folder: Path

    def document(self, name: str) -> Any:
        """Return what was kept under a name; None where nothing was."""
        path = self.folder / f"{name}.json"
        return json.loads(path.read_text()) if path.exists() else None

    def keep(self, name: str, document: object) -> None:
        """Keep a document under a name."""
        beside = self.folder / f"{name}.part"
        beside.write_text(json.dumps(document))
        beside.rename(self.folder / f"{name}.json")


@dataclass(frozen=True, slots=True)
class Probed:
    """What a signature tells: P50 of each real network with its interval, and of the probes."""

    selector: str
    seconds: float
    measured: int
    predictions: Sequence[Prediction]
    left_out: Sequence[LeftOut]


def this_device(kept: Kept) -> Device:
    """Return this machine with its rates; measured once."""
    known = kept.document("device")
    if known is None:
        known = device_to_object(with_measured(describe_this_machine()), {})
        kept.keep("device", known)
    return device_from_object(known, "device").device


def probe(
    kept: Kept,
    target: Target,
    selector: str,
    probes: int = PROBES,
    limit_s: float = LIMIT_S,
) -> float:
    """Measure a session of the product's own plan, and return how long that took in seconds."""
    known = kept.document(selector)
    if known is not None:
        return float(known["seconds"])
    begun = time.monotonic()
    plan = plan_probes(Wish(target, probes, selector, budget_s=limit_s, live=True))
    with open_probing(kept.folder / f"{selector}.db") as probing:
        session = probing.start(plan)
        for _ in probing.run(session.id, LocalRunner()):
            pass
    seconds = time.monotonic() - begun
    kept.keep(selector, {"seconds": seconds})
    return seconds


def measured(
    kept: Kept, files: Sequence[Path], models: Sequence[Model], tries: int
) -> dict[str, Any]:
    """Return the runner's entry of each real network by its name.

    Those that are kept stay; what is inconclusive is measured again, as a user would.
    """
    entries: dict[str, Any] = kept.document("networks") or {}
    found = [_file(path, model) for path, model in zip(files, models, strict=True)]
    for _ in range(tries):
        missing = [file for file in found if _median_ms(entries, file.name) is None]
        plan = MeasuringPlan("0" * 32, tuple(missing))
        for event in LocalRunner().run(plan) if missing else ():
            if isinstance(event, NetworkDone):
                entries[event.name] = dict(event.document)
                kept.keep("networks", entries)
    return entries


def _file(path: Path, model: Model) -> NetworkFile:
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    return NetworkFile(path.stem, path, sha256, model.graph.fingerprint)


def _median_ms(entries: Mapping[str, Any], name: str) -> float | None:
    return entries.get(name, {}).get("median_ms")


def foretold(kept: Kept, target: Target, selector: str, models: Sequence[Model]) -> Probed:
    """Predict the real networks from a signature."""
    path = kept.folder / f"{selector}.db"
    with closing(open_database(path)) as database:
        known = read_own_signatures(database).of([target])
    with open_probing(path) as probing:
        (stored,) = (s for s in probing.signatures.every() if s.signature.active)
        fits = probing.left_out(stored, target.device)
        count = len(stored.signature.measurement_ids)
    predictions = predict(models, [target], signatures=known)
    return Probed(selector, probe(kept, target, selector), count, predictions, fits)


def errors(predictions: Sequence[Prediction], real: Sequence[Real]) -> Floats:
    """Return predicted over measured less one, of each network."""
    return np.array(
        [(p.latency_ms or np.nan) / r.median_ms - 1 for p, r in zip(predictions, real, strict=True)]
    )


def in_words(predictions: Sequence[Prediction], real: Sequence[Real]) -> str:
    """Return median and largest error, and how many latencies the intervals hold."""
    found = np.abs(errors(predictions, real))
    held = [
        sum(
            getattr(p, f"low{edge}_ms") <= r.median_ms <= getattr(p, f"high{edge}_ms")
            for p, r in zip(predictions, real, strict=True)
        )
        for edge in (80, 95)
    ]
    return (
        f"median error {np.median(found):.1%}, largest {found.max():.1%}; "
        f"80 % intervals hold {held[0]} of {len(real)}, 95 % {held[1]}"
    )


def main() -> int:
    """Print the table; return 1 where the default selector misses a target."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_arguments(parser, repeats=1)
    parser.add_argument("--networks", type=Path, required=True, help="folder of ONNX files")
    parser.add_argument("--kept", type=Path, help="folder that keeps what was measured")
    parser.add_argument("--selectors", nargs="+", choices=SELECTORS, default=SELECTORS)
    parser.add_argument(
        "--tries", type=int, default=3, help="of a network that is inconclusive; 0 measures none"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as own:
        folder = options.kept or Path(own)
        folder.mkdir(parents=True, exist_ok=True)
        return _compare(options, Kept(folder))


def _compare(options: argparse.Namespace, kept: Kept) -> int:
    files = sorted(options.networks.glob("*.onnx"))
    with IngestionWorker() as worker:
        models = [worker.ingest(str(path)) for path in files]
    target = probe_target(this_device(kept), THREADS)
    probe(kept, target, options.selectors[0])
    entries = measured(kept, files, models, options.tries)  # near to the session that counts
    for selector in options.selectors[1:]:
        probe(kept, target, selector)
    real = [
        Real(
            path.stem,
            model,
            median_ms,
            str(entries[path.stem]["verdict"]),
            max(float(block["others_cores"] or 0.0) for block in entries[path.stem]["blocks"]),
        )
        for path, model in zip(files, models, strict=True)
        if (median_ms := _median_ms(entries, path.stem)) is not None
    ]
    chosen = [each.model for each in real]
    zero = predict(chosen, [target])
    probed = [foretold(kept, target, selector, chosen) for selector in options.selectors]
    _publish(options.output, real, zero, probed)
    found = np.abs(errors(probed[0].predictions, real))
    ok = np.median(found) <= MEDIAN_LIMIT and found.max() <= WORST_LIMIT
    return 0 if ok and probed[0].seconds <= LIMIT_S else 1


def _publish(
    output: Path | None,
    real: Sequence[Real],
    zero: Sequence[Prediction],
    probed: Sequence[Probed],
) -> None:
    of_each = [errors(found, real) for found in (zero, *(each.predictions for each in probed))]
    rows = [
        (
            each.name,
            significant(each.median_ms, 4),
            each.verdict,
            *(f"{found[i]:+.1%}" for found in of_each),
            _interval(probed[0].predictions[i]),
        )
        for i, each in enumerate(real)
    ]
    names = [each.selector for each in probed]
    interval = f"95 % interval of {names[0]}, ms"
    header = ("network", "measured ms", "verdict", "zero-shot", *names, interval)
    figures = [
        {
            "network": each.name,
            "measured_ms": each.median_ms,
            "verdict": each.verdict,
            "zero_shot_ms": zero[i].latency_ms,
            **{f"{one.selector}_ms": one.predictions[i].latency_ms for one in probed},
        }
        for i, each in enumerate(real)
    ]
    notes = [
        f"Zero-shot: {in_words(zero, real)}.",
        *(_of_selector(each, real) for each in probed),
        f"Limits: median {MEDIAN_LIMIT:.0%}, largest {WORST_LIMIT:.0%}, {LIMIT_S:.0f} s.",
        _conditions(real),
    ]
    title = "Real networks predicted from twelve probes of this machine"
    publish("probe-accuracy", title, Table(header, rows), figures, output, notes)


def _conditions(real: Sequence[Real]) -> str:
    """Say whether the machine did anything else, of which the figures are worse."""
    others = float(np.median([each.others_cores for each in real]))
    steady = sum(each.verdict == "steady" for each in real)
    busy = " The machine was not free, which makes the figures worse." * (others > 0.2)
    return (
        f"While the real networks were measured other programs used {others:.1f} cores; "
        f"{steady} of {len(real)} verdicts are steady.{busy}"
    )


def _of_selector(each: Probed, real: Sequence[Real]) -> str:
    return (
        f"{each.selector}, {each.measured} of {PROBES} networks measured in {each.seconds:.0f} s: "
        f"{in_words(each.predictions, real)}. {errors_in_words(each.left_out)}"
    )


def _interval(prediction: Prediction) -> str:
    low, high = prediction.low95_ms, prediction.high95_ms
    return "" if low is None or high is None else f"{significant(low)} to {significant(high)}"


if __name__ == "__main__":
    sys.exit(main())
