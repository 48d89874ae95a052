"""Our own results document (``ctm-results/1``), as the runner writes it on any machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from predictor.core.records import Precision
from predictor.probing.importers.records import ImportedLatency, Reading, Statistic
from predictor.probing.importers.source import Source, median_ns
from predictor.probing.operator_times import OperatorTime, checked_operators
from predictor.probing.runner.results import digest
from predictor.probing.runner.settings import RESULTS_SCHEMA

_ACTION = "fetch the results file from the machine again"
_MEDIAN_TOLERANCE = 1e-6


def recognises(source: Source) -> bool:
    """Whether a file looks like our own results document."""
    return source.text.lstrip().startswith("{") and '"ctm-results/' in source.text


def parse(source: Source) -> Reading:
    """Read the networks that have a number, with every sample of the blocks that agree.

    Raises:
        InputError: the file is damaged or was changed, is of another version, or has no number.
    """
    document = dict(source.table("", source.document, "the document"))
    if document.get("schema") != RESULTS_SCHEMA:
        reason = f"its schema is {document.get('schema')!r}, this version reads {RESULTS_SCHEMA}"
        raise source.error(reason, "use the same version here and there")
    if document.get("digest") != digest(document):
        raise source.error(
            "its content does not fit its digest: it was changed or damaged", _ACTION
        )
    configuration = source.table("configuration", document.get("configuration"), "configuration")
    entries = source.array("networks", document.get("networks"), "networks")
    latencies: dict[str, ImportedLatency] = {}
    notes: list[str] = []
    for index, value in enumerate(entries):
        place = f"networks[{index}]"
        entry = source.table(place, value, "a network")
        name = str(entry.get("name", ""))
        if name in latencies:
            raise source.error_at(place, f"{name} stands twice", _ACTION)
        if entry.get("median_ms") is None:
            why = entry.get("reason") or f"it is {entry.get('verdict')}"
            notes.append(f"{name} has no latency: {why}")
            continue
        latencies[name] = _latency(source, place, entry, configuration)
    if not latencies:
        raise source.error("no network in it has a latency", "measure again")
    return Reading(tuple(latencies.values()), tuple(notes))


def _latency(
    source: Source, place: str, entry: Mapping[str, object], configuration: Mapping[str, object]
) -> ImportedLatency:
    median_ms = source.latency_ms(place, entry["median_ms"], 1.0, "median_ms")
    samples = _samples(source, place, entry)
    if samples and abs(median_ns(sorted(samples)) / 1e6 / median_ms - 1) > _MEDIAN_TOLERANCE:
        raise source.error_at(place, "its median is not the median of its samples", _ACTION)
    threads = configuration.get("threads")
    precision = configuration.get("precision")
    if precision not in list(Precision):
        raise source.error_at("configuration", f"precision is {precision!r}", _ACTION)
    return ImportedLatency(
        network=str(entry.get("name", "")),
        place=place,
        value_ms=median_ms,
        statistic=Statistic.MEDIAN,
        samples_ns=samples,
        runs=len(samples) or None,
        runtime="onnxruntime",
        precision=Precision(str(precision)),
        threads=source.count("configuration", threads, "threads") if threads else None,
        facts={
            "fingerprint": str(entry.get("fingerprint", "")),
            "verdict": str(entry.get("verdict", "")),
            "provider": str(configuration.get("provider", "")),
        },
        operators=_operators(source, place, entry),
    )


def _operators(source: Source, place: str, entry: Mapping[str, object]) -> tuple[OperatorTime, ...]:
    try:
        return checked_operators(entry.get("operators", []))
    except ValueError as error:
        raise source.error_at(place, str(error), _ACTION) from error


def _samples(source: Source, place: str, entry: Mapping[str, object]) -> tuple[int, ...]:
    blocks = source.array(place, entry.get("blocks"), "blocks")
    samples: list[int] = []
    for index in source.array(place, entry.get("agreeing"), "agreeing"):
        if not isinstance(index, int) or not 0 <= index < len(blocks):
            raise source.error_at(place, f"block {index!r} is not there", _ACTION)
        block = source.table(place, blocks[index], "a block")
        samples.extend(_block_samples(source, f"{place}.blocks[{index}]", block))
    return tuple(samples)


def _block_samples(source: Source, place: str, block: Mapping[str, object]) -> Sequence[int]:
    values = source.array(place, block.get("samples_ns"), "samples_ns")
    return [round(source.latency_ms(place, value, 1e6, "a sample") * 1e6) for value in values]
