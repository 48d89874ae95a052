"""Models that can stand in for one another."""

from __future__ import annotations

from dataclasses import replace

from predictor.core.tensors import TensorInfo
from predictor.graph.model import Model
from predictor.services.prediction.related import are_related
from tests.support.graphs import Op
from tests.support.models import make_model


def network(
    *outputs: tuple[int, ...], image: tuple[int, ...] = (1, 3, 224, 224), dtype: str = "float32"
) -> Model:
    return replace(
        make_model(Op()),
        inputs=(TensorInfo("x", dtype, image, image),),
        outputs=tuple(
            TensorInfo(f"y{place}", dtype, shape, shape) for place, shape in enumerate(outputs)
        ),
    )


def test_one_network_in_another_export_stands_in_for_it() -> None:
    classifier = network((1, 1000))
    int8 = network((1, 1000), dtype="uint8")
    batched = network((8, 1000), image=(8, 3, 224, 224))
    assert are_related([classifier, int8, batched])
    assert are_related([classifier])


def test_outputs_may_come_in_another_order() -> None:
    assert are_related([network((1, 4, 2100), (1, 80)), network((1, 80), (1, 4, 2100))])


def test_other_shapes_are_another_task() -> None:
    classifier, detector = network((1, 1000)), network((1, 84, 8400))
    assert not are_related([classifier, detector])
    assert not are_related([classifier, network((1, 1000), image=(1, 3, 299, 299))])
    assert not are_related([classifier, network((1, 1000), (1, 1000))])
