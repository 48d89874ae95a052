"""The result of the reality check as a JSON document."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict

import numpy as np

from ctm_research.evaluation.bound.check import LIMIT_PERCENT, BoundCheck
from ctm_research.evaluation.bound.comparison import NOT_IN_CATALOGUE, Comparison
from ctm_research.evaluation.bound.figures import Figures, Ratios
from ctm_research.evaluation.bound.space_comparison import ColumnComparison
from ctm_research.sources import Sample, nas

UNEXPLAINED = "Not explained: the bound, a fact of the device or the measurement is wrong."

Entry = dict[str, object]


def document(check: BoundCheck) -> Entry:
    """Return the result as plain values; one that is not known is None."""
    by_source = _grouped(check.comparisons, lambda c: c.sample.source)
    lacking = Counter(
        (c.sample.source, c.sample.device)
        for c in check.comparisons
        if c.reason == NOT_IN_CATALOGUE
    )
    reasons = Counter((c.sample.source, c.reason) for c in check.comparisons if c.reason)
    for column in check.columns:
        for reason, rows in column.left_out.items():
            reasons[nas.NAME, reason] += rows
            if reason == NOT_IN_CATALOGUE:
                lacking[nas.NAME, f"{column.column.name}, {column.space}"] += rows
    return {
        "evaluation": "bound",
        "engine": check.engine,
        "limit_percent": LIMIT_PERCENT,
        "total": _figures(check.ratios),
        "sources": [*map(_source, by_source.values()), *_spaces(check.columns)],
        "targets": [
            *(entry for group in by_source.values() for entry in _targets(group)),
            *(_column(column) for column in check.columns if _has_number(column)),
        ],
        "offenders": [
            *(_offender(c) for c in check.comparisons if c.measured_over_bound < 1),
            *(entry for column in check.columns for entry in _column_offenders(column)),
        ],
        "without_estimate": [
            {"source": source, "reason": reason, "rows": rows}
            for (source, reason), rows in _by_source(reasons)
        ],
        "not_in_catalogue": [
            {"source": source, "device": device, "rows": rows}
            for (source, device), rows in _by_source(lacking)
        ],
        "absent": list(check.absent),
    }


def _grouped(
    comparisons: Iterable[Comparison], key: Callable[[Comparison], str]
) -> dict[str, list[Comparison]]:
    groups: dict[str, list[Comparison]] = defaultdict(list)
    for comparison in comparisons:
        groups[key(comparison)].append(comparison)
    return dict(groups)


def _by_source(counts: Mapping[tuple[str, str], int]) -> list[tuple[tuple[str, str], int]]:
    """Return counts with the sources in order of appearance, the largest of each first."""
    order = {source: place for place, source in enumerate(dict.fromkeys(s for s, _ in counts))}
    return sorted(counts.items(), key=lambda item: (order[item[0][0]], -item[1]))


def _figures(ratios: Ratios) -> Entry:
    figures = Figures.of(ratios)
    return {**asdict(figures), "under_bound_percent": 100 * figures.under_bound_share}


def _source(group: list[Comparison]) -> Entry:
    return {
        "source": group[0].sample.source,
        "rows": len(group),
        "rows_with_graph": sum(c.sample.graph is not None for c in group),
        **_figures(Ratios.of(group)),
    }


def _spaces(columns: Iterable[ColumnComparison]) -> Iterator[Entry]:
    every = list(columns)
    if every:
        yield {
            "source": nas.NAME,
            "rows": sum(len(c.latency_ms) for c in every),
            "rows_with_graph": sum(int((~c.empty).sum()) for c in every),
            **_figures(Ratios.joined(c.ratios for c in every)),
        }


def _targets(group: list[Comparison]) -> Iterator[Entry]:
    for target, part in sorted(_grouped(group, lambda c: c.target_name).items()):
        if any(c.estimate_ms > 0 or c.bound_ms > 0 for c in part):
            source = part[0].sample.source
            yield {"source": source, "target": target, **_figures(Ratios.of(part))}


def _column(column: ColumnComparison) -> Entry:
    return {"source": nas.NAME, "target": column.target_name, **_figures(column.ratios)}


def _has_number(column: ColumnComparison) -> bool:
    return bool(np.any(column.bound_ms > 0) or np.any(column.estimate_ms > 0))


def _offender(comparison: Comparison) -> Entry:
    sample = comparison.sample
    return {
        "source": sample.source,
        "table": sample.table,
        "line": sample.line,
        "network": sample.network,
        "target": comparison.target_name,
        "threads": sample.configuration.threads,
        "batch": sample.configuration.batch,
        "measured_ms": sample.latency_ms,
        "bound_ms": comparison.bound_ms,
        "measured_over_bound": comparison.measured_over_bound,
        "provenance": sample.provenance,
        "explanation": _explanation(sample),
    }


def _explanation(sample: Sample) -> str:
    """Return the evidence of the data themselves against the measurement, as a sentence."""
    return f"{sample.doubt[0].upper()}{sample.doubt[1:]}." if sample.doubt else UNEXPLAINED


def _column_offenders(column: ColumnComparison) -> Iterator[Entry]:
    for row in np.flatnonzero(column.ratios.over_bound < 1).tolist():
        yield {
            "source": nas.NAME,
            "table": f"{column.space}.npz",
            "line": row,
            "network": f"architecture {row}",
            "target": column.target_name,
            "threads": 0,
            "batch": column.column.batch,
            "measured_ms": float(column.latency_ms[row]),
            "bound_ms": float(column.bound_ms[row]),
            "measured_over_bound": float(column.ratios.over_bound[row]),
            "provenance": "HayeonLee/HELP",
            "explanation": UNEXPLAINED,
        }
