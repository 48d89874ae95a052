"""A board with measurements of reference networks, as a user's signature has them."""

from __future__ import annotations

from dataclasses import replace

from predictor.core.documents import Provenance
from predictor.core.records import Configuration, Device, Measurement, Target
from predictor.graph.model import Model
from predictor.probing.networks.graphs import pool_graph
from predictor.probing.networks.pool import load_pool
from predictor.services.devices.catalogue import load_catalogue

SLOWER = 1.7  # than what is expected without a measurement

SIGNATURE = "5" * 32

POOL = load_pool()

PROBES, OTHERS = POOL[0:160:20], POOL[7:160:40]

CONFIGURATION = Configuration("onnxruntime", threads=4, batch=1)

BOARD: Device = replace(load_catalogue().by_id["rpi5"], id="board")

# 0 threads are all four cores, and the batch is in the shapes: the same target.
TARGET = Target(BOARD, replace(CONFIGURATION, threads=0, batch=0))


def model_of(fingerprint: str) -> Model:
    graph = pool_graph(fingerprint)
    assert graph is not None
    return Model(
        path=f"{fingerprint[:6]}.onnx",
        size_bytes=10,
        modified_ns=20,
        ir_version=8,
        opsets={"": 17},
        producer="test",
        inputs=(),
        outputs=(),
        dynamic=(),
        notes=(),
        graph=graph,
    )


MODELS = [model_of(network.fingerprint) for network in (*PROBES, *OTHERS)]


def measured(place: int, value_ms: float, identity: str = "") -> Measurement:
    return Measurement(
        id=(identity or f"m{place}").rjust(32, "0"),
        fingerprint=MODELS[place].graph.fingerprint,
        device_id=BOARD.id,
        configuration=CONFIGURATION,
        samples_ns=tuple(int(value_ms * 1e6 * factor) for factor in (0.98, 1.0, 1.02)),
        value_ms=value_ms,
        statistic="median",
        protocol="test/1",
        provenance=Provenance(),
    )
