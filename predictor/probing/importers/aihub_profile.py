"""Qualcomm AI Hub's profile of a job: one JSON object, times in microseconds.

Its ``estimated_inference_time`` is the headline of the web page. Where the runs themselves are in
the file (``all_inference_times``) their median is taken instead, as everywhere here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from predictor.probing.importers.records import ImportedLatency, Reading, Statistic
from predictor.probing.importers.source import Source, median_ns
from predictor.probing.operator_times import OperatorTime

_PER_MS = 1000.0  # microseconds
_SUMMARY = "execution_summary"
_DETAIL = "execution_detail"
_ESTIMATE = "estimated_inference_time"
_RUNS = "all_inference_times"


def recognises(source: Source) -> bool:
    """Whether a file looks like a profile of Qualcomm AI Hub."""
    return source.text.lstrip().startswith("{") and f'"{_SUMMARY}"' in source.text


def parse(source: Source) -> Reading:
    """Read the summary, the runs where they are there, and the time of each layer.

    Raises:
        InputError: the file is damaged or lacks the summary.
    """
    document = source.table("", source.document, "the document")
    summary = source.table(_SUMMARY, document.get(_SUMMARY), _SUMMARY)
    estimate_ms = source.latency_ms(_SUMMARY, summary.get(_ESTIMATE), _PER_MS, _ESTIMATE)
    samples = _samples(source, summary)
    if samples:
        longest_ms = max(samples) / 1e6
        source.ordered(_SUMMARY, {_ESTIMATE: estimate_ms, f"largest of {_RUNS}": longest_ms})
    operators = _operators(source, document.get(_DETAIL, []))
    latency = ImportedLatency(
        network="",
        place=_SUMMARY,
        value_ms=median_ns(samples) / 1e6 if samples else estimate_ms,
        statistic=Statistic.MEDIAN if samples else Statistic.STATED,
        samples_ns=samples,
        runs=len(samples) or None,
        facts=_facts(estimate_ms, operators),
        operators=operators,
    )
    return Reading((latency,))


def _samples(source: Source, summary: Mapping[str, object]) -> tuple[int, ...]:
    runs = source.array(f"{_SUMMARY}.{_RUNS}", summary.get(_RUNS, []), _RUNS)
    return tuple(
        round(source.latency_ms(f"{_SUMMARY}.{_RUNS}[{i}]", run, _PER_MS, "a time") * 1e6)
        for i, run in enumerate(runs)
    )


def _operators(source: Source, detail: object) -> tuple[OperatorTime, ...]:
    operators = []
    for index, layer in enumerate(source.array(_DETAIL, detail, _DETAIL)):
        place = f"{_DETAIL}[{index}]"
        table = source.table(place, layer, "a layer")
        time_ms = source.duration_ms(place, table.get("execution_time"), _PER_MS, "execution_time")
        texts = [str(table.get(key) or "") for key in ("name", "type", "compute_unit")]
        operators.append(OperatorTime(texts[0], texts[1], time_ms, texts[2].upper()))
    return tuple(operators)


def _facts(estimate_ms: float, operators: Sequence[OperatorTime]) -> dict[str, str]:
    units = Counter(operator.unit for operator in operators if operator.unit)
    facts = {"estimated_inference_time_ms": f"{estimate_ms:.6g}"}
    if units:
        facts["layers_by_compute_unit"] = ", ".join(f"{u} {n}" for u, n in sorted(units.items()))
    return facts
