"""A store with a record of each kind."""

from __future__ import annotations

import dataclasses

from predictor.core.documents import ProbingFacts, Provenance
from predictor.core.metrics import Family
from predictor.core.records import Configuration, Device, Measurement, Precision, Signature
from predictor.devices.schema import DeviceFile
from predictor.services.history.history import History
from predictor.services.history.past_predictions import NewTruth
from predictor.store import measurements, signatures
from tests.support.past_predictions import predictions_of, small_model

NET, OTHER = small_model(), small_model("other.onnx", macs=5)

PI = Configuration("ncnn", Precision.FP16, 4, 1)

BOARD = Device(
    id="board",
    name="My board",
    vendor="Maker",
    family=Family.MOBILE_CPU,
    metrics={"clock_mhz": 1800.0},
    sources={},
    configurations=(PI,),
)

MEASURED, SIGNED = "1" * 32, "2" * 32


def measurement(identity: str = MEASURED, value_ms: float = 5.0) -> Measurement:
    samples = (5_000_000, 5_100_000)
    return Measurement(
        id=identity,
        fingerprint=NET.graph.fingerprint,
        device_id="board",
        configuration=PI,
        samples_ns=samples,
        value_ms=value_ms,
        statistic="median",
        protocol="ctm/1",
        provenance=Provenance(),
    )


def fill(history: History) -> None:
    """A device, a signature with its measurement, two models on two targets, one answered."""
    history.devices.save(DeviceFile(BOARD))
    database = history.database
    measurements.add(database, measurement())
    signature = Signature(SIGNED, "board", PI, (MEASURED,), active=True)
    signatures.add(database, signature, ProbingFacts({"a": 1}))
    made = predictions_of(NET, OTHER)
    made[0] = dataclasses.replace(made[0], signature=SIGNED, fine_tuned=True)
    history.record([NET, OTHER], made)
    newest = history.past.read(1).predictions[0]
    history.past.mark(newest.id, ["release 2"], "for the customer")
    history.past.add_truth(newest, NewTruth("3.25"))
