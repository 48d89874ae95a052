"""Whether a probing's own checks tell a loaded machine from an idle one, and by which limits.

    python -m benchmarks.probe_checks --loaded 20 --idle 20 --kept FOLDER --output docs/results

A run is a session of the product, planned, measured and stored as ``ctm probe run --probes 4
--minutes 1`` does it. Loaded runs meet work that is made for them: processes that calculate or
stream through memory, on one core up to one more than there are, some steady, some coming and
going. What others really used is measured during each run, and it decides the label: a run is idle
where others used less than 0.1 cores for 2 s before it and at most 0.15 during it, loaded where
they used 0.4 or more, and counts for nothing in between. Idle runs wait until the machine is quiet.

The limits of ``predictor/services/signatures/checks.py`` are held against all runs. So that they
are no fit to these very runs, limits are also chosen from every second run alone, and tried on the
others. With ``--kept`` sessions and loads stay in that folder, and a later call adds the runs that
are missing. With none to add it only tells.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import random
import subprocess
import sys
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import psutil

from benchmarks.common import Table, add_arguments, add_kept, kept_folder, publish
from benchmarks.probe_accuracy import Kept, this_device
from predictor.core.text import plural
from predictor.presentation.wording import percent
from predictor.probing.choice import PlanRequest
from predictor.probing.measuring.local import LocalRunner
from predictor.probing.planning import ProbePlan
from predictor.services.prediction.engines import CLOSERTOME
from predictor.services.probing.measure import measure
from predictor.services.probing.open import open_probing
from predictor.services.probing.other_load import OtherPrograms
from predictor.services.probing.plan import plan_probes, probe_target
from predictor.services.signatures.checks import LIMITS, Limits, ProbingChecks, work_out
from predictor.store.database import open_database

PROBES, THREADS, LIMIT_S = 4, 1, 60.0
IDLE, LOADED, BETWEEN = "idle", "loaded", "between"
QUIET_BEFORE, QUIET_DURING, LOADED_FROM = 0.1, 0.15, 0.4  # cores of others
QUIET_S = 2.0
_ROOM = 1.5  # of a limit over the highest value of the idle runs that it is chosen on
_STREAM_MB = 64
_CHECKS = {
    "measured": "networks with a number alone",
    "disturbed": "disturbed networks alone",
    "drift": "drift alone",
    "error": "error of each from the others alone",
}
_WORK = {
    # Each in a process of its own: ``sys.argv[1]`` are its seconds of work and of rest, 0 for none.
    "calculates": "while t() < end: sum(range(1000))",
    "streams": "while t() < end: b[:] = a",
}
_PROGRAM = """
import sys, time
from time import monotonic as t
work_s, rest_s = map(float, sys.argv[1:3])
a, b = bytearray({bytes}), bytearray({bytes})
while True:
    end = t() + work_s
    {work}
    time.sleep(rest_s)
"""


@dataclass(frozen=True, slots=True)
class Work:
    """A program that disturbs: its kind, its seconds of work, and of rest after them."""

    kind: str
    work_s: float
    rest_s: float

    def start(self) -> subprocess.Popen[bytes]:
        """Start it."""
        size = _STREAM_MB * 2**20 if self.kind == "streams" else 1
        program = _PROGRAM.format(bytes=size, work=_WORK[self.kind])
        return subprocess.Popen([sys.executable, "-c", program, str(self.work_s), str(self.rest_s)])


@dataclass(frozen=True, slots=True)
class Run:
    """One probing.

    Attributes:
        number: of the run.
        wanted: idle or loaded.
        session: id of its session in the store.
        works: that were made for it.
        before_cores: that others used just before.
        others_cores: that others used during it, these works among them.
        seconds: that it took.
    """

    number: int
    wanted: str
    session: str
    works: tuple[Work, ...]
    before_cores: float
    others_cores: float
    seconds: float

    @property
    def label(self) -> str:
        """Load of the machine during the run: idle, loaded, or between the two."""
        if self.others_cores >= LOADED_FROM:
            return LOADED
        quiet = self.before_cores < QUIET_BEFORE and self.others_cores <= QUIET_DURING
        return IDLE if quiet else BETWEEN


def works_of(number: int, processors: int) -> tuple[Work, ...]:
    """Return the disturbing programs of a loaded run: varied, the same for each number."""
    draw = random.Random(number)  # noqa: S311  # no secret
    works = []
    for _ in range(1 + number % (processors + 1)):
        rest_s = draw.choice((0.0, 0.0, 1.0, 5.0))
        work_s = draw.uniform(0.5, 8.0) if rest_s else 1.0
        works.append(Work(draw.choice(tuple(_WORK)), round(work_s, 2), rest_s))
    return tuple(works)


class Others:
    """Cores that others use, the disturbing programs of this benchmark among them."""

    def __init__(self, made: Sequence[psutil.Process] = ()) -> None:
        self._programs, self._made = OtherPrograms(named=False), made
        self._spent_s, self._time_s = self._now(), time.monotonic()

    def since(self) -> float:
        """Return the cores on average since the last call."""
        cores, spent_s, time_s = self._programs.since().cores, self._now(), time.monotonic()
        cores += (spent_s - self._spent_s) / (time_s - self._time_s)
        self._spent_s, self._time_s = spent_s, time_s
        return cores

    def _now(self) -> float:
        return sum(sum(each.cpu_times()[:2]) for each in self._made)


@contextmanager
def disturbed(works: Sequence[Work]) -> Iterator[list[psutil.Process]]:
    """Let programs work beside what is done here."""
    started = [work.start() for work in works]
    try:
        yield [psutil.Process(each.pid) for each in started]
    finally:
        for each in started:
            each.kill()
            each.wait()


def probe(kept: Kept, plan: ProbePlan, number: int, wanted: str) -> Run:
    """Measure a plan in a session of its own, the networks in another order each time."""
    works = works_of(number, psutil.cpu_count() or 1) if wanted == LOADED else ()
    order = random.Random(number).sample(plan.probes, len(plan.probes))  # noqa: S311  # no secret
    plan = replace(plan, id=uuid.uuid4().hex, probes=tuple(order))
    with open_probing(kept.folder / "runs.db") as probing, disturbed(works) as made:
        others = Others(made)
        time.sleep(QUIET_S)
        before_cores = others.since()
        while wanted == IDLE and before_cores >= QUIET_BEFORE:
            time.sleep(QUIET_S)
            before_cores = others.since()
        begun_s = time.monotonic()
        session = probing.sessions.start(plan)
        for _ in measure(probing.sessions, session.id, LocalRunner()):
            pass
        cores, seconds = others.since(), time.monotonic() - begun_s
    return Run(number, wanted, session.id, works, before_cores, cores, seconds)


def runs_of(kept: Kept) -> list[Run]:
    """Return the runs that are kept."""
    paths = sorted(kept.folder.glob("run-*.json"))
    documents = [json.loads(path.read_text()) for path in paths]
    return [Run(**{**each, "works": tuple(Work(**w) for w in each["works"])}) for each in documents]


def measure_missing(kept: Kept, counts: dict[str, int], limit_s: float) -> None:
    """Measure runs until there are as many of each label as wanted, or the time is over."""
    target = probe_target(this_device(kept), THREADS)
    plan = plan_probes(PlanRequest(target=target, probes=PROBES, budget_s=LIMIT_S, live=True))
    end_s = time.monotonic() + limit_s
    numbers = itertools.count(max((run.number for run in runs_of(kept)), default=0) + 1)
    for number in numbers:
        labels = [run.label for run in runs_of(kept)]
        missing = [label for label, count in counts.items() if labels.count(label) < count]
        if not missing or time.monotonic() > end_s:
            return
        run = probe(kept, plan, number, missing[0])
        kept.keep(f"run-{number:03}", asdict(run))
        print(
            f"{run.number}: {run.label}, others {run.before_cores:.2f} and then "
            f"{run.others_cores:.2f} cores, {run.seconds:.0f} s",
            flush=True,
        )


@dataclass(frozen=True, slots=True)
class Judged:
    """A run with what its probing tells of itself; None where no network has a number."""

    run: Run
    checks: ProbingChecks | None

    def is_stopped(self, limits: Limits) -> bool:
        """Whether it would not be used."""
        return self.checks is None or bool(self.checks.failures(limits))


def judged(kept: Kept, runs: Sequence[Run]) -> list[Judged]:
    """Work out the checks of all runs with the engine of now."""
    path = kept.folder / "runs.db"
    with open_probing(path) as probing, closing(open_database(path)) as database:
        probing.devices.keep(this_device(kept))
        stored = {each.session_id: each for each in probing.signatures.all()}

        def checks(run: Run) -> ProbingChecks | None:
            signature = stored.get(run.session)
            if signature is None:
                return None
            probes = probing.sessions.get(run.session).probes
            measured = probing.signatures.measured(signature.signature.id)
            return work_out(database, signature, probes, *measured)

        return [Judged(run, checks(run)) for run in runs]


def chosen_limits(runs: Sequence[Judged]) -> Limits:
    """Choose the tightest limits that the idle runs keep with some room."""
    idle = [each.checks for each in runs if each.run.label == IDLE and each.checks is not None]
    step = 0.5 / PROBES  # half a network
    return Limits(
        networks=min(LIMITS.networks, PROBES),
        measured=min(each.measured / each.tried for each in idle) - step,
        disturbed=max(each.disturbed for each in idle) + step,
        drift=_ROOM * max(each.drift or 0.0 for each in idle),
        error=_ROOM * max(each.error or 0.0 for each in idle),
    )


def _alone(name: str) -> Limits:
    """Return the limits of one check; the others let everything pass."""
    nothing = Limits(networks=0, measured=0.0, disturbed=1.0, drift=math.inf, error=math.inf)
    names = ("networks", "measured") if name == "measured" else (name,)
    return replace(nothing, **{each: getattr(LIMITS, each) for each in names})


def _stopped(runs: Sequence[Judged], label: str, limits: Limits) -> tuple[int, int]:
    """Return how many runs of a label are stopped, and how many there are."""
    of_label = [each for each in runs if each.run.label == label]
    return sum(each.is_stopped(limits) for each in of_label), len(of_label)


def rows_of(runs: Sequence[Judged]) -> Iterator[dict[str, object]]:
    """Yield the figures of each check alone, of all, and of limits chosen on half of the runs."""
    cases: list[tuple[str, Limits, Sequence[Judged]]] = [
        (words, _alone(name), runs) for name, words in _CHECKS.items()
    ]
    cases.append(("all checks of the product", LIMITS, runs))
    for first, words in enumerate(("odd", "even")):
        chosen_on, tried_on = runs[first::2], runs[1 - first :: 2]
        if any(each.run.label == IDLE for each in chosen_on):
            what = f"limits chosen on the {words} runs, tried on the others"
            cases.append((what, chosen_limits(chosen_on), tried_on))
    for words, limits, some in cases:
        counts = {label: _stopped(some, label, limits) for label in (LOADED, IDLE)}
        # JSON has no infinity: a check that lets everything pass has no limit.
        finite = {name: limit for name, limit in asdict(limits).items() if math.isfinite(limit)}
        yield {"what": words, "limits": finite, "stopped": counts}


def _row(figure: Mapping[str, Any]) -> tuple[str, ...]:
    cells = (
        f"{stopped} of {count} ({percent(stopped / count)})" if count else "none there"
        for stopped, count in figure["stopped"].values()
    )
    return (figure["what"], _limit_text(figure["limits"]), *cells)


def _limit_text(limits: Mapping[str, float]) -> str:
    words = {
        "measured": "with a number at least",
        "disturbed": "disturbed at most",
        "drift": "drift at most",
        "error": "error at most",
    }
    all_pass = {"measured": 0.0, "disturbed": 1.0}
    return ", ".join(
        f"{text} {percent(limits[name])}"
        for name, text in words.items()
        if name in limits and limits[name] != all_pass.get(name)
    )


def _spread(runs: Sequence[Judged], label: str) -> str:
    """Return the range of each figure over the runs of a label."""
    checks = [each.checks for each in runs if each.run.label == label and each.checks is not None]
    if not checks:
        return f"There are no {label} runs."
    others = [each.run.others_cores for each in runs if each.run.label == label]
    drifts = [each.drift for each in checks if each.drift is not None]
    errors = [each.error for each in checks if each.error is not None]

    def between(values: Iterable[float]) -> str:
        ordered = sorted(values)
        return f"{percent(ordered[0])} to {percent(ordered[-1])}"

    return (
        f"{len(others)} {label} runs, others used {min(others):.2f} to {max(others):.2f} cores. "
        f"Networks with a number: {between(c.measured / c.tried for c in checks)}; disturbed: "
        f"{between(c.disturbed for c in checks)}; drift: {between(drifts)}; "
        f"median error, each from the others: {between(errors)}."
    )


def tell(kept: Kept, output: Path | None) -> None:
    """Print what the checks do with all runs, and write it where asked."""
    runs = judged(kept, runs_of(kept))
    figures = list(rows_of(runs))
    between = sum(each.run.label == BETWEEN for each in runs)
    notes = [
        _spread(runs, LOADED),
        _spread(runs, IDLE),
        f"{plural(between, 'run')} between the two {'is' if between == 1 else 'are'} not counted.",
        "Aim: at least 90 % of the loaded runs are stopped, and at most 5 % of the idle ones.",
    ]
    each = [
        {**asdict(one.run), "label": one.run.label, "checks": one.checks and one.checks.to_json()}
        for one in runs
    ]
    table = Table(
        ("check", "limits", "loaded runs stopped", "idle runs stopped"), [*map(_row, figures)]
    )
    title = "Probings of a loaded and of an idle machine"
    publish("probe-checks", title, table, [*figures, *each], output, notes, CLOSERTOME)


def main() -> int:
    """Measure what is missing, and tell how well the checks do."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add_arguments(parser)
    add_kept(parser)
    parser.add_argument("--loaded", type=int, default=20, help="runs under load")
    parser.add_argument("--idle", type=int, default=20, help="runs on a quiet machine")
    parser.add_argument("--minutes", type=float, default=1e9, help="begin no run after so long")
    options = parser.parse_args()
    with kept_folder(options) as folder:
        kept = Kept(folder)
        measure_missing(kept, {LOADED: options.loaded, IDLE: options.idle}, options.minutes * 60)
        tell(kept, options.output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
