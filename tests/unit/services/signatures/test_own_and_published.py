"""A user's few measurements of listed devices, beside published ones and other configurations."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from predictor.cli.program import main
from predictor.core.prediction import Prediction
from predictor.core.records import Configuration, Precision, Target, TargetId
from predictor.cost.engine import TargetMeasurements
from predictor.graph.model import Model
from predictor.graph.operator_graph import OperatorGraph
from predictor.probing.networks.graphs import pool_graph
from predictor.probing.networks.pool import load_pool
from predictor.probing.networks.spaces import write_network
from predictor.services.devices.catalogue import load_catalogue
from predictor.services.prediction.predict import predict
from predictor.services.signatures.user_signatures import UserSignatures, stored_signatures

pytestmark = pytest.mark.slow

BOARD = load_catalogue().find("rpi5")  # it ships with published measurements, of ncnn
LISTED = Target(BOARD, BOARD.configurations[0])
OWN = ("fbnet-imagenet-15", "ofa-mbv3-w1.0-12", "dense-03")
ASKED = ("ofa-mbv3-w1.0-01", "fbnet-imagenet-03", "transformer-06", "nasbench201-05")


def graphs(names: Sequence[str]) -> list[OperatorGraph]:
    prints = {network.name: network.fingerprint for network in load_pool()}
    return [graph for name in names if (graph := pool_graph(prints[name])) is not None]


def predictions(
    names: Sequence[str], target: Target, own: dict[TargetId, TargetMeasurements]
) -> list[Prediction]:
    models = [
        Model(
            path=g.fingerprint,
            size_bytes=0,
            modified_ns=0,
            ir_version=0,
            opsets={},
            producer="",
            inputs=(),
            outputs=(),
            dynamic=(),
            notes=(),
            graph=g,
        )
        for g in graphs(names)
    ]
    return list(predict(models, [target], measured=own))


def numbers(found: Sequence[Prediction], field: str = "latency_ms") -> np.ndarray:
    return np.array([getattr(prediction, field) for prediction in found])


def measured(count: int, factor: float) -> dict[TargetId, TargetMeasurements]:
    """Return measurements of the first networks, slower by a factor than what is published."""
    published = numbers(predictions(OWN[:count], LISTED, {}))
    return {
        LISTED.id: TargetMeasurements(
            signature_id="",
            graphs=tuple(graphs(OWN[:count])),
            latency_ms=published * factor,
            noise=np.full(count, 0.01),
        )
    }


@pytest.mark.parametrize("count", [1, 2, 3])
def test_own_measurements_that_agree_with_published_ones_leave_predictions_and_narrow_them(
    count: int,
) -> None:
    before, after = (predictions(ASKED, LISTED, own) for own in ({}, measured(count, 1.0)))
    assert numbers(after) == pytest.approx(numbers(before), rel=0.02)
    wide = [numbers(each, "high80_ms") / numbers(each) for each in (before, after)]
    assert (wide[1] <= wide[0]).all()


def test_a_slower_board_of_ones_own_is_between_the_published_and_its_own_measurements() -> None:
    before = numbers(predictions(ASKED, LISTED, {}))
    for count in (1, 2, 3):
        moved = numbers(predictions(ASKED, LISTED, measured(count, 1.3))) / before
        assert (moved > 1.05).all()
        assert (moved < 1.35).all()


# --- Another configuration of a measured device ---


def test_measurements_are_those_of_the_device_in_every_configuration() -> None:
    other = Target(BOARD, Configuration("onnxruntime", Precision.FP32, 1))
    elsewhere = Target(replace(BOARD, id="other"), other.configuration)
    none = TargetMeasurements(signature_id="", graphs=(), latency_ms=np.empty(0), noise=np.empty(0))
    own = UserSignatures({}, {other.id: none, elsewhere.id: none})
    assert set(own.of([LISTED])) == {other.id}
    assert own.of([]) == {}


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CTM_STORE", str(tmp_path / "store.sqlite"))
    return tmp_path / "store.sqlite"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the file of a network that is not measured."""
    path = tmp_path_factory.mktemp("models") / "asked.onnx"
    network = next(network for network in load_pool() if network.name == ASKED[0])
    write_network(path, network.space, network.code)
    return path


DEVICE = "core-i7-11700"  # nobody published anything of it
RUN = ("--runtime", "onnxruntime", "--precision", "fp32", "--threads", "1")


def predicted(model: Path, capsys: pytest.CaptureFixture[str], *run: str) -> dict[str, object]:
    assert main(["predict", str(model), "--device", DEVICE, *run, "--json"]) == 0
    (only,) = json.loads(capsys.readouterr().out)["predictions"]
    return dict(only)


def reach(prediction: dict[str, object]) -> float:
    return float(prediction["high80_ms"]) / float(prediction["latency_ms"])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "run",
    [
        ("--runtime", "onnxruntime", "--precision", "fp32", "--threads", "4"),
        ("--runtime", "onnxruntime", "--precision", "int8", "--threads", "1"),
        ("--runtime", "openvino", "--precision", "fp32", "--threads", "1"),
    ],
)
def test_results_of_one_configuration_tell_about_the_others(
    run: tuple[str, ...],
    store: Path,
    tmp_path: Path,
    model: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    before, plain = (predicted(model, capsys, *each) for each in (run, RUN))
    rows = [f"{network},{60 * (1 + place)}" for place, network in enumerate(OWN)]
    (tmp_path / "results.csv").write_text("model,latency_ms\n" + "\n".join(rows) + "\n")
    command = ["probe", "import", str(tmp_path / "results.csv"), "--device", DEVICE, *RUN]
    assert main(command) == 0
    capsys.readouterr()
    assert len(stored_signatures(store).measured) == 1

    after, probed = (predicted(model, capsys, *each) for each in (run, RUN))

    assert float(probed["latency_ms"]) > 1.5 * float(plain["latency_ms"])  # type: ignore[arg-type]
    assert float(after["latency_ms"]) > 1.2 * float(before["latency_ms"])  # type: ignore[arg-type]
    assert str(probed["evidence"]).startswith("from 3 networks that you measured; checked on ")
    assert str(after["evidence"]).startswith("from this device under onnxruntime fp32, 1 thread (3")
    assert reach(after) < reach(before)
