"""What several runs at once bring, by class, and its errors on systems left out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from ctm_research.evaluation.throughput.batches import batch_figures
from ctm_research.evaluation.throughput.forms import (
    FORMS,
    SHIPPED,
    Floats,
    Strings,
    columns_of,
    fitted,
    gains_of,
    left_out,
    predicted,
    quantile,
    scale_of,
    weights_of,
)
from ctm_research.evaluation.throughput.of_loads import (
    judged_batches,
    left_out_rule,
    loads_take_it,
)
from ctm_research.evaluation.throughput.pairs import QUERIES, SMALLER, Pair, read_pairs
from ctm_research.evaluation.throughput.served import Served, read_served, share_figures
from ctm_research.evaluation.throughput.turns import turn_figures
from predictor.calibration.throughput import SCHEMA, STEADY
from predictor.devices.catalogue import load_device_files

LEAST_SYSTEMS: Final = 4
"""Silicon, or devices, of a class that is judged."""
MOST_ERROR: Final = 0.30
"""Of a class that ships, with systems left out."""
_OF_BATCHES: Final = frozenset({QUERIES, SMALLER})  # judge predicted batches alone


def throughput_check(data: Path) -> dict[str, Any]:
    """Return the forms of each class with their errors on systems left out, and the best one.

    Raises:
        InputError: a table or graph is missing or damaged.
    """
    devices = {entry.device.id: entry.device for entry in load_device_files()}
    pairs = read_pairs(data, devices)
    classes: dict[tuple[str, str], list[Pair]] = defaultdict(list)
    for pair in pairs:
        if pair.source not in _OF_BATCHES:
            classes[pair.runtime, pair.kind].append(pair)
    judged = [judged_class(key, members) for key, members in sorted(classes.items())]
    served = read_served(data, devices)
    for entry in judged:
        _judge_loads(entry, classes[entry["runtime"], entry["kind"]], pairs, served)
    return {
        "pairs": sum(len(members) for members in classes.values()),
        "devices": len({pair.device for pair in pairs}),
        "classes": [entry for entry in judged if entry["systems"] >= LEAST_SYSTEMS],
        "too_few": [
            {key: entry[key] for key in ("runtime", "kind", "pairs", "devices")}
            for entry in judged
            if entry["systems"] < LEAST_SYSTEMS
        ],
        "server": share_figures(served),
        "turns": turn_figures(data),
        "batches": batch_figures([pair for pair in pairs if pair.batch]),
    }


def shipped(figures: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document that predictions read; see :mod:`predictor.calibration.throughput`."""
    return {
        "schema": SCHEMA,
        "source": "rates beside latencies of the same systems (ctm evaluate throughput)",
        "classes": [
            {
                "runtime": entry["runtime"],
                "kind": entry["kind"],
                **{name: round(best["shares"].get(name, 0.0), 4) for name in SHIPPED},
                "scale": round(best["scale"], 4),
                "chips": entry["devices"],
                "error": round(best["error"], 3),
                "of_loads": entry["of_loads"],
            }
            for entry in figures["classes"]
            if (best := entry["forms"][entry["best"]])["error"] <= MOST_ERROR
        ],
    }


def judged_class(key: tuple[str, str], pairs: Sequence[Pair]) -> dict[str, Any]:
    """Return a class with the errors of all forms, and the best of those that may ship."""
    runtime, kind = key
    parts, what = _parts(pairs)
    entry: dict[str, Any] = {
        "runtime": runtime,
        "kind": kind,
        "sources": sorted({pair.source for pair in pairs}),
        "pairs": len(pairs),
        "devices": len({pair.device for pair in pairs}),
        "networks": len({pair.network for pair in pairs}),
        "left_out": what,
        "systems": len(set(parts.tolist())),
        "forms": {},
        "best": None,
        "judges": [],
        "of_loads": False,
    }
    if entry["systems"] < LEAST_SYSTEMS:
        return entry
    entry["forms"] = {
        form: figures for form in FORMS if (figures := _form(pairs, form)) is not None
    }
    # Of one processor, and of most accelerators, the column of cores is constant.
    has_cores = len({pair.cores for pair in pairs}) > 1
    may_ship = [
        form
        for form in entry["forms"]
        if set(FORMS[form]) <= set(SHIPPED) and (has_cores or "cores" not in FORMS[form])
    ]
    entry["best"] = min(may_ship, key=lambda form: _rank(entry["forms"][form]))
    return entry


def _judge_loads(
    entry: dict[str, Any], members: Sequence[Pair], pairs: Sequence[Pair], served: Sequence[Served]
) -> None:
    """Add how batches of loads are off with and without the rule of a class, and which is nearer.

    Args:
        entry: of the class.
        members: pairs that its rule is fitted to.
        pairs: of all classes and sources.
        served: Server lines of all classes.
    """
    key = entry["runtime"], entry["kind"]
    if entry["best"] is None or entry["forms"][entry["best"]]["error"] > MOST_ERROR:
        return
    rule = left_out_rule(members, entry["best"], entry["left_out"])
    entry["judges"] = judged_batches(
        rule,
        [pair for pair in pairs if (pair.runtime, pair.kind) == key],
        [line for line in served if (line.runtime, line.kind) == key],
    )
    entry["of_loads"] = loads_take_it(entry["judges"])


def _rank(form: Mapping[str, Any]) -> tuple[bool, float]:
    """Return the order of a form: those that may ship first, then by the mean error in ln."""
    return form["error"] > MOST_ERROR, form["mean_log_error"]


def _parts(pairs: Sequence[Pair]) -> tuple[Strings, str]:
    """Return what is left out together: silicon, or devices where a class has too little of it."""
    silicon = np.array([pair.silicon for pair in pairs])
    if len(set(silicon.tolist())) >= LEAST_SYSTEMS:
        return silicon, "silicon"
    return np.array([pair.device for pair in pairs]), "device"


def _form(pairs: Sequence[Pair], form: str) -> dict[str, Any] | None:
    """Return the errors of a form on pairs that have its columns; None where too few have."""
    columns = columns_of(pairs, form)
    has = np.isfinite(columns).all(axis=1)
    members = [pairs[place] for place in np.flatnonzero(has).tolist()]
    parts, _ = _parts(members) if members else (np.empty(0, np.str_), "")
    if len(set(parts.tolist())) < LEAST_SYSTEMS:
        return None
    columns, gains, weights = columns[has], gains_of(members), weights_of(members)
    stated = left_out(columns, gains, weights, parts)
    error = np.abs(np.exp(stated - gains) - 1)
    shares = fitted(columns, gains, weights)
    of_prediction = _from_prediction(members, predicted(columns, shares))
    return {
        "pairs": len(members),
        "shares": dict(zip(FORMS[form], shares.tolist(), strict=True)),
        "error": quantile(error, weights, 0.5),
        "by_device": float(np.median(_by_device(members, error))),
        "mean_log_error": float(np.average(np.abs(stated - gains), weights=weights)),
        "inside": _inside(columns, gains, weights, parts),
        "scale": scale_of(gains, stated, weights),
        "from_prediction": of_prediction,
    }


def _by_device(pairs: Sequence[Pair], error: Floats) -> list[float]:
    names = np.array([pair.device for pair in pairs])
    return [float(np.median(error[names == name])) for name in sorted(set(names.tolist()))]


def _inside(columns: Floats, gains: Floats, weights: Floats, parts: Strings) -> float:
    """Return the share within the 80 % interval; shares and interval are those of the others."""
    inside = np.zeros(len(gains))
    for part in sorted(set(parts.tolist())):
        others = parts != part
        rest = columns[others], gains[others], weights[others]
        scale = scale_of(rest[1], left_out(*rest, parts[others]), rest[2])
        stated = predicted(columns[~others], fitted(*rest))
        inside[~others] = np.abs(gains[~others] - stated) <= scale * (STEADY + stated)
    return float(np.average(inside, weights=weights))


def _from_prediction(pairs: Sequence[Pair], stated: Floats) -> float | None:
    """Return the median error of the rate from the latency that the engine predicts."""
    predicted_ms = np.array([pair.predicted_ms for pair in pairs])
    has = np.isfinite(predicted_ms)
    if not has.any():
        return None
    rate = 1000 * np.exp(stated) / predicted_ms
    error = np.abs(rate / np.array([pair.per_s for pair in pairs]) - 1)
    return quantile(error[has], weights_of(pairs)[has], 0.5)
