"""Triton Model Analyzer's ``metrics-model-inference.csv``: a row a configuration and load.

Columns are those of ``inference_output_fields``: by default model, batch, concurrency (or request
rate), the configuration, its instances, inferences a second and ``p99 Latency (ms)``; others such
as ``Avg Latency (ms)`` on wish. Read from files of versions 1.4 to 1.40. With one request at a
time, batch over inferences a second is the mean time of a request.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence

from predictor.core.text import plural
from predictor.probing.importers.records import (
    ImportedLatency,
    Reading,
    Statistic,
    facts_ms,
)
from predictor.probing.importers.source import Source

_MODEL, _BATCH, _CONCURRENCY = "Model", "Batch", "Concurrency"
_CONFIGURATION, _INSTANCES = "Model Config Path", "Instance Group"
_RATE, _MEAN = "Throughput (infer/sec)", "Avg Latency (ms)"
_PERCENTILES = {f"p{n} Latency (ms)": f"p{n}" for n in (90, 95, 99)}
_DEFAULT = "_config_default"
_ACTION = "import the metrics-model-inference.csv of model-analyzer"
_ALONE = "measure again with concurrency: 1"
_NOTE = "It is the time of a request, so the way to the server and back is in it."


def recognises(source: Source) -> bool:
    """Whether a file looks like a table of Model Analyzer."""
    header = source.text.lstrip().split("\n", 1)[0]
    return header.startswith(f"{_MODEL},") and _CONFIGURATION in header and _RATE in header


def parse(source: Source) -> Reading:
    """Read a row of each model and batch with one request at a time.

    That is the row of the model's default configuration, else the first: the tool sorts by its
    objective.

    Raises:
        InputError: a row is damaged, or none is of one model and one request at a time.
    """
    chosen: dict[tuple[str, str], tuple[str, Mapping[str, str]]] = {}
    count = alone = 0
    for place, row in _rows(source):
        count += 1
        if "," in row[_MODEL] or row[_CONCURRENCY] != "1":
            continue  # two models share the device, or requests wait for each other
        alone += 1
        key = row[_MODEL], row[_BATCH]
        if key not in chosen or row[_CONFIGURATION].endswith(_DEFAULT):
            chosen[key] = place, row
    if not chosen:
        reason = "no row of it is of one model with one request at a time"
        raise source.error(reason, _ALONE)
    notes = [_NOTE]
    if omitted := alone - len(chosen):
        rows = plural(omitted, "row")
        notes.append(f"Left out: {rows} of other configurations of these models.")
    if omitted := count - alone:
        rows = plural(omitted, "row")
        notes.append(f"Left out: {rows} with several requests or models at once.")
    return Reading(
        tuple(_latency(source, place, row) for place, row in chosen.values()), tuple(notes)
    )


def _rows(source: Source) -> Iterator[tuple[str, Mapping[str, str]]]:
    reader = csv.reader(io.StringIO(source.text.lstrip(), newline=""), strict=True)
    titles: Sequence[str] = ()
    try:
        for cells in reader:
            place = f"line {reader.line_num}"
            if not titles:
                titles = cells
                _check(source, place, titles)
            elif cells and len(cells) != len(titles):
                reason = f"it has {len(cells)} cells, the header has {len(titles)}"
                raise source.error_at(place, reason, _ACTION)
            elif cells:
                yield place, dict(zip(titles, cells, strict=True))
    except csv.Error as error:
        place = f"line {reader.line_num}"
        raise source.error_at(place, f"it is no CSV ({error})", _ACTION) from error


def _check(source: Source, place: str, titles: Sequence[str]) -> None:
    if len(set(titles)) < len(titles):
        raise source.error_at(place, "a column stands twice", _ACTION)
    for title in (_MODEL, _BATCH, _CONCURRENCY, _CONFIGURATION, _RATE):
        if title not in titles:
            load = "; requests came at a rate" if "Request Rate" in titles else ""
            raise source.error_at(place, f"column {title} is missing{load}", _ALONE)


def _latency(source: Source, place: str, row: Mapping[str, str]) -> ImportedLatency:
    batch = source.count(place, row[_BATCH], _BATCH)
    rate = source.quantity(place, row[_RATE], _RATE)
    if _MEAN in row:
        value_ms = source.latency_ms(place, row[_MEAN], 1.0, _MEAN)
    else:
        value_ms = source.latency_ms(place, 1e3 * batch / rate if rate else 0, 1.0, _RATE)
    percentiles = {
        name: source.latency_ms(place, row[title], 1.0, title)
        for title, name in _PERCENTILES.items()
        if title in row
    }
    source.ordered(place, percentiles)
    if percentiles and value_ms > 2 * max(percentiles.values()) + 0.1:
        raise source.error_at(place, "its mean is far above its percentiles", _ACTION)
    return ImportedLatency(
        network=row[_MODEL],
        place=place,
        value_ms=value_ms,
        statistic=Statistic.MEAN,
        batch=batch,
        facts={
            "configuration": row[_CONFIGURATION],
            "instances": row.get(_INSTANCES, ""),
            "throughput_per_s": f"{rate:.6g}",
            **facts_ms(percentiles),
        },
    )
