"""Rates and latencies of one network on one system, from the published tables.

Sources: MLPerf's Offline beside its SingleStream, OpenVINO's pages, runs of Vitis AI on one thread
and on several, and stated batches of PyTorch and TensorFlow beside batch 1.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Final

import numpy as np

from ctm_research.corpus.graph_files import GraphReader
from ctm_research.corpus.silicon import silicon_key
from ctm_research.sources.aliases import read_aliases
from ctm_research.sources.graphs import joined_graphs
from ctm_research.sources.published import PublishedRows
from ctm_research.sources.published_rules import RunsOfTable
from ctm_research.sources.samples import GraphFile, Sample
from ctm_research.sources.tables import Row, read_rows
from predictor.calibration.tails import kind_of
from predictor.core.errors import InputError
from predictor.core.records import Configuration, Device, Precision, Target
from predictor.cost.engine import NOTHING_MEASURED
from predictor.cost.rates.cores import separate_cores
from predictor.services.prediction.batches import SIZES, batch_times, largest_gain
from predictor.services.prediction.engines import open_engine

VARYING: Final = ("rnnt", "3d_unet")
"""Networks of MLPerf whose inputs differ in length: their rate is of other inputs."""
QUERIES: Final = "MultiStream"
MULTIPLE: Final = 8
"""Samples of one of MLPerf's queries of several."""
SMALLER: Final = "smaller batches"
"""Than the best one: they judge predicted batches."""
_BATCHED: Final = ("pytorch", "tensorflow")
_LEAST_BATCH: Final = 8
# Of these a pair is of less work than the graph's, or of a slice of the card.
_OTHER_WORK: Final = ("padding", "sparse", "slice of a card", "several accelerators")
_OVERLAPPING: Final = ("NOT a single", "instances running")  # in notes of latencies


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A rate beside a latency.

    Attributes:
        source: of both, in a word or two.
        runtime, kind: the class: runtime, and kind of device.
        device: id in the catalogue.
        silicon: of the device.
        network: name and shape in the source.
        graph: of the network; None where the data folder has none.
        precision: of the run.
        latency_ms: of a run of one item, one after the other.
        per_s: items a second of one unit, as many at once as were run.
        batch: items of a run of which the latency is known too; 0 of rates alone.
        batch_gain: what the best batch brings by prediction, or that one; NaN without a graph.
        bound_share: latency over the bound of an item in a large batch; NaN without one.
        predicted_ms: latency by prediction; NaN without a graph.
        cores: of a processor, or that run images of their own on an accelerator.
    """

    source: str
    runtime: str
    kind: str
    device: str
    silicon: str
    network: str
    graph: GraphFile | None
    precision: Precision
    latency_ms: float
    per_s: float
    batch: int = 0
    batch_gain: float = float("nan")
    bound_share: float = float("nan")
    predicted_ms: float = float("nan")
    cores: int = 1

    @property
    def gain(self) -> float:
        """Items in the time of one run."""
        return self.per_s * self.latency_ms / 1000


@dataclass(frozen=True, slots=True, eq=False)
class _Cell:
    """A row of a table, and what it is of."""

    row: Row
    sample: Sample


def read_pairs(data: Path, devices: dict[str, Device]) -> list[Pair]:
    """Return all pairs, with what is predicted of them.

    Args:
        data: folder with one folder a source.
        devices: the catalogue by id.

    Raises:
        InputError: a table or graph is missing or damaged, or there is no pair.
    """
    pairs = [
        *mlperf_pairs(cells_of(data, "mlperf")),
        *_openvino(cells_of(data, "x86")),
        *_threads(cells_of(data, "npu")),
        *_stated_batches(cells_of(data, "gpu")),
    ]
    known = [_with_device(pair, devices[pair.device]) for pair in pairs]
    if not known:
        raise InputError(str(data), "it has no rate beside a latency", "name the data folder")
    return _with_predictions(known, devices)


def cells_of(data: Path, folder: str) -> Iterator[_Cell]:
    """Yield the rows of a table that are of a device of the catalogue and of its whole graph."""
    rows = list(read_rows(data / "published" / folder / "latencies.csv.gz", ()))
    source = f"published_{folder}"
    reader = PublishedRows(
        source, joined_graphs(data, folder), read_aliases(source), RunsOfTable(rows)
    )
    for row in rows:
        sample = reader.sample(row)
        is_other = any(word in sample.excluded for word in _OTHER_WORK)
        if sample.device_id and not is_other and row.cells.get("valid") != "INVALID":
            yield _Cell(row, sample)


def _grouped(cells: Iterable[_Cell], columns: Sequence[str]) -> dict[tuple[str, ...], list[_Cell]]:
    groups: dict[tuple[str, ...], list[_Cell]] = defaultdict(list)
    for cell in cells:
        groups[tuple(cell.row[column] for column in columns)].append(cell)
    return groups


def _pair(source: str, cell: _Cell, latency_ms: float, per_s: float, batch: int = 0) -> Pair:
    sample = cell.sample
    return Pair(
        source=source,
        runtime=sample.configuration.runtime,
        kind="",
        device=sample.device_id,
        silicon=silicon_key(sample.device_id),
        network=sample.network,
        graph=sample.graph,
        precision=sample.configuration.precision,
        latency_ms=latency_ms,
        per_s=per_s,
        batch=batch,
    )


def mlperf_pairs(cells: Iterable[_Cell]) -> Iterator[Pair]:
    """Yield SingleStream beside Offline, of one accelerator, and beside MultiStream."""
    wanted = [cell for cell in cells if not cell.row["model"].startswith(VARYING)]
    columns = ("system_id", "model", "precision", "unit", "runtime")
    for group in _grouped(wanted, columns).values():
        by = _grouped(group, ("scenario",))
        single = by.get(("SingleStream",))
        if not single:
            continue
        latency_ms = median(cell.row.positive("value") for cell in single)
        if offline := by.get(("Offline",)):
            best = max(offline, key=lambda cell: cell.row.positive("value"))
            units = max(int(best.row["accelerators"] or 1), 1)
            yield _pair("Offline", single[0], latency_ms, best.row.positive("value") / units)
        multiple = [c for c in by.get((QUERIES,), ()) if c.row["batch"] == str(MULTIPLE)]
        if multiple:
            query_ms = median(cell.row.positive("value") for cell in multiple)
            per_s = MULTIPLE * 1000 / query_ms
            yield _pair(QUERIES, single[0], latency_ms, per_s, MULTIPLE)


def _openvino(cells: Iterable[_Cell]) -> Iterator[Pair]:
    """Yield the rates of OpenVINO's pages, streams chosen by it, beside its latencies."""
    columns = ("runtime_version", "device", "unit", "runtime", "precision", "model",
               "input_shape", "batch")  # fmt: skip
    wanted = [
        cell
        for cell in cells
        if cell.row["runtime"] == "openvino" and cell.row["unit"] in {"cpu", "gpu"}
        and not any(word in cell.row["note"] for word in _OVERLAPPING)
    ]  # fmt: skip
    for group in _grouped(wanted, columns).values():
        rates = [c for c in group if c.row["metric"] == "throughput_ips"]
        one = [c for c in group if c not in rates and c.row["streams_or_instances"] in {"", "1"}]
        if rates and one:
            latency_ms = median(cell.row.positive("value") for cell in one)
            per_s = median(cell.row.positive("value") for cell in rates)
            yield _pair("OpenVINO's pages", one[0], latency_ms, per_s)


def _threads(cells: Iterable[_Cell]) -> Iterator[Pair]:
    """Yield Vitis AI's rates on several threads of the host beside those on one."""
    columns = ("source", "device", "runtime", "precision", "model", "input_shape")
    wanted = [
        cell
        for cell in cells
        if cell.sample.configuration.runtime == "vitis-ai"
        and cell.row["metric"] == "throughput_ips"
    ]
    for group in _grouped(wanted, columns).values():
        rates = {
            several: max(
                (
                    cell.row.positive("value")
                    for cell in group
                    if (cell.row["streams_or_instances"] != "1") is several
                ),
                default=0.0,
            )
            for several in (False, True)
        }
        if all(rates.values()):
            yield _pair("threads", group[0], 1000 / rates[False], rates[True])


def _stated_batches(cells: Iterable[_Cell]) -> Iterator[Pair]:
    """Yield the best stated batch of frameworks beside batch 1, and the other batches."""
    columns = ("device", "unit", "runtime", "provider_or_delegate", "runtime_version", "precision",
               "model", "threads", "metric")  # fmt: skip
    wanted = [
        cell
        for cell in cells
        if cell.sample.configuration.runtime in _BATCHED and cell.row["unit"] == "gpu"
        and cell.row["batch"] and cell.row["metric"] != "throughput_ips"
        and cell.sample.graph is not None
    ]  # fmt: skip
    for group in _grouped(wanted, columns).values():
        tables: dict[object, list[_Cell]] = defaultdict(list)
        for cell in group:
            tables[cell.row["source"].partition(":")[0], cell.sample.graph].append(cell)
        for table in tables.values():
            yield from _of_batches(table)


def _of_batches(table: Sequence[_Cell]) -> Iterator[Pair]:
    """Yield the pairs of one network on one device, the best batch first."""
    one = [cell.row.positive("value") for cell in table if cell.row["batch"] == "1"]
    large = [cell for cell in table if cell.row.count("batch") >= _LEAST_BATCH]
    if not one:
        return
    rates = [1000 * cell.row.count("batch") / cell.row.positive("value") for cell in large]
    for rank, place in enumerate(np.argsort(rates)[::-1].tolist()):
        source = SMALLER if rank else "stated batches"
        batch = large[place].row.count("batch")
        yield _pair(source, large[place], median(one), rates[place], batch)


def _with_device(pair: Pair, device: Device) -> Pair:
    is_processor = kind_of(device) == "cpu"
    cores = device.core_count or 1 if is_processor else separate_cores(device)
    return replace(pair, kind=kind_of(device), cores=cores)


def _with_predictions(pairs: Sequence[Pair], devices: dict[str, Device]) -> list[Pair]:
    """Return the pairs, those of a graph with what batches bring, the bound and the latency."""
    known = {
        pair.graph: [p for p in pairs if p.graph == pair.graph] for pair in pairs if pair.graph
    }
    predicted = [pair for pair in pairs if pair.graph is None]
    with GraphReader() as reader:
        for file, group in known.items():
            graph = reader.read(file)
            keys = list(dict.fromkeys((p.device, p.runtime, p.precision) for p in group))
            targets = [
                Target(devices[d], Configuration(r, precision, 0, 1)) for d, r, precision in keys
            ]
            times = batch_times(graph, targets, SIZES)
            gain = largest_gain(times, SIZES).factor
            table = open_engine().predict([graph], targets, NOTHING_MEASURED)
            for pair in group:
                place = keys.index((pair.device, pair.runtime, pair.precision))
                of_batch = pair.batch / np.interp(pair.batch, SIZES, times.ratio[:, place])
                predicted.append(
                    replace(
                        pair,
                        batch_gain=float(of_batch if pair.batch else gain[place]),
                        bound_share=max(pair.latency_ms / float(times.bound_ms[place]), 1.0),
                        predicted_ms=float(table.latency_ms[0, place]),
                    )
                )
    return predicted
