"""Published latencies in one form: phones, MLPerf, x86, GPUs, NPUs, and whole models of kernels.

Source: public repositories, named in each row (``published/README.md`` of the data folder). A rate
is a latency only where one run at a time is stated. Threads that are not stated are not known.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ctm_research.sources.aliases import UNKNOWN, Aliases, read_aliases
from ctm_research.sources.graphs import Joined, joined_graphs
from ctm_research.sources.published_rules import RunsOfTable, doubt, excluded
from ctm_research.sources.samples import INTERVAL, Sample, Statistic
from ctm_research.sources.source import Source
from ctm_research.sources.stated import STATISTICS, precision_named, runtime_named
from ctm_research.sources.tables import Row, read_rows
from predictor.core.metrics import Family
from predictor.core.records import Configuration

_TABLE = "latencies.csv.gz"
_COLUMNS = (
    *("source", "device", "unit", "runtime", "runtime_version", "provider_or_delegate"),
    *("precision", "threads", "batch", "model", "input_shape", "metric", "value"),
    *("streams_or_instances", "note"),
)
NOT_APART = "the unit that ran is not told apart"
SEVERAL = "several runs at a time: the latency has waiting in it"
NO_BATCH = "the batch is not stated"
ALL_THREADS = "all"
"""In the column of threads: one thread on each core."""
DEDUCED = (
    *("filled from", "all cores (source: multi-threaded)", "thread count unsure"),
    "thread count not in this table",
)
"""Words of notes that say that a number of threads is a deduction."""

_UNITS = {"cpu": Family.CPU, "gpu": Family.GPU, "npu": Family.NPU, "dsp": Family.NPU}
_UNITS |= {"fpga": Family.FPGA, "soc": Family.CPU}
_OF_PHONES = {Family.CPU: Family.MOBILE_CPU, Family.GPU: Family.MOBILE_GPU}
# OpenVINO's own pages: one request on all cores of the machine.
_ALL_CORES = ("openvinotoolkit/openvino@", "xu-yuan1/openvino-docs@")


@dataclass(frozen=True, slots=True)
class PublishedRows:
    """The rows of one table, with what tells their targets and graphs.

    Attributes:
        source: name of it.
        graphs: by the names of the source.
        aliases: of its devices.
        runs: what only the other rows tell.
        table: name of the file.
    """

    source: str
    graphs: Joined
    aliases: Aliases
    runs: RunsOfTable
    table: str = _TABLE

    def sample(self, row: Row) -> Sample:
        """Return one row as a sample.

        Raises:
            InputError: a cell is damaged.
        """
        runtime = runtime_named(row["runtime"], row["provider_or_delegate"], row["unit"])
        precision, unsaid = precision_named(row["precision"], runtime, row["unit"])
        alias = self.aliases.find(row["device"], row["unit"], row["runtime"])
        batch = row.count("batch") if row["batch"] else 1
        threads, likely, is_stated = _threads(row)
        latency_ms, statistic = _latency(row, batch)
        reasons = (
            excluded(self.source, row),
            self.runs.excluded(row),
            # Rates of whole systems are among them, so that no bound of one device holds either.
            INTERVAL if statistic is Statistic.INTERVAL else "",
            _several(row),
            NO_BATCH if not row["batch"] else "",
            unsaid,
            NOT_APART if row["unit"] == "soc" and alias is UNKNOWN else "",
            alias.left_out,
        )
        return Sample(
            source=self.source,
            table=self.table,
            line=row.line,
            network=f"{row['model']} {row['input_shape']}".strip(),
            graph=self.graphs.get((row["model"], row["input_shape"])),
            batch_factor=batch,
            device=f"{row['device']}, {row['unit']}",
            device_id=alias.device_id,
            configuration=Configuration(runtime, precision, threads, batch),
            latency_ms=latency_ms,
            statistic=statistic,
            provenance=", ".join(filter(None, (row["source"], row["runtime_version"]))),
            flags=tuple(filter(None, (row["provider_or_delegate"], row["note"]))),
            excluded=next(filter(None, reasons), ""),
            doubt=doubt(row),
            family=_family(self.source, row),
            threads_stated=is_stated,
            threads_likely=likely,
            cluster=self.runs.cluster(row),
        )


def samples(source: str, data: Path) -> Iterator[Sample]:
    """Yield every row of a folder in the common form.

    Args:
        source: name of it.
        data: folder with one folder a source.

    Raises:
        InputError: a table is missing or damaged.
    """
    folder = data.joinpath(*_FOLDERS[source].split("/"))
    return table_samples(source, folder / _TABLE, joined_graphs(data, folder.name))


def table_samples(source: str, path: Path, graphs: Joined) -> Iterator[Sample]:
    """Yield every row of a table in the common form.

    Args:
        source: name of it.
        path: of the table.
        graphs: by the names of the source.

    Raises:
        InputError: the table is missing or damaged.
    """
    rows = list(read_rows(path, _COLUMNS))
    for row in rows:
        if row["metric"] not in STATISTICS:
            row.refuse("metric", f"one of {', '.join(STATISTICS)}")
        if row["unit"] not in _UNITS:
            row.refuse("unit", f"one of {', '.join(_UNITS)}")
    reader = PublishedRows(source, graphs, read_aliases(source), RunsOfTable(rows), path.name)
    for row in rows:
        yield reader.sample(row)


def _latency(row: Row, batch: int) -> tuple[float, Statistic]:
    """Return the time of one run and its statistic; of runs that may overlap, their interval."""
    statistic = STATISTICS[row["metric"]]
    if statistic is not Statistic.INTERVAL:
        return row.positive("value"), statistic
    one_at_a_time = row["streams_or_instances"] == "1"
    latency_ms = 1e3 * batch / row.positive("value")
    return latency_ms, Statistic.MEAN if one_at_a_time else Statistic.INTERVAL


def _several(row: Row) -> str:
    return SEVERAL if row["streams_or_instances"] not in {"", "1"} else ""


def _threads(row: Row) -> tuple[int, int, bool]:
    """Return the stated number of threads, 0 being all; a deduced one; whether it is stated."""
    if row["unit"] != "cpu":
        return 0, 0, True
    likely = row.cells.get("threads_likely", "")
    if likely.isdigit():
        return 0, int(likely), False
    if row["threads"] == ALL_THREADS:
        return 0, 0, True
    if row["threads"]:
        count = row.count("threads")
        return (0, count, False) if any(w in row["note"] for w in DEDUCED) else (count, 0, True)
    return 0, 0, row["source"].startswith(_ALL_CORES)


def _family(source: str, row: Row) -> Family:
    """Return the kind of a device that the catalogue lacks, from the stated unit."""
    family = _UNITS[row["unit"]]
    return _OF_PHONES.get(family, family) if source == "published_mobile" else family


_FOLDERS = {
    "published_gpu": "published/gpu",
    "published_mlperf": "published/mlperf",
    "published_mobile": "published/mobile",
    "published_npu": "published/npu",
    "published_x86": "published/x86",
    "kernels": "kernels",
}
_TITLES = {
    "published_gpu": "Published latencies on GPUs",
    "published_mlperf": "MLPerf Inference 0.7 to 5.1, Mobile and Tiny",
    "published_mobile": "Published latencies on phones and boards",
    "published_npu": "Published latencies on NPUs",
    "published_x86": "Published latencies on x86 processors",
    "kernels": "Published latencies under stated clocks",
}

_SPREADS = (("p50_ms", "mean_ms"), ("p50_ms", "p90_ms"))

SOURCES = tuple(
    Source(
        name=name,
        rank=rank,
        title=_TITLES[name],
        repository="many repositories, named in each row",
        licence="each its own",
        folder=folder,
        files=(_TABLE,),
        row="a stated statistic",
        samples=partial(samples, name),
        spreads=_SPREADS if name == "published_mlperf" else (),
    )
    for rank, (name, folder) in enumerate(_FOLDERS.items(), start=11)
)
