"""Slow runs over the median: P90 and P99 of MLPerf's logs, on chips left out.

A run's ln(ln(P90 / P50)) is normal around the mean of its group, a runtime on a kind of device.
Means of groups are drawn towards that of the kind of device as far as chips differ anyway,
variances towards the pooled one. Each chip counts the same, whatever the number of its runs.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ctm_research.sources.stated import runtime_named
from ctm_research.sources.tables import read_rows
from predictor.calibration.tails import SCHEMA
from predictor.core.errors import InputError
from predictor.core.percentiles import Z80
from predictor.core.runtimes import RUNTIMES
from predictor.presentation.markdown import table

Floats = NDArray[np.float64]
Group = tuple[str, str]  # runtime, kind of device

PERCENTILES: Final = (90, 99)
LEAST_CHIPS: Final = 3  # of a group that is fitted; what ships was checked on one more
_PRIOR_CHIPS: Final = 4.0  # that the pooled variance counts as
_LEAST_SPREAD: Final = 1e-3  # of ln(P90 / P50): one thousandth is the noise of a clock
_FOLDER: Final = ("published", "mlperf")
_COLUMNS: Final = (
    *("source", "device", "unit", "runtime", "provider_or_delegate", "model", "system_id"),
    *("scenario", "valid", "p50_ms", "p90_ms", "p99_ms"),
)
# Their inputs differ from query to query, so that their spread is of the inputs.
_VARYING: Final = ("rnnt", "3d_unet", "bert")

_INTRODUCTION: Final = f"""\
MLPerf Inference, Mobile and Tiny store median, 90th and 99th percentile of single-stream runs: one
query after the other for a minute to ten, batch 1, on machines set up for it. BERT, RNN-T and
3D-UNet are left out: their inputs differ in length from query to query. A chip is the accelerator
or the processor as its submitter states it; chips of one name are one.

ln(ln(P90 / P50)) of a run is normal. Its mean in a group, a runtime on a kind of device, is drawn
towards that of the kind, its variance towards the pooled one. What a prediction states as P90 is
its P50 times the median of that distribution. Groups of fewer than {LEAST_CHIPS + 1} chips, which
leave nothing to check on, get no P90 and no P99, and neither does all that is not in the table.

*Error*: of the P90 from a measured P50, median over the runs of each chip and then over chips, with
the chip left out of all groups. *None*: the same for a P90 that is the P50: too low on every run,
and on quiet chips nearer all the same. *One for all*: for one ratio for all runs. *Inside*: runs
whose measured P90 lies in the 80 % interval of the ratio, chips counting the same. *Over*: runs
whose measured P90 is over the stated one; half are meant to be."""
_LIMITS: Final = """\
These are quiet machines under steady load. Other programs, frequency steps, heat and queues make
tails longer, and nothing here tells by how much."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run: its group and chip, and ln of ln(P90 / P50) and of ln(P99 / P50)."""

    group: Group
    chip: str
    spread: tuple[float, float]


@dataclass(frozen=True, slots=True)
class Tail:
    """Normal distribution of ln(ln(P / P50)) of a run on another chip."""

    mean: float
    deviation: float

    def ratio(self, z: float = 0.0) -> float:
        """Return P over P50, z standard deviations off the median."""
        return math.exp(math.exp(self.mean + z * self.deviation))


def tails_check(data: Path) -> dict[str, Any]:
    """Return the tails of all groups and their errors on chips left out.

    Raises:
        InputError: the tables are missing or damaged.
    """
    runs = read_runs(data)
    groups = sorted({run.group for run in runs})
    fitted = [fit(runs, at) for at in range(len(PERCENTILES))]
    left_out = _left_out(runs)
    return {
        "runs": len(runs),
        "chips": len({run.chip for run in runs}),
        "groups": [
            {
                "runtime": group[0],
                "kind": group[1],
                "chips": len({run.chip for run in runs if run.group == group}),
                "runs": sum(run.group == group for run in runs),
                **{
                    f"p{name}": _stated(tails[group], left_out[at], group)
                    for at, (name, tails) in enumerate(zip(PERCENTILES, fitted, strict=True))
                },
            }
            for group in groups
            if group in fitted[0]
        ],
        "all": {
            f"p{name}": _judged(left_out[at]) for at, name in enumerate(PERCENTILES)
        },
    }  # fmt: skip


def shipped(figures: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document that predictions read; see :mod:`predictor.calibration.tails`."""
    return {
        "schema": SCHEMA,
        "source": "MLPerf Inference, Mobile and Tiny, single stream (ctm evaluate tails)",
        "groups": [
            {
                "runtime": group["runtime"],
                "kind": group["kind"],
                "chips": group["chips"],
                **{
                    f"p{name}": {
                        key: round(group[f"p{name}"][key], 5) for key in ("mean", "deviation")
                    }
                    for name in PERCENTILES
                },
            }
            for group in figures["groups"]
            if group["runtime"] in RUNTIMES and group["p90"]["left_out_chips"]
        ],
    }


def read_runs(data: Path) -> list[Run]:
    """Return the single-stream runs that state all three percentiles.

    Raises:
        InputError: a table is missing or damaged.
    """
    folder = data.joinpath(*_FOLDER)
    chips = {
        row["system_id"]: " ".join(row["chip"].casefold().split())
        for row in read_rows(folder / "devices.csv", ("system_id", "chip"))
    }
    runs = []
    for row in read_rows(folder / "latencies.csv.gz", _COLUMNS):
        is_one = row["scenario"] == "SingleStream" and row["valid"] != "INVALID"
        if not (is_one and row["p90_ms"] and row["p99_ms"] and row["p50_ms"]):
            continue
        if row["model"].startswith(_VARYING):
            continue
        runtime = runtime_named(row["runtime"], row["provider_or_delegate"], row["unit"])
        p50 = row.positive("p50_ms")
        spread90, spread99 = (
            math.log(max(math.log(row.positive(f"p{name}_ms") / p50), _LEAST_SPREAD))
            for name in PERCENTILES
        )
        chip = chips.get(row["system_id"]) or row["device"].casefold()
        runs.append(Run((runtime, row["unit"]), chip, (spread90, spread99)))
    if not runs:
        raise InputError(str(folder), "it has no single-stream run", "name the data folder")
    return runs


def fit(runs: Iterable[Run], at: int) -> dict[Group, Tail]:
    """Return the tail of each group of at least ``LEAST_CHIPS`` chips.

    Args:
        runs: to fit to.
        at: which of ``PERCENTILES``.
    """
    of_groups: dict[Group, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for run in runs:
        of_groups[run.group][run.chip].append(run.spread[at])
    groups = {
        group: [np.array(values) for values in chips.values()]
        for group, chips in of_groups.items()
        if len(chips) >= LEAST_CHIPS
    }
    means = {group: _mean([each.mean() for each in chips]) for group, chips in groups.items()}
    # Of single runs, and of the means of chips, around the mean of their group.
    of_runs = {
        group: _mean([((each - means[group]) ** 2).mean() for each in chips])
        * (len(chips) / (len(chips) - 1))
        for group, chips in groups.items()
    }
    of_means = {
        group: float(np.var([each.mean() for each in chips], ddof=1))
        for group, chips in groups.items()
    }
    of_chips = _pooled(of_means, groups)
    pooled = _pooled(of_runs, groups)
    tails: dict[Group, Tail] = {}
    kinds = {kind for _, kind in groups}
    for kind in kinds:
        members = [group for group in groups if group[1] == kind]
        centre = _mean([float(each.mean()) for group in members for each in groups[group]])
        between = _mean([(means[group] - centre) ** 2 for group in members]) - of_chips * _mean(
            [1 / len(groups[group]) for group in members]
        )
        for group in members:
            count = len(groups[group])
            weight = max(between, 0.0) / (max(between, 0.0) + of_chips / count)
            mean = centre + weight * (means[group] - centre)
            variance = ((count - 1) * of_runs[group] + _PRIOR_CHIPS * pooled) / (
                count - 1 + _PRIOR_CHIPS
            )
            tails[group] = Tail(mean, math.sqrt(variance + weight * of_chips / count))
    return tails


def _pooled(variances: Mapping[Group, float], groups: Mapping[Group, Sequence[Floats]]) -> float:
    freedom = {group: len(chips) - 1 for group, chips in groups.items()}
    return sum(freedom[g] * variances[g] for g in groups) / max(sum(freedom.values()), 1)


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values))


@dataclass(frozen=True, slots=True)
class _Judged:
    """A run of a chip that its tail was fitted without, and the same of one ratio for all."""

    run: Run
    measured: float  # ln(ln(P / P50))
    tail: Tail
    one_for_all: float


def _left_out(runs: Sequence[Run]) -> list[list[_Judged]]:
    """Return the runs of each chip with the tails of all other chips, a list a percentile."""
    judged: list[list[_Judged]] = [[] for _ in PERCENTILES]
    ordered = sorted(runs, key=lambda run: run.chip)
    for chip, own in groupby(ordered, lambda run: run.chip):
        mine = list(own)
        others = [run for run in runs if run.chip != chip]
        for at, list_of in enumerate(judged):
            tails = fit(others, at)
            one = float(np.median([run.spread[at] for run in others]))
            list_of += [
                _Judged(run, run.spread[at], tails[run.group], one)
                for run in mine
                if run.group in tails
            ]
    return judged


def _stated(tail: Tail, judged: Sequence[_Judged], group: Group) -> dict[str, Any]:
    own = [each for each in judged if each.run.group == group]
    return {
        "mean": tail.mean,
        "deviation": tail.deviation,
        "ratio": tail.ratio(),
        "low80": tail.ratio(-Z80),
        "high80": tail.ratio(Z80),
        **_judged(own),
    }


def _judged(judged: Sequence[_Judged]) -> dict[str, Any]:
    """Return errors and coverage on chips left out; None of a group too small to leave one out."""
    if not judged:
        names = ("error", "none_error", "one_error", "inside", "over")
        return {"left_out_chips": 0, **dict.fromkeys(names)}
    by_chip: dict[tuple[str, Group], list[_Judged]] = defaultdict(list)
    for each in judged:
        by_chip[each.run.chip, each.run.group].append(each)
    rows = []
    for own in by_chip.values():
        measured = np.exp([each.measured for each in own])  # ln(P / P50)
        stated = np.exp([each.tail.mean for each in own])
        one = np.exp([each.one_for_all for each in own])
        z = np.array([(each.measured - each.tail.mean) / each.tail.deviation for each in own])
        rows.append(
            (
                np.median(np.abs(np.exp(stated - measured) - 1)),
                np.median(np.abs(np.exp(-measured) - 1)),
                np.median(np.abs(np.exp(one - measured) - 1)),
                np.mean(np.abs(z) <= Z80),
                np.mean(z > 0),
            )
        )
    error, none, one_error, inside, over = np.array(rows, np.float64).T
    return {
        "left_out_chips": len(rows),
        "error": float(np.median(error)),
        "none_error": float(np.median(none)),
        "one_error": float(np.median(one_error)),
        "inside": float(inside.mean()),
        "over": float(over.mean()),
    }


def tails_page(figures: Mapping[str, Any], origin: str) -> str:
    """Return the figures as a Markdown page.

    Args:
        figures: of :func:`tails_check`.
        origin: sentence on the command that made them.
    """
    parts = ["# P90 and P99 over the median", origin, _INTRODUCTION]
    for name in PERCENTILES:
        rows = [
            (g["runtime"], g["kind"], g["chips"], g["runs"], *_cells(g[f"p{name}"]))
            for g in figures["groups"]
        ]
        whole = figures["all"][f"p{name}"]
        rows.append(
            ("all", "", figures["chips"], figures["runs"], None, None, *_errors(whole)),
        )
        header = (
            *("runtime", "kind", "chips", "runs", f"P{name} / P50", "80 %"),
            *("error %", "none %", "one for all %", "inside %", "over %"),
        )
        parts += [f"## P{name}", table(header, rows)]
    return "\n\n".join([*parts, _LIMITS]) + "\n"


def _cells(tail: Mapping[str, Any]) -> tuple[object, ...]:
    interval = f"{tail['low80']:.3f} to {tail['high80']:.3f}"
    return (f"{tail['ratio']:.3f}", interval, *_errors(tail))


def _errors(judged: Mapping[str, Any]) -> tuple[object, ...]:
    names = ("error", "none_error", "one_error", "inside", "over")
    return tuple(None if judged[name] is None else 100 * judged[name] for name in names)
