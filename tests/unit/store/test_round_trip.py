"""Every record that goes into the store comes out of it equal."""

from __future__ import annotations

import dataclasses
import json
import sqlite3
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from predictor.core.documents import Provenance
from predictor.core.instruction_sets import INSTRUCTION_SETS
from predictor.core.metrics import METRICS, Family
from predictor.core.prediction import Prediction
from predictor.core.records import (
    Basis,
    Cluster,
    Configuration,
    Device,
    MeasuredRate,
    Measurement,
    OperatingPoint,
    Precision,
    Signature,
)
from predictor.core.runtimes import RUNTIMES
from predictor.store import devices, measurements, models, predictions, signatures
from predictor.store.database import Database, open_database
from predictor.store.models import StoredModel
from predictor.store.predictions import NewPrediction

# Names come from files: any character, lone surrogates (undecodable bytes) and NUL among them.
TEXT = st.text(st.characters(), max_size=20) | st.sampled_from(
    ["a\x00b", "caf\udce9.onnx", "\u202ex"]
)
SLUG = st.from_regex(r"[a-z0-9_-]{1,12}", fullmatch=True)
DIGEST = st.from_regex(r"[0-9a-f]{64}", fullmatch=True)
POSITIVE = st.floats(min_value=1e-300, allow_nan=False)
INT64 = st.integers(min_value=-(2**63), max_value=2**63 - 1)
CONFIGURATION = st.builds(
    Configuration,
    st.sampled_from(list(RUNTIMES)),
    st.sampled_from(Precision),
    st.integers(0, 10**6),
    st.integers(0, 10**6),
)
# Hypothesis repeats itself, ids do not.
ID = st.builds(lambda: uuid.uuid4().hex)


@st.composite
def made_predictions(draw: st.DrawFn) -> Prediction:
    """A prediction as engines make it: with a number and a basis, or with neither."""
    low95, low80, latency, high80, high95 = sorted(draw(st.lists(POSITIVE, min_size=5, max_size=5)))
    latency = draw(st.sampled_from([latency, 0.0]))
    numbered, with_intervals = draw(st.booleans()), draw(st.booleans())
    return Prediction(
        model=draw(TEXT),
        fingerprint=draw(DIGEST),
        device_id=draw(SLUG),
        configuration=draw(CONFIGURATION),
        engine=draw(SLUG),
        basis=draw(st.sampled_from(Basis)) if numbered else None,
        latency_ms=latency if numbered else None,
        low80_ms=low80 if with_intervals else None,
        high80_ms=high80 if with_intervals else None,
        low95_ms=low95 if with_intervals else None,
        high95_ms=high95 if with_intervals else None,
        bound_ms=draw(st.none() | st.floats(min_value=0, allow_nan=False)),
        fits_memory=draw(st.none() | st.booleans()),
        problem=draw(TEXT),
        out_of_distribution=draw(TEXT),
        flagged_operators=tuple(draw(st.lists(TEXT, max_size=3))),
        predicted_ms=draw(st.none() | POSITIVE),
        provenance=draw(TEXT),
        fine_tuned=draw(st.booleans()),
        by_operators=draw(st.booleans()),
        shared_error=draw(st.binary(max_size=8)),  # not stored: a record equals it all the same
    )


JSON = st.recursive(
    st.none() | st.booleans() | INT64 | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
DOCUMENT = st.dictionaries(TEXT, JSON, max_size=4)


MEASUREMENT = st.builds(
    Measurement,
    id=ID,
    fingerprint=DIGEST,
    device_id=SLUG,
    configuration=CONFIGURATION,
    samples_ns=st.lists(INT64, max_size=30).map(tuple),
    value_ms=POSITIVE,
    statistic=st.sampled_from(["median", "minimum", "mean of the fastest 5"]),
    protocol=SLUG,
    provenance=st.builds(Provenance, DOCUMENT),
)
NEW_FACTS = (
    *("chip", "architecture", "host_architecture", "instruction_sets"),
    *("measured", "operating_points"),
)
SETS = st.lists(st.sampled_from(list(INSTRUCTION_SETS)), max_size=3).map(tuple)
DEVICE = st.builds(
    Device,
    id=SLUG,
    name=TEXT,
    vendor=TEXT,
    family=st.sampled_from(Family),
    metrics=st.dictionaries(st.sampled_from([m.name for m in METRICS]), POSITIVE | st.integers(1)),
    sources=st.dictionaries(st.sampled_from([m.name for m in METRICS]), TEXT),
    configurations=st.lists(CONFIGURATION, max_size=3).map(tuple),
    clusters=st.lists(
        st.builds(
            Cluster,
            name=TEXT,
            cores=st.integers(1, 512),
            clock_mhz=POSITIVE,
            fp32_au_per_core=st.none() | POSITIVE,
            architecture=SLUG,
            instruction_sets=SETS,
        ),
        max_size=3,
    ).map(tuple),
    system=TEXT,
    notes=TEXT,
    chip=SLUG,
    architecture=SLUG,
    host_architecture=SLUG,
    instruction_sets=SETS,
    measured=st.dictionaries(SLUG, st.builds(MeasuredRate, POSITIVE, TEXT), max_size=3),
    operating_points=st.lists(
        st.builds(
            OperatingPoint,
            name=TEXT,
            source=TEXT,
            power_w=st.none() | POSITIVE,
            cores=st.none() | INT64,
        ),
        max_size=3,
    ).map(tuple),
)

examples = settings(
    max_examples=40,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """One store for all examples: each record has an id or a place of its own."""
    opened = open_database(tmp_path_factory.mktemp("round") / "store.sqlite")
    yield opened
    opened.close()


@examples
@given(
    made=st.lists(made_predictions(), min_size=1, max_size=5), path=TEXT, size=st.integers(0, 2**62)
)
def test_predictions_come_back_in_reverse_order(
    shared: Database, made: list[Prediction], path: str, size: int
) -> None:
    with shared.transaction() as connection:
        files = [
            models.put(connection, StoredModel(p.fingerprint, b"graph", path, size, 5))
            for p in made
        ]
        ids = predictions.add(
            connection, [NewPrediction(p, f, "0" * 64) for p, f in zip(made, files, strict=True)]
        )

    stored = predictions.recent(shared, len(made))

    assert [s.prediction for s in stored] == made[::-1]
    assert [s.id for s in stored] == ids[::-1]
    assert {s.path for s in stored} == {path}
    assert len(set(ids)) == len(made)


@examples
@given(measurement=MEASUREMENT)
def test_measurement_keeps_every_sample(shared: Database, measurement: Measurement) -> None:
    measurements.add(shared, measurement)
    assert measurements.of_ids(shared, [measurement.id]) == [measurement]


def test_a_device_of_an_earlier_version_is_read(database: Database) -> None:
    board = Device(
        id="board",
        name="Board",
        vendor="Maker",
        family=Family.CPU,
        metrics={},
        clusters=(Cluster(name="big", cores=4, clock_mhz=2000.0, fp32_au_per_core=8.0),),
    )
    devices.put(database, board)
    with database.transaction() as db:
        (row,) = db.table("devices").rows
        description = json.loads(row["description"])
        for name in NEW_FACTS:
            del description[name]
        for name in ("architecture", "instruction_sets"):
            del description["clusters"][0][name]
        db.table("devices").update("board", {"description": json.dumps(description)})
    assert devices.load_all(database) == [board]


@examples
@given(device=DEVICE)
def test_device_comes_back_equal(shared: Database, device: Device) -> None:
    devices.put(shared, device)
    (stored,) = [d for d in devices.load_all(shared) if d.id == device.id]
    assert stored == device


@examples
@given(
    measured=st.lists(MEASUREMENT, min_size=1, max_size=4, unique_by=lambda m: m.id),
    first=ID,
    second=ID,
    device_id=SLUG,
    configuration=CONFIGURATION,
)
def test_a_target_has_one_active_signature(
    shared: Database,
    measured: list[Measurement],
    first: str,
    second: str,
    device_id: str,
    configuration: Configuration,
) -> None:
    for measurement in measured:
        measurements.add(shared, measurement)
    ids = tuple(m.id for m in measured)
    older = Signature(first, device_id, configuration, ids, active=True)
    newer = Signature(second, device_id, configuration, ids[::-1], active=True)
    signatures.add(shared, older)
    signatures.add(shared, newer)

    stored = {s.id: s for s in signatures.load_all(shared)}

    assert stored[first] == dataclasses.replace(older, active=False)
    assert stored[second] == newer


def test_a_signature_of_an_unknown_measurement_leaves_nothing(database: Database) -> None:
    lost = Signature("a" * 32, "rpi5", Configuration(), ("b" * 32,), active=True)
    with pytest.raises(sqlite3.IntegrityError):
        signatures.add(database, lost)
    assert signatures.load_all(database) == []
    assert not database.connection.in_transaction


def test_a_described_device_is_replaced_and_removed(database: Database) -> None:
    old = Device(
        id="board", name="Board", vendor="Maker", family=Family.CPU, metrics={"clock_mhz": 1000.0}
    )
    new = dataclasses.replace(old, name="Board 2")
    devices.put(database, old)
    devices.put(database, new)
    assert devices.load_all(database) == [new]
    devices.remove(database, "board")
    assert devices.load_all(database) == []


def test_one_file_seen_twice_is_one_row(database: Database) -> None:
    model = StoredModel("f" * 64, b"graph", "/a/b.onnx", 10, 20)
    moved = dataclasses.replace(model, path="/c/b.onnx")
    with database.transaction() as connection:
        first, second, other = (models.put(connection, m) for m in (model, model, moved))
    assert first == second != other
    assert list(models.graphs(database)) == [("f" * 64, b"graph")]


PREDICTION = Prediction(
    model="a.onnx",
    fingerprint="f" * 64,
    device_id="rpi5",
    configuration=Configuration(),
    engine="roofline/1",
    basis=Basis.ANALYTIC,
    latency_ms=1.0,
)


@pytest.mark.parametrize("value_ms", [0.0, -1.0, float("nan")])
def test_a_measurement_takes_time(database: Database, value_ms: float) -> None:
    none = Measurement(
        id="a" * 32,
        fingerprint="f" * 64,
        device_id="rpi5",
        configuration=Configuration(),
        samples_ns=(),
        value_ms=value_ms,
        statistic="median",
        protocol="ctm/1",
        provenance=Provenance(),
    )
    with pytest.raises(sqlite3.IntegrityError):
        measurements.add(database, none)
    assert measurements.load_all(database) == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"latency_ms": -1.0},
        {"latency_ms": float("nan")},
        {"latency_ms": None},
        {"basis": None},
        {"bound_ms": -1.0},
        {"low80_ms": 2.0, "high80_ms": 1.0},
        {"low95_ms": 1.0},
        {"device_id": ""},
        {"fingerprint": "0" * 64},
        {"signature": "5" * 32},
    ],
    ids=str,
)
def test_the_tables_refuse_what_cannot_be(database: Database, wrong: dict[str, Any]) -> None:
    with database.transaction() as connection:
        models.put(connection, StoredModel("f" * 64, b"graph", "/a.onnx", 1, 1))
        predictions.add(connection, [NewPrediction(PREDICTION, None, "0" * 64)])

    bad = NewPrediction(dataclasses.replace(PREDICTION, **wrong), None, "0" * 64)
    with pytest.raises(sqlite3.IntegrityError), database.transaction() as connection:
        predictions.add(connection, [bad])

    assert [s.prediction for s in predictions.recent(database, 9)] == [PREDICTION]
