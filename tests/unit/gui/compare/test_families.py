"""Models whose operators can be set side by side."""

from __future__ import annotations

from dataclasses import replace

from ctm_gui.compare.families import first_variants
from predictor.core.resources import resources_dir
from predictor.services.models.ingestion import IngestionWorker
from tests.support.operator_graphs import Named, graph_of


def test_a_network_is_of_one_family_with_itself_and_not_with_another() -> None:
    names = ("mobilenetv2-1.0-224", "yolov3-tiny-416")
    with IngestionWorker() as worker:
        first, other = (
            worker.ingest(resources_dir() / "samples" / f"{name}.onnx") for name in names
        )
    assert first_variants([first, other, first]) == (0, 2)
    assert first_variants([first, other]) is None
    assert first_variants([first]) is None
    # A network of one product that the larger one has too is no variant of it.
    single = replace(other, graph=graph_of([Named(macs=int(other.graph.macs.max()))]))
    assert first_variants([other, single]) is None
