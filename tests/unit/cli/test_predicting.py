from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from predictor.cli.console import Console
from predictor.cli.predicting import PredictionStore, choose_targets
from predictor.cli.program import parse
from predictor.cli.reading import unique
from predictor.core.errors import InputError
from predictor.core.metrics import Family
from predictor.core.records import Configuration, Device, Precision
from predictor.services.devices.catalogue import Catalogue
from predictor.services.history.history import open_history
from tests.support.past_predictions import predictions_of, small_model


@pytest.fixture
def catalogue() -> Catalogue:
    configurations = (
        Configuration("onnxruntime", Precision.FP32),
        Configuration("ncnn", Precision.FP16, 2),
    )
    return Catalogue(
        Device(
            id=name,
            name=name,
            vendor="Maker",
            family=Family.CPU,
            metrics={},
            configurations=configurations,
        )
        for name in ("alpha", "beta", "gamma")
    )


def chosen(catalogue: Catalogue, options: str) -> list[tuple[str, str, str, int]]:
    targets = choose_targets(parse(f"predict m.onnx {options}".split()), catalogue, Console())
    return [
        (
            target.device.id,
            target.configuration.runtime,
            target.configuration.precision.value,
            target.configuration.threads,
        )
        for target in targets
    ]


def test_devices_stand_in_the_order_given_and_all_adds_the_others(catalogue: Catalogue) -> None:
    names = [name for name, *_ in chosen(catalogue, "--device gamma --device alpha --all")]

    assert names == ["gamma", "alpha", "beta"]


def test_the_usual_configuration_is_asked_unless_told_otherwise(catalogue: Catalogue) -> None:
    assert chosen(catalogue, "--device beta") == [("beta", "onnxruntime", "fp32", 0)]
    assert chosen(catalogue, "--device beta --precision fp16") == [("beta", "ncnn", "fp16", 2)]
    assert chosen(catalogue, "--device beta --runtime ncnn --threads 4") == [
        ("beta", "ncnn", "fp16", 4)
    ]


def test_an_unknown_device_is_refused(catalogue: Catalogue) -> None:
    with pytest.raises(InputError, match="gamma"):
        chosen(catalogue, "--device gama")


@pytest.mark.parametrize("option", ["--runtime abacus", "--precision fp8", "--runtime unknown"])
def test_a_name_that_none_has_names_what_the_device_runs(catalogue: Catalogue, option: str) -> None:
    name = option.split()[1]

    with pytest.raises(InputError) as refused:
        chosen(catalogue, f"--device beta --device gamma {option}")

    assert str(refused.value) == (
        f"beta: not supported: beta does not run {name}; it runs, best first: onnxruntime fp32; "
        "ncnn fp16, 2 threads; choose one of these or another device."
    )


def test_a_library_alone_is_the_runtime_around_it(catalogue: Catalogue) -> None:
    assert chosen(catalogue, "--device beta --runtime xnnpack") == [("beta", "tflite", "fp32", 0)]


def test_a_name_may_be_given_twice_only_with_one_value() -> None:
    assert unique([("a", 1), ("b", 2), ("a", 1)], "--dim") == {"a": 1, "b": 2}
    with pytest.raises(InputError, match="--dim: a is given twice"):
        unique([("a", 1), ("a", 2)], "--dim")


def test_a_prediction_that_the_store_refuses_is_named_and_the_others_are_stored(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = small_model()
    good, wrong = predictions_of(model)
    with closing(PredictionStore(tmp_path / "store.sqlite")) as store:
        assert store.not_stored == {}
        store.record([model], [good, replace(wrong, latency_ms=-1.0)])
        code = store.exit_code(Console(), "the predictions were not stored")
        (entry,) = store.not_stored["not_stored"]  # type: ignore[misc,attr-defined]

    assert code == 3
    assert entry["subject"] == f"{wrong.model} on {wrong.device_id}"
    assert "could not be stored (CHECK constraint failed" in entry["reason"]
    assert capsys.readouterr().err.startswith(f"ctm: {entry['subject']}: {entry['reason']}")
    with open_history(tmp_path / "store.sqlite") as history:
        assert [s.prediction for s in history.past.read(10).predictions] == [good]
