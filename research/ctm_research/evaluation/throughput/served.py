"""MLPerf's Server beside Offline of the same system: batches of items that come at random.

In Server queries of one sample come as a Poisson process, and 99 % of them are to end within the
deadline of the network; the rate is the largest that a system was run at. ``mlperf_server.csv``
beside the aliases of the sources has these lines of rounds 3.0 to 5.1, each with the repository and
commit that it was read from (MLCommons' and its aggregate's, Apache License 2.0); only those of
systems and networks whose Offline rate the data folder has.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ctm_research.corpus.graph_files import GraphReader
from ctm_research.corpus.silicon import silicon_key
from ctm_research.sources.graphs import joined_graphs
from ctm_research.sources.samples import GraphFile
from ctm_research.sources.stated import runtime_named
from ctm_research.sources.tables import Row, read_rows
from predictor.calibration.tails import kind_of
from predictor.core.records import Configuration, Device, Precision, Target
from predictor.cost.engine import NOTHING_MEASURED
from predictor.services.prediction.batches import SIZES, batch_times
from predictor.services.prediction.engines import open_engine
from predictor.simulation.arrivals import Poisson
from predictor.simulation.pipelines import Pipeline, StageRuns, pass_through
from predictor.simulation.statistics import percentiles, settled

Floats = NDArray[np.float64]

TABLE: Final = Path(__file__).parents[2] / "sources" / "mlperf_server.csv"
DEADLINES_MS: Final[Mapping[str, float]] = {"resnet50": 15.0, "retinanet": 100.0}
"""Of the networks, by the rules of MLPerf Inference 3.0 to 5.1."""
_COLUMNS: Final = ("system_id", "benchmark", "per_s", "device", "source")
_ITEMS: Final = 20_000  # the rate of a long run within 2 %
_STEPS: Final = 8
_LEAST_SHARE: Final = 1 / 64
# Version 3.0 has a container's name instead, and closed entries after it state no precision.
_CONTAINERS: Final = {"ngc-mlperf-v3.0.2": "tensorrt"}
_USUAL: Final = Precision.INT8


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Served:
    """A Server rate beside an Offline one, both of one accelerator or of a host's processors.

    Attributes:
        runtime, kind: the class: runtime, and kind of device.
        device: id in the catalogue.
        silicon: of the device.
        network: as the benchmark is named.
        server_per_s, offline_per_s: published, items a second.
        latency_ms: of one run by prediction.
        ratio: time of a batch over that of one run by prediction, float64 [S] of ``SIZES``.
    """

    runtime: str
    kind: str
    device: str
    silicon: str
    network: str
    server_per_s: float
    offline_per_s: float
    latency_ms: float
    ratio: Floats

    @property
    def share(self) -> float:
        """Server over Offline."""
        return self.server_per_s / self.offline_per_s

    def gains(self) -> Floats:
        """Return what batches bring by prediction, ln, by their size from 1, float64 [batch]."""
        sizes = np.arange(1, SIZES[-1] + 1)
        gains: Floats = np.log(sizes / np.interp(sizes, SIZES, self.ratio))
        return gains


def read_served(data: Path, devices: Mapping[str, Device], table: Path = TABLE) -> list[Served]:
    """Return the lines of a table beside the best Offline run of their system and network.

    Args:
        data: folder with one folder a source.
        devices: the catalogue by id.
        table: with the columns of ``mlperf_server.csv``.

    Raises:
        InputError: a table or graph is missing or damaged.
    """
    offline = _offline(data)
    joined = joined_graphs(data, "mlperf")
    by_graph: dict[GraphFile, list[tuple[Row, Row]]] = defaultdict(list)
    for row in read_rows(table, _COLUMNS):
        beside = offline.get((row["system_id"], row["benchmark"]))
        file = None if beside is None else joined.get((beside["model"], beside["input_shape"]))
        if beside is not None and file is not None:
            by_graph[file].append((row, beside))
    served: list[Served] = []
    with GraphReader() as reader:
        for file, rows in by_graph.items():
            graph = reader.read(file)
            targets = [_target(devices[row["device"]], beside) for row, beside in rows]
            unique = {target.id: target for target in targets}
            places = {key: place for place, key in enumerate(unique)}
            times = batch_times(graph, list(unique.values()), SIZES)
            predicted = open_engine().predict([graph], list(unique.values()), NOTHING_MEASURED)
            for (row, beside), target in zip(rows, targets, strict=True):
                place = places[target.id]
                latency_ms, ratio = predicted.latency_ms[0, place], times.ratio[:, place]
                served.append(_served(row, beside, target, float(latency_ms), ratio))
    return served


def _offline(data: Path) -> dict[tuple[str, str], Row]:
    best: dict[tuple[str, str], Row] = {}
    for row in read_rows(data / "published" / "mlperf" / "latencies.csv.gz", ()):
        key = row["system_id"], row["benchmark_name"]
        if row["scenario"] == "Offline" and row["valid"] != "INVALID":
            best[key] = max(row, best.get(key, row), key=lambda other: other.positive("value"))
    return best


def _target(device: Device, offline: Row) -> Target:
    runtime = _CONTAINERS.get(
        offline["runtime"], runtime_named(offline["runtime"], "", offline["unit"])
    )
    stated = offline["precision"]
    precision = Precision(stated) if stated in set(Precision) else _USUAL
    return Target(device, Configuration(runtime, precision, 0, 1))


def _served(row: Row, offline: Row, target: Target, latency_ms: float, ratio: Floats) -> Served:
    count = offline["accelerators"]
    units = int(count) if count.isdigit() and int(count) else 1
    return Served(
        runtime=target.configuration.runtime,
        kind=kind_of(target.device),
        device=target.device.id,
        silicon=silicon_key(target.device.id),
        network=row["benchmark"],
        server_per_s=row.positive("per_s") / units,
        offline_per_s=offline.positive("value") / units,
        latency_ms=latency_ms,
        ratio=ratio,
    )


def largest_rate(batch_s: Floats, deadline_s: float, items: int = _ITEMS) -> float:
    """Return the largest rate of Poisson arrivals of which 99 % end within a deadline.

    The server takes what waits as a batch, up to the size that serves the deadline best. 0 where
    no batch of one run ends within it.

    Args:
        batch_s: seconds of a batch by its size, from 1, float64 [batch].
        deadline_s: from the arrival.
        items: that arrive.
    """
    unit_s = Poisson(1.0).times_s(items, np.random.default_rng(0))

    def holds(size: int, rate: float) -> bool:
        stage = StageRuns(unit=0, service_s=batch_s[:size].tolist())
        (latency_s,) = pass_through([Pipeline([stage], unit_s / rate)], [1]).latency_s
        ends = percentiles(settled(latency_s))
        return ends is not None and ends.p99 <= deadline_s

    best = 0.0
    for size in sorted(_sizes(batch_s), key=lambda size: -size / batch_s[size - 1]):
        high = size / float(batch_s[size - 1])
        low = best or high * _LEAST_SHARE
        if batch_s[size - 1] > deadline_s or high <= best or not holds(size, low * 1.001):
            continue
        for _ in range(_STEPS):
            middle = (low + high) / 2
            low, high = (middle, high) if holds(size, middle) else (low, middle)
        best = low
    return best


def _sizes(batch_s: Floats) -> Iterator[int]:
    return (size for size in SIZES if size <= len(batch_s))


def share_figures(served: Sequence[Served], items: int = _ITEMS) -> list[dict[str, Any]]:
    """Return by class and network how far the predicted share of Server in Offline is off.

    The time of batches is as predicted but for one factor, which makes the best one that of
    Offline: what is judged is the queue under the deadline. Nothing is fitted.
    """
    figures = []
    for (runtime, kind, network), members in by_class(served).items():
        stated = np.array([entry.share for entry in members])
        shares = np.array([_predicted_share(entry, items) for entry in members])
        figures.append(
            {
                "runtime": runtime,
                "kind": kind,
                "network": network,
                "systems": len(members),
                "devices": len({entry.device for entry in members}),
                "share": float(np.median(stated)),
                "predicted": float(np.median(shares)),
                "error": float(np.median(np.abs(shares / stated - 1))),
                "none_error": float(np.median(np.abs(1 / stated - 1))),
            }
        )
    return figures


def by_class(served: Sequence[Served]) -> dict[tuple[str, str, str], list[Served]]:
    """Return the lines by runtime, kind of device and network."""
    classes: dict[tuple[str, str, str], list[Served]] = defaultdict(list)
    for entry in served:
        if np.isfinite(entry.latency_ms):
            classes[entry.runtime, entry.kind, entry.network].append(entry)
    return dict(sorted(classes.items()))


def _predicted_share(entry: Served, items: int) -> float:
    sizes = np.arange(1, SIZES[-1] + 1)
    batch_s = sizes / np.exp(entry.gains())
    batch_s *= (sizes / batch_s).max() / entry.offline_per_s
    deadline_s = DEADLINES_MS[entry.network] / 1000
    return largest_rate(batch_s, deadline_s, items) / entry.offline_per_s
