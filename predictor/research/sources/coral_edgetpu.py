"""Coral's published times of networks on the Edge TPU and on its hosts' processors.

Source: ``google-coral/edgetpu``, benchmarks/reference. The mean of the test ``basic_engine`` is one
call of the network; the other tests include work on images in Python.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from predictor.core.records import Configuration, Precision
from predictor.research.sources.networks import published_graphs
from predictor.research.sources.samples import GraphFile, Sample, Statistic
from predictor.research.sources.source import Share, Source
from predictor.research.sources.tables import Row, read_rows

NAME = "coral_edgetpu"
_TABLE = "latencies.csv"
_COLUMNS = ("device", "link", "runs_on", "test", "model", "ms")

# By host and what the network runs on.
DEVICES: dict[tuple[str, str], str] = {
    ("Coral Dev Board", "cpu"): "coral-dev-board-cpu",
    ("Coral Dev Board", "edgetpu"): "coral-dev-board-edgetpu",
    ("Desktop Xeon E5-1650 v3 + Coral USB", "cpu"): "xeon-e5-1650-v3",
    ("Desktop Xeon E5-1650 v3 + Coral USB", "edgetpu"): "coral-usb-accelerator",
    ("Raspberry Pi 3 B + Coral USB", "cpu"): "rpi3b",
    ("Raspberry Pi 3 B + Coral USB", "edgetpu"): "coral-usb-accelerator",
    ("Raspberry Pi 3 B+ + Coral USB", "cpu"): "rpi3b-plus",
    ("Raspberry Pi 3 B+ + Coral USB", "edgetpu"): "coral-usb-accelerator",
    ("Raspberry Pi 4 B + Coral USB", "cpu"): "rpi4",
    ("Raspberry Pi 4 B + Coral USB", "edgetpu"): "coral-usb-accelerator",
}
NETWORKS: dict[str, str] = {
    "inception_v4_299_quant": "inception-v4",
    "mobilenet_v1_1.0_224_quant": "mobilenet-v1",
    "mobilenet_v2_1.0_224_quant": "mobilenet-v2-1.0",
}


def samples(data: Path) -> Iterator[Sample]:
    """Yield every row of the table.

    Raises:
        InputError: the table is missing or damaged.
    """
    graphs = published_graphs(data)
    for row in read_rows(data / NAME / _TABLE, _COLUMNS):
        yield _sample(row, graphs)


def _sample(row: Row, graphs: Mapping[str, GraphFile]) -> Sample:
    network_only = row["test"] == "basic_engine"
    return Sample(
        source=NAME,
        table=_TABLE,
        line=row.line,
        network=row["model"],
        graph=graphs.get(NETWORKS.get(row["model"], "")),
        batch_factor=1,
        device=f"{row['device']}, {row['runs_on']}",
        device_id=DEVICES.get((row["device"], row["runs_on"]), ""),
        # How many threads the processors used is not said: all cores, for the bound.
        configuration=Configuration("tflite", Precision.INT8, 0, 1),
        latency_ms=row.positive("ms"),
        statistic=Statistic.MEAN,
        provenance="google-coral/edgetpu, benchmarks/reference, 2019",
        flags=(f"link: {row['link']}",) if row["link"] else (),
        excluded="" if network_only else "work on images in Python is included",
    )


SOURCE = Source(
    name=NAME,
    rank=7,
    title="Coral Edge TPU reference benchmarks",
    repository="google-coral/edgetpu",
    commits=("75e67563",),
    licence="Apache-2.0",
    files=(_TABLE,),
    row="a mean, batch 1",
    ships="benchmarks/reference",
    samples=samples,
    shares={NAME: Share(0.01, 8, 8)},
    names=(DEVICES, NETWORKS),
)
