"""The bundled models are what their maker makes, and as large as their papers say."""

from __future__ import annotations

from pathlib import Path

import make_samples
import pytest

from predictor.core.resources import resources_dir
from predictor.services.models.ingestion import IngestionWorker
from predictor.services.models.inspection import totals
from predictor.services.models.language import read_language_model

SAMPLES = resources_dir() / "samples"


def test_the_bundled_files_are_those_that_the_maker_writes(tmp_path: Path) -> None:
    make_samples.main(tmp_path)

    made = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert made == {path.name: path.read_bytes() for path in SAMPLES.iterdir()}
    assert len(made) == 5


# Parameters by the published weights.
@pytest.mark.parametrize(
    ("name", "parameters"), [("whisper-base", 72_593_920), ("qwen3-1.7b", 1_720_574_976)]
)
def test_a_configuration_is_as_large_as_its_weights(name: str, parameters: int) -> None:
    model = read_language_model(SAMPLES / f"{name}.json")
    assert model.architecture.parameters() == parameters


# Multiply-accumulates and parameters in millions: MobileNetV2, table 4 of its paper; darknet's own
# count of yolov3-tiny, 5.56 billion operations of two a multiply-accumulate; DistilBERT's paper.
@pytest.mark.parametrize(
    ("name", "macs", "params"),
    [
        ("mobilenetv2-1.0-224", 300e6, 3.4e6),
        ("yolov3-tiny-416", 5.56e9 / 2, None),
        ("distilbert-base", None, 66e6),
    ],
)
def test_a_sample_is_as_large_as_its_source_says(
    name: str, macs: float | None, params: float | None
) -> None:
    with IngestionWorker() as worker:
        sums = totals(worker.ingest(str(SAMPLES / f"{name}.onnx"), {}, None))
    assert macs is None or sums["macs"] == pytest.approx(macs, rel=0.03)
    assert params is None or sums["params"] == pytest.approx(params, rel=0.03)
