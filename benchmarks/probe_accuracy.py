"""How near predictions come on this machine after probing: real networks that are no probes.

    python -m benchmarks.real_networks FOLDER
    python -m benchmarks.probe_accuracy --networks FOLDER --output docs/results [--kept FOLDER]

For each selector a session is planned and measured live, as the product does it: k = 12, one
thread, at most five minutes, this machine with measured rates; that tells how long it takes. Then
the same is measured again, with the networks of the folder in between: all in one random order, by
the same protocol. A machine that is shared with others is faster in one minute than in the next,
by more than predictions err; so both sides meet the same minutes. The networks are predicted
through the product's service: before anything was measured, and from each signature, with and
without the times of operators. An inconclusive network of the folder counts with its middle block.
With ``--kept`` what was measured is kept in that folder and not measured again.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.common import Table, add_arguments, add_kept, kept_folder, publish
from predictor.core.progress import CancelToken
from predictor.core.records import Device, Prediction, Target
from predictor.core.units import significant
from predictor.core.wording import percent
from predictor.devices.schema import device_from_object, device_to_object
from predictor.probing.measuring.interface import (
    Command,
    MeasuringPlan,
    NetworkDone,
    NetworkFailed,
    NetworkFile,
    ProbeEvent,
)
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
BESIDE_CAP_S = 8.0  # of a network where those of the folder are measured too
BEST = "operators"
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
    """What a selector's session tells of the real networks that were measured beside it.

    Attributes:
        seconds: of the session alone.
        measured: how many of its networks have a number.
        ways: predictions of the real networks by what they are calibrated by.
    """

    selector: str
    seconds: float
    measured: int
    real: Sequence[Real]
    ways: Mapping[str, Sequence[Prediction]]
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


class Beside:
    """The local runner, with other networks in between those of a session.

    Args:
        files: the others; each round of a session takes as many of them as it has networks, and
            the last one the rest.
        rounds: how many there will be.

    Attributes:
        entries: what the runner says of the others, by name.
    """

    def __init__(self, files: Sequence[NetworkFile], rounds: int) -> None:
        self._left, self._rounds = list(files), rounds
        self._inner = LocalRunner()
        self.entries: dict[str, Any] = {}

    def run(self, plan: MeasuringPlan, cancel: CancelToken | None = None) -> Iterator[ProbeEvent]:
        """Measure a plan and some of the others; what is told of these stays here."""
        self._rounds -= 1
        count = len(plan.networks) if self._rounds > 0 else len(self._left)
        others, self._left = self._left[:count], self._left[count:]
        order = [*plan.networks, *others]
        random.Random(self._rounds).shuffle(order)  # noqa: S311  # no secret
        names = {other.name for other in others}
        for event in self._inner.run(replace(plan, networks=tuple(order)), cancel):
            if isinstance(event, NetworkDone | NetworkFailed) and event.name in names:
                if isinstance(event, NetworkDone):
                    self.entries[event.name] = dict(event.document)
                continue
            yield event

    def send(self, command: Command) -> None:
        """Tell the runner."""
        self._inner.send(command)


def beside(
    kept: Kept, target: Target, selector: str, files: Sequence[NetworkFile]
) -> dict[str, Any]:
    """Measure a session with the files in between, and return the runner's entries of these."""
    known: dict[str, Any] | None = kept.document(f"{selector}-beside")
    if known is not None:
        return known
    plan = plan_probes(Wish(target, PROBES, selector, budget_s=LIMIT_S, live=True))
    settings = replace(plan.settings, cap_s=min(plan.settings.cap_s, BESIDE_CAP_S))
    plan = replace(plan, settings=settings)
    order = list(files)
    random.Random(0).shuffle(order)  # noqa: S311  # no secret
    runner = Beside(order, 2 if plan.to_come else 1)
    with open_probing(kept.folder / f"{selector}-beside.db") as probing:
        session = probing.start(plan)
        for _ in probing.run(session.id, runner):
            pass
    kept.keep(f"{selector}-beside", runner.entries)
    return runner.entries


def _file(path: Path, model: Model) -> NetworkFile:
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    return NetworkFile(path.stem, path, sha256, model.graph.fingerprint)


def _real(name: str, model: Model, entry: Mapping[str, Any]) -> Real:
    blocks = entry["blocks"]
    middle_ms = float(np.median([block["median_ns"] for block in blocks])) / 1e6
    return Real(
        name,
        model,
        float(entry.get("median_ms") or middle_ms),
        str(entry["verdict"]),
        max(float(block["others_cores"] or 0.0) for block in blocks),
    )


def foretold(
    kept: Kept, target: Target, selector: str, files: Sequence[Path], models: Sequence[Model]
) -> Probed:
    """Measure a session and the real networks beside it, and predict these from it."""
    seconds = probe(kept, target, selector)
    found = [_file(path, model) for path, model in zip(files, models, strict=True)]
    entries = beside(kept, target, selector, found)
    real = [
        _real(path.stem, model, entries[path.stem])
        for path, model in zip(files, models, strict=True)
        if path.stem in entries
    ]
    path = kept.folder / f"{selector}-beside.db"
    with closing(open_database(path)) as database:
        known = read_own_signatures(database).of([target])[target.key]
    with open_probing(path) as probing:
        (stored,) = (s for s in probing.signatures.every() if s.signature.active)
        fits = probing.left_out(stored, target.device)
    asked = [each.model for each in real]
    whole = replace(known, operators=())
    ways = {
        "zero-shot": predict(asked, [target]),
        "whole networks": predict(asked, [target], signatures={target.key: whole}),
        BEST: predict(asked, [target], signatures={target.key: known}),
    }
    return Probed(selector, seconds, len(known.graphs), real, ways, fits)


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
        f"median error {percent(float(np.median(found)))}, largest {percent(float(found.max()))}; "
        f"80 % intervals hold {held[0]} of {len(real)}, 95 % {held[1]}"
    )


def main() -> int:
    """Print the table; return 1 where the default selector misses a target."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_arguments(parser, repeats=1)
    parser.add_argument("--networks", type=Path, required=True, help="folder of ONNX files")
    add_kept(parser)
    parser.add_argument("--selectors", nargs="+", choices=SELECTORS, default=SELECTORS)
    options = parser.parse_args()
    with kept_folder(options) as folder:
        return _compare(options, Kept(folder))


def _compare(options: argparse.Namespace, kept: Kept) -> int:
    files = sorted(options.networks.glob("*.onnx"))
    with IngestionWorker() as worker:
        models = [worker.ingest(str(path)) for path in files]
    target = probe_target(this_device(kept), THREADS)
    probed = [foretold(kept, target, selector, files, models) for selector in options.selectors]
    _publish(options.output, probed)
    usual = probed[0]
    found = np.abs(errors(usual.ways[BEST], usual.real))
    ok = np.median(found) <= MEDIAN_LIMIT and found.max() <= WORST_LIMIT
    return 0 if ok and usual.seconds <= LIMIT_S else 1


def _publish(output: Path | None, probed: Sequence[Probed]) -> None:
    usual = probed[0]
    of_each = [errors(found, usual.real) for found in usual.ways.values()]
    rows = [
        (
            each.name,
            significant(each.median_ms, 4),
            each.verdict,
            *(percent(float(found[i]), signed=True) for found in of_each),
            _interval(usual.ways[BEST][i]),
        )
        for i, each in enumerate(usual.real)
    ]
    header = ("network", "measured ms", "verdict", *usual.ways, f"95 % interval by {BEST}, ms")
    figures = [
        {
            "selector": one.selector,
            "network": each.name,
            "measured_ms": each.median_ms,
            "verdict": each.verdict,
            **{f"{way}_ms": found[i].latency_ms for way, found in one.ways.items()},
        }
        for one in probed
        for i, each in enumerate(one.real)
    ]
    notes = [
        f"The table is of {usual.selector}.",
        *(words for one in probed for words in _of_selector(one)),
        f"Limits: median {percent(MEDIAN_LIMIT)}, largest {percent(WORST_LIMIT)}, {LIMIT_S:.0f} s.",
    ]
    title = "Real networks predicted from twelve probes of this machine"
    publish("probe-accuracy", title, Table(header, rows), figures, output, notes)


def _of_selector(one: Probed) -> Iterator[str]:
    others = float(np.median([each.others_cores for each in one.real]))
    counts = Counter(each.verdict for each in one.real)
    verdicts = ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items()))
    busy = " The machine was not free, which makes the figures worse." * (others > 0.2)
    yield (
        f"{one.selector}: its session alone took {one.seconds:.0f} s. With the real networks in "
        f"between {one.measured} of its {PROBES} networks were measured; the real ones are "
        f"{verdicts}; other programs used {others:.1f} cores.{busy}"
    )
    for way, found in one.ways.items():
        yield f"{one.selector}, {way}: {in_words(found, one.real)}."
    yield f"{one.selector}: {errors_in_words(one.left_out)}"


def _interval(prediction: Prediction) -> str:
    low, high = prediction.low95_ms, prediction.high95_ms
    return "" if low is None or high is None else f"{significant(low)} to {significant(high)}"


if __name__ == "__main__":
    sys.exit(main())
