"""Further published latencies: tables of benchmarks, and figures that engineers posted one by one.

Source: public repositories, named in each row (``harvest/README.md`` and ``posted/README.md`` of
the data folder). Their columns differ a little from those of
:mod:`~ctm_research.sources.published`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from ctm_research.sources.aliases import read_aliases
from ctm_research.sources.graphs import joined_graphs
from ctm_research.sources.published import ALL_THREADS, PublishedRows
from ctm_research.sources.published_rules import RunsOfTable
from ctm_research.sources.samples import Sample
from ctm_research.sources.source import Source
from ctm_research.sources.stated import STATISTICS
from ctm_research.sources.tables import Row, read_rows

_HARVEST = (
    "gpu_pytorch_compile_transformers.csv.gz",
    "mixed_small_tables2.csv.gz",
    "x86_dl_benchmark.csv.gz",
    "x86_ort_openppl.csv.gz",
    "x86_small_tables.csv.gz",
)
_POSTED = ("latencies.csv",)
_COLUMNS = ("source", "device", "unit", "runtime", "runtime_version", "precision", "threads")
_FURTHER = ("batch", "model", "input_shape", "metric", "note")
# Words for a run on all cores, and the processor of one socket whose runtimes take them unasked.
_DEFAULTS = ("default", "all (1 infer request)")
_ONE_SOCKET = ("itlab-vision/dl-benchmark", "Intel Core i3-8100")
# Names of runtimes with a back end or a mode in them.
_RUNTIMES = {"tflite XNNPACK": "tflite"}


def samples(source: str, tables: tuple[str, ...], data: Path) -> Iterator[Sample]:
    """Yield every row of a folder in the common form, but those that are no latencies.

    Args:
        source: name of it and of its folder.
        tables: its files.
        data: folder with one folder a source.

    Raises:
        InputError: a table is missing or damaged.
    """
    graphs, aliases = joined_graphs(data, source), read_aliases(source)
    for table in tables:
        path = data / source / table
        rows = [_in_common_form(row) for row in read_rows(path, (*_COLUMNS, *_FURTHER))]
        rows = [row for row in rows if row["metric"] in STATISTICS]
        reader = PublishedRows(source, graphs, aliases, RunsOfTable(rows), table)
        yield from map(reader.sample, rows)


def _in_common_form(row: Row) -> Row:
    """Return a row with the columns of the published tables."""
    cells = {"provider_or_delegate": "", "streams_or_instances": "", **row.cells}
    cells["runtime"] = _RUNTIMES.get(cells["runtime"], cells["runtime"])
    if "latency_ms" in cells:
        cells["metric"], cells["value"] = "latency_ms", cells.pop("latency_ms")
    repository, device = _ONE_SOCKET
    is_default = row["source"].startswith(repository) and row["device"] == device
    if row["unit"] == "cpu" and (is_default or row["threads"] in _DEFAULTS):
        cells["threads"] = ALL_THREADS
    return replace(row, cells=cells)


SOURCES = tuple(
    Source(
        name=name,
        rank=rank,
        title=title,
        repository="many repositories, named in each row",
        licence="each its own",
        folder=name,
        files=files,
        row="a stated statistic",
        samples=partial(samples, name, files),
    )
    for rank, name, title, files in (
        (18, "harvest", "Public benchmark tables of 2018 to 2025", _HARVEST),
        (19, "posted", "Latencies that engineers posted", _POSTED),
    )
)
