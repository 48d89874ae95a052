"""How near predictions come on this machine after probing: real networks that are no probes.

    python -m benchmarks.real_networks FOLDER
    python -m benchmarks.probe_accuracy --networks FOLDER --output docs/results [--kept FOLDER]

For each selector a session is planned and measured live, as the product does it: k = 12, one
thread, at most five minutes, this machine with measured rates; that tells how long it takes. Then
the same is measured again, with the networks of the folder in between: all in one random order, by
the same protocol. A machine that is shared with others is faster in one minute than in the next,
by more than predictions err. So both sides meet the same minutes, and each network of the folder is
visited three times among the probes: its latency is the median of its visits, and how far these are
apart is the noise floor of the page. An inconclusive visit counts with its middle block. The
networks are predicted through the product's service: before anything was measured, and from each
signature, with and without the times of operators.
With ``--kept`` what was measured is kept in that folder and not measured again.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
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
from benchmarks.real_sets import LATER
from predictor.core.prediction import Prediction
from predictor.core.progress import CancelToken
from predictor.core.records import Device, Target
from predictor.core.units import significant
from predictor.devices.schema import device_from_object, device_to_object
from predictor.graph.model import Model
from predictor.presentation.wording import percent
from predictor.probing.choice import PlanRequest
from predictor.probing.measuring.interface import (
    Command,
    MeasuringPlan,
    NetworkDone,
    NetworkFile,
    ProbeEvent,
    RunFinished,
    RunStarted,
)
from predictor.probing.measuring.local import LocalRunner
from predictor.probing.self_test import run_self_test, with_measured_rates
from predictor.services.devices.this_machine import describe_this_machine
from predictor.services.models.ingestion import IngestionWorker
from predictor.services.prediction.engines import CLOSERTOME
from predictor.services.prediction.predict import predict
from predictor.services.probing.measure import measure
from predictor.services.probing.open import open_probing
from predictor.services.probing.plan import plan_probes, probe_target
from predictor.services.signatures.assessment import LeftOut, errors_in_words, left_out
from predictor.services.signatures.user_signatures import read_user_signatures
from predictor.store.database import open_database

PROBES, THREADS, LIMIT_S = 12, 1, 300.0
VISITS = 3  # of each network of the folder
VISIT_CAP_S = 6.0
VISIT_SHARE = 0.5  # of a probe's time
BEST = "operators"
MEDIAN_LIMIT, WORST_LIMIT = 0.10, 0.35
SELECTORS = ("iopt", "dbsel", "adaptive")  # the first one is the product's usual
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Real:
    """A real network that was measured.

    Attributes:
        visits_ms: latency of each visit.
        verdicts: of each visit.
        others_cores: that other programs used, at most.
    """

    name: str
    model: Model
    visits_ms: tuple[float, ...]
    verdicts: tuple[str, ...]
    others_cores: float

    @property
    def median_ms(self) -> float:
        """Median of the visits."""
        return float(np.median(self.visits_ms))

    @property
    def noise(self) -> float:
        """Standard deviation of ln(latency) over the visits; NaN for a single one."""
        several = len(self.visits_ms) > 1
        return float(np.log(self.visits_ms).std(ddof=1)) if several else math.nan


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
    document = kept.document("device")
    if document is None:
        machine = describe_this_machine()
        rates = run_self_test(machine.threads_in_use(0))
        document = device_to_object(with_measured_rates(machine, rates), {})
        kept.keep("device", document)
    return device_from_object(document, "device").device


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
    plan = plan_probes(
        PlanRequest(target=target, probes=probes, selector=selector, budget_s=limit_s, live=True)
    )
    with open_probing(kept.folder / f"{selector}.db") as probing:
        session = probing.sessions.start(plan)
        for _ in measure(probing.sessions, session.id, LocalRunner()):
            pass
    seconds = time.monotonic() - begun
    kept.keep(selector, {"seconds": seconds})
    return seconds


class Beside:
    """The local runner, with visits to other networks in between those of a session.

    Args:
        visits: names are distinct.
        probes: networks that the session measures before it repeats any; visits are spread evenly
            over them.

    Attributes:
        entries: what the runner says of the visits, by name.
    """

    def __init__(self, visits: Sequence[NetworkFile], probes: int) -> None:
        self._left, self._probes = list(visits), probes
        self._random = random.Random(0)  # noqa: S311  # no secret
        self._random.shuffle(self._left)
        self._inner = LocalRunner()
        self.entries: dict[str, Any] = {}

    def run(self, plan: MeasuringPlan, cancel: CancelToken | None = None) -> Iterator[ProbeEvent]:
        """Measure a plan and some of the visits; what is told of these stays here."""
        count = -(-len(self._left) * len(plan.networks) // max(self._probes, 1))
        now, self._left = self._left[:count], self._left[count:]
        self._probes -= len(plan.networks)
        order = [*plan.networks, *now]
        self._random.shuffle(order)
        short = replace(plan.settings, cap_s=min(plan.settings.cap_s, VISIT_CAP_S))
        watched, begun = plan.sentinel, False
        for network in order:
            one = replace(plan, networks=(network,), sentinel=None)
            if network in now:
                self._visit(replace(one, settings=short), cancel)
                continue
            for event in self._inner.run(replace(one, sentinel=watched), cancel):
                again = isinstance(event, RunStarted) and begun
                if not again and not isinstance(event, RunFinished):
                    yield event
                begun = True
            watched = None  # the machine's drift is what visits are for
        yield RunFinished()

    def _visit(self, plan: MeasuringPlan, cancel: CancelToken | None) -> None:
        for event in self._inner.run(plan, cancel):
            if isinstance(event, NetworkDone):
                self.entries[event.name] = dict(event.document)

    def send(self, command: Command) -> None:
        """Tell the runner."""
        self._inner.send(command)


def visited(
    kept: Kept,
    name: str,
    request: PlanRequest,
    files: Sequence[Path],
    models: Sequence[Model],
    *,
    use_anyway: bool = False,
) -> list[Real]:
    """Measure a session with visits to real networks in between, and return these networks.

    Args:
        kept: folder of the results, which are not measured again.
        name: of the visits' document and of the session's store in the folder.
        request: for the session, without the time of the visits.
        files: ONNX files of the networks.
        models: the networks.
        use_anyway: whether predictions use the session even if it fails its checks.
    """
    networks = [_file(path, model) for path, model in zip(files, models, strict=True)]
    entries = _visits(kept, name, request, networks, use_anyway=use_anyway)
    pairs = zip(networks, models, strict=True)
    reals = (_real(network.name, model, entries) for network, model in pairs)
    return [real for real in reals if real is not None]


def _visits(
    kept: Kept, name: str, request: PlanRequest, files: Sequence[NetworkFile], *, use_anyway: bool
) -> dict[str, Any]:
    """Return the runner's entries of the visits by their names."""
    known: dict[str, Any] | None = kept.document(name)
    if known is not None:
        return known
    plan = plan_probes(request)
    visits = [
        replace(file, name=_visit_name(file.name, visit))
        for file in files
        for visit in range(VISITS)
    ]
    # As much of the session's time is left for repeats as without the visits.
    budget_s = request.budget_s * (1 + VISIT_SHARE * len(visits) / request.probes)
    plan = replace(plan, request=replace(plan.request, budget_s=budget_s))
    runner = Beside(visits, request.probes)
    with open_probing(kept.folder / f"{name}.db") as probing:
        session = probing.sessions.start(plan)
        for _ in measure(probing.sessions, session.id, runner, use_anyway=use_anyway):
            pass
    kept.keep(name, runner.entries)
    return runner.entries


def _visit_name(name: str, visit: int) -> str:
    """Return the name of a visit to a network."""
    return f"{name}.visit{visit}"


def _file(path: Path, model: Model) -> NetworkFile:
    """Return a model's file as a runner takes it."""
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    return NetworkFile(
        name=path.stem, path=path, sha256=sha256, fingerprint=model.graph.fingerprint
    )


def _real(name: str, model: Model, entries: Mapping[str, Any]) -> Real | None:
    """Return a network with the latencies of its visits; None where all of them failed."""
    names = (_visit_name(name, visit) for visit in range(VISITS))
    visits = [entries[each] for each in names if each in entries]
    if not visits:
        return None
    middle_ms = (
        float(np.median([block["median_ns"] for block in visit["blocks"]])) / 1e6
        for visit in visits
    )
    return Real(
        name,
        model,
        tuple(
            float(visit.get("median_ms") or middle)
            for visit, middle in zip(visits, middle_ms, strict=True)
        ),
        tuple(str(visit["verdict"]) for visit in visits),
        max(float(block["others_cores"] or 0.0) for visit in visits for block in visit["blocks"]),
    )


def foretold(
    kept: Kept, target: Target, selector: str, files: Sequence[Path], models: Sequence[Model]
) -> Probed:
    """Measure a session and the real networks beside it, and predict these from it."""
    seconds = probe(kept, target, selector)
    name = f"{selector}-beside"
    request = PlanRequest(
        target=target, probes=PROBES, selector=selector, budget_s=LIMIT_S, live=True
    )
    real = visited(kept, name, request, files, models)
    path = kept.folder / f"{name}.db"
    with closing(open_database(path)) as database:
        measured = read_user_signatures(database).of([target])[target.id]
    with open_probing(path) as probing:
        (stored,) = (s for s in probing.signatures.all() if s.signature.active)
        fits = left_out(target, *probing.signatures.measured(stored.signature.id))
    models_to_predict = [network.model for network in real]
    whole = replace(measured, operators=())
    ways = {
        "zero-shot": predict(models_to_predict, [target]),
        "whole networks": predict(models_to_predict, [target], measured={target.id: whole}),
        BEST: predict(models_to_predict, [target], measured={target.id: measured}),
    }
    return Probed(selector, seconds, len(measured.graphs), real, ways, fits)


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
            f"{significant(min(each.visits_ms))} to {significant(max(each.visits_ms))}",
            *(percent(float(found[i]), signed=True) for found in of_each),
            _interval(usual.ways[BEST][i]),
        )
        for i, each in enumerate(usual.real)
    ]
    header = ("network", "measured ms", "visits", *usual.ways, f"95 % interval by {BEST}, ms")
    figures = [
        {
            "selector": one.selector,
            "network": each.name,
            "measured_ms": each.median_ms,
            "visits_ms": each.visits_ms,
            "verdicts": each.verdicts,
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
    publish("probe-accuracy", title, Table(header, rows), figures, output, notes, CLOSERTOME)


def _of_selector(one: Probed) -> Iterator[str]:
    others = float(np.median([each.others_cores for each in one.real]))
    counts = Counter(verdict for each in one.real for verdict in each.verdicts)
    verdicts = ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items()))
    busy = " The machine was not free, which makes the figures worse." * (others > 0.2)
    yield (
        f"{one.selector}: its session alone took {one.seconds:.0f} s. With the real networks in "
        f"between {one.measured} of its {PROBES} networks were measured; visits are "
        f"{verdicts}; other programs used {others:.1f} cores.{busy}"
    )
    noise = percent(float(np.nanmedian([each.noise for each in one.real])))
    apart = percent(max(max(each.visits_ms) / min(each.visits_ms) - 1 for each in one.real))
    yield (
        f"{one.selector}: noise floor: the standard deviation of a network's visits is {noise} in "
        f"the median, and two visits of one network were up to {apart} apart."
    )
    for way, found in one.ways.items():
        yield f"{one.selector}, {way}: {in_words(found, one.real)}."
    later = [i for i, each in enumerate(one.real) if each.name in LATER]
    if later:
        found, real = [one.ways[BEST][i] for i in later], [one.real[i] for i in later]
        yield (
            f"{one.selector}, {BEST}, the {len(later)} that nobody had looked at while it was "
            f"built: {in_words(found, real)}."
        )
    yield f"{one.selector}: {errors_in_words(one.left_out)}"


def _interval(prediction: Prediction) -> str:
    low, high = prediction.low95_ms, prediction.high95_ms
    return "" if low is None or high is None else f"{significant(low)} to {significant(high)}"


if __name__ == "__main__":
    sys.exit(main())
