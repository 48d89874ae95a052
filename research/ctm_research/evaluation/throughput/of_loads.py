"""Whether batches of loads are better by the rule of a class than as the engine predicts them.

Judges are MLPerf's queries of 8 (MultiStream) and its Server scenario, each network by itself. The
rule of a class is fitted without the silicon of the pair, or its device, as where it is judged.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ctm_research.evaluation.throughput.forms import (
    FORMS,
    Floats,
    columns_of,
    fitted,
    gains_of,
    quantile,
    weights_of,
)
from ctm_research.evaluation.throughput.pairs import MULTIPLE, QUERIES, Pair
from ctm_research.evaluation.throughput.served import DEADLINES_MS, Served, by_class, largest_rate
from predictor.calibration.throughput import Concurrency
from predictor.services.prediction.batches import SIZES

LEAST_DEVICES = 4
"""Of judges together, of a class whose loads take the rule."""
Rule = Callable[[str, str], Concurrency]
"""The rule of a class without a device and its silicon."""


def left_out_rule(pairs: Sequence[Pair], form: str, what: str) -> Rule:
    """Return the rule of a class by what is left out.

    Args:
        pairs: of the class.
        form: of its rule.
        what: ``silicon`` or ``device``: what is left out together.
    """
    columns = columns_of(pairs, form)
    has = np.isfinite(columns).all(axis=1)
    gains, weights = gains_of(pairs), weights_of(pairs)
    parts = np.array([getattr(pair, what) for pair in pairs])
    known: dict[str, Concurrency] = {}

    def rule(device: str, silicon: str) -> Concurrency:
        part = silicon if what == "silicon" else device
        if part not in known:
            rest = has & (parts != part)
            shares = fitted(columns[rest], gains[rest], weights[rest])
            known[part] = concurrency(dict(zip(FORMS[form], shares.tolist(), strict=True)))
        return known[part]

    return rule


def concurrency(shares: Mapping[str, float]) -> Concurrency:
    """Return the rule of shares, without what is known of its error."""
    start, batches, cores = (shares.get(name, 0.0) for name in ("start", "batches", "cores"))
    return Concurrency(start=start, batches=batches, cores=cores, scale=0, chips=0, error=0)


def judged_batches(
    rule: Rule, pairs: Sequence[Pair], served: Sequence[Served]
) -> list[dict[str, Any]]:
    """Return the errors of a class by judge, of batches as the engine has them and by the rule.

    Args:
        rule: of the class, by what is left out.
        pairs: of the class, of any source.
        served: Server lines of the class.
    """
    queries = [p for p in pairs if p.source == QUERIES and np.isfinite(p.batch_gain)]
    judges = [_of_queries(rule, queries)] if queries else []
    groups: dict[str, list[Served]] = defaultdict(list)
    for (_, _, network), members in by_class(served).items():
        groups[network] += members
    return judges + [_of_server(rule, network, members) for network, members in groups.items()]


def loads_take_it(judges: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether the rule is nearer than the engine, all judges counting the same."""
    devices = {device for judge in judges for device in judge["devices"]}
    gained = sum(judge["engine"]["mean_log"] - judge["rule"]["mean_log"] for judge in judges)
    return len(devices) >= LEAST_DEVICES and gained > 0


def _of_queries(rule: Rule, pairs: Sequence[Pair]) -> dict[str, Any]:
    stated, weights = gains_of(pairs), weights_of(pairs)
    engine = np.log([pair.batch_gain for pair in pairs])
    ruled = np.log([
        rule(p.device, p.silicon).of_batch(p.batch_gain, MULTIPLE, p.cores) for p in pairs
    ])  # fmt: skip
    devices = {pair.device for pair in pairs}
    return _judge(QUERIES, devices, weights, engine - stated, ruled - stated)


def _of_server(rule: Rule, network: str, served: Sequence[Served]) -> dict[str, Any]:
    errors: list[tuple[float, float]] = []
    known: dict[tuple[float, ...], float] = {}
    for entry in served:
        gains = np.exp(entry.gains())
        by_rule = rule(entry.device, entry.silicon)
        ruled = [by_rule.of_batch(gain, size, 1) for size, gain in enumerate(gains.tolist(), 1)]
        rates = []
        for batches in (gains, np.array(ruled)):
            seconds = np.maximum.accumulate(np.arange(1, SIZES[-1] + 1) / batches)
            seconds *= entry.latency_ms / 1000
            key = tuple(seconds.tolist())
            if key not in known:
                known[key] = largest_rate(seconds, DEADLINES_MS[network] / 1000)
            rates.append(max(known[key], 1e-3 / seconds[0]))
        engine, ruled_rate = (math.log(rate / entry.server_per_s) for rate in rates)
        errors.append((engine, ruled_rate))
    engine_errors, rule_errors = np.array(errors).T
    devices = [entry.device for entry in served]
    weights = np.array([1 / devices.count(device) for device in devices])
    return _judge(f"Server, {network}", set(devices), weights, engine_errors, rule_errors)


def _judge(
    name: str, devices: set[str], weights: Floats, engine: Floats, rule: Floats
) -> dict[str, Any]:
    return {
        "judge": name,
        "devices": sorted(devices),
        "pairs": len(weights),
        "engine": _errors(engine, weights),
        "rule": _errors(rule, weights),
    }


def _errors(logs: Floats, weights: Floats) -> dict[str, float]:
    return {
        "over": float(np.exp(quantile(logs, weights, 0.5))),
        "error": quantile(np.abs(np.expm1(logs)), weights, 0.5),
        "mean_log": float(np.average(np.abs(logs), weights=weights)),
    }
