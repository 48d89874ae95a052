"""Latencies from other tools' files become measurements, and signatures that hold them too."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from predictor.core.errors import InputError
from predictor.core.metrics import Family
from predictor.core.records import Configuration, Device, Precision
from predictor.core.resources import resources_dir
from predictor.core.runtimes import UNKNOWN
from predictor.graph.ingest import ingest
from predictor.graph.model import Model
from predictor.probing.importers.records import ImportedFile, ImportedLatency, Statistic
from predictor.probing.importers.registry import import_typed
from predictor.probing.networks.pool import load_pool
from predictor.services.devices.catalogue import load_catalogue
from predictor.services.probing.imports import take_over
from predictor.services.probing.open import open_probing
from predictor.store import models
from predictor.store.database import open_database
from tests.support.probe_plans import relu_network

BOARD = Configuration("ncnn", Precision.FP32, 4, 1)
DEVICE = Device(
    id="board", name="Board", vendor="", family=Family.CPU, metrics={}, configurations=(BOARD,)
)
FIRST, SECOND = load_pool()[:2]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store.sqlite"


def test_probes_are_known_by_their_names(store: Path) -> None:
    file = import_typed(f"{FIRST.name} 23.4 ms\n{SECOND.name} 7100 us")
    taken = take_over(file, DEVICE, BOARD, store=store)
    assert [m.fingerprint for m in taken.measurements] == [FIRST.fingerprint, SECOND.fingerprint]
    assert [m.value_ms for m in taken.measurements] == [23.4, 7.1]
    with open_probing(store) as probing:
        (signature,) = probing.signatures.all()
        assert (signature.signature.id,) == taken.signatures
        assert signature.signature.active
        assert signature.signature.configuration == BOARD
        assert probing.signatures.measurements(signature.signature.id) == list(taken.measurements)


def test_a_second_import_extends_the_signature_and_keeps_the_old_one(store: Path) -> None:
    for network in (FIRST, SECOND):
        take_over(import_typed(f"{network.name} 5 ms"), DEVICE, BOARD, store=store)
    with open_probing(store) as probing:
        old, new = probing.signatures.all()
        assert (old.signature.active, new.signature.active) == (False, True)
        assert new.signature.measurement_ids[:1] == old.signature.measurement_ids
        assert len(new.signature.measurement_ids) == 2


def test_a_users_model_is_stored_with_its_latency(store: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.onnx").write_bytes(relu_network())
    model = ingest(tmp_path / "mine.onnx")
    file = import_typed("the network 5 ms")
    taken = take_over(file, DEVICE, BOARD, [model], {"the network": "mine"}, store)
    assert taken.measurements[0].fingerprint == model.graph.fingerprint
    with closing(open_database(store)) as database:
        assert [name for name, _ in models.graphs(database)] == [model.graph.fingerprint]


def test_a_name_that_is_not_clear_is_refused_and_nothing_stored(store: Path) -> None:
    with pytest.raises(InputError, match="no model or probe is called"):
        take_over(import_typed(f"{FIRST.name} 5 ms\nunknown 3 ms"), DEVICE, BOARD, store=store)
    assert not store.exists()


def test_what_is_left_out_is_not_stored(store: Path) -> None:
    file = import_typed(f"{FIRST.name} 5 ms\nunknown 3 ms")
    taken = take_over(file, DEVICE, BOARD, confirmed={"unknown": None}, store=store)
    assert len(taken.measurements) == 1
    with pytest.raises(InputError, match="every network in it was left out"):
        take_over(import_typed("unknown 3 ms"), DEVICE, BOARD, (), {"unknown": None}, store)


@pytest.fixture
def network(tmp_path: Path) -> Model:
    (tmp_path / "net.onnx").write_bytes(relu_network())
    return ingest(tmp_path / "net.onnx")


def test_what_names_no_network_is_the_only_model(store: Path, network: Model) -> None:
    latency = ImportedLatency(network="", place="line 1", value_ms=5.0, statistic=Statistic.MEAN)
    file = ImportedFile("trace.json", "0" * 64, "csv", (latency,))
    taken = take_over(file, DEVICE, BOARD, [network], store=store)
    assert taken.measurements[0].fingerprint == network.graph.fingerprint
    with pytest.raises(InputError, match="does not name its network"):
        take_over(file, DEVICE, BOARD, store=store)


def test_a_latency_that_the_device_cannot_reach_is_refused(store: Path) -> None:
    model = ingest(resources_dir() / "samples" / "mobilenetv2-1.0-224.onnx")
    board = load_catalogue().find("rpi5")
    configuration = board.configurations[0]
    file = import_typed("mobilenetv2-1.0-224 0.001 ms")
    with pytest.raises(InputError, match=r"224, 0\.001 ms: the device needs .* ms for it"):
        take_over(file, board, configuration, [model], store=store)
    assert not store.exists()


def several(*runtimes: str) -> ImportedFile:
    """A network's latencies under runtimes, as Ultralytics prints them."""
    latencies = tuple(
        ImportedLatency(
            network=FIRST.name,
            place=f"line {number}",
            value_ms=5.0 + number,
            statistic=Statistic.MEAN,
            runtime=runtime,
            batch=1,
        )
        for number, runtime in enumerate(runtimes)
    )
    return ImportedFile("bench.log", "0" * 64, "ultralytics", latencies)


def test_each_runtime_of_a_file_has_its_usual_precision(store: Path) -> None:
    board = load_catalogue().find("rpi5")
    imported = take_over(
        several("onnxruntime", "ncnn", "rknn"),
        board,
        Configuration(UNKNOWN),
        store=store,
        states_precision=False,
    )
    assert [
        (m.configuration.runtime, m.configuration.precision) for m in imported.measurements
    ] == [
        ("onnxruntime", "fp32"),
        ("ncnn", "fp16"),
        ("rknn", "fp16"),
    ]
    assert len(imported.signatures) == 3


def test_a_chosen_runtime_takes_its_own_latencies(store: Path) -> None:
    imported = take_over(several("onnxruntime", "ncnn"), DEVICE, BOARD, store=store)
    assert [m.value_ms for m in imported.measurements] == [6.0]
    assert imported.notes == ("1 of its latencies are of other runtimes and were left out.",)


def test_a_runtime_that_the_file_lacks_is_refused(store: Path) -> None:
    with pytest.raises(InputError, match="the target has runtime tflite"):
        take_over(several("onnxruntime", "ncnn"), DEVICE, Configuration("tflite"), store=store)
