"""Models whose operators can be set side by side."""

from __future__ import annotations

from ctm_gui.compare.families import family_pair
from predictor.core.resources import resources_dir
from predictor.services.models.ingestion import IngestionWorker


def test_a_network_is_of_one_family_with_itself_and_not_with_another() -> None:
    names = ("mobilenetv2-1.0-224", "yolov3-tiny-416")
    with IngestionWorker() as worker:
        first, other = (
            worker.ingest(resources_dir() / "samples" / f"{name}.onnx") for name in names
        )
    assert family_pair([first, other, first]) == (0, 2)
    assert family_pair([first, other]) is None
    assert family_pair([first]) is None
