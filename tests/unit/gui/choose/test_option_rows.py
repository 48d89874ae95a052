"""The rows of options: what is said of a chance, in its colour and in a copy."""

from __future__ import annotations

from dataclasses import replace

from ctm_gui.choose.rows import CHANCE, OptionsGrid
from ctm_gui.widgets.theme import LIGHT
from predictor.core.metrics import Family
from predictor.core.records import Configuration, Device, Precision, Target
from predictor.services.choose.choice import Option
from tests.support.predictions import prediction

RUN = Configuration("onnxruntime", Precision.FP32)
DEVICE = Device(
    id="small", name="Small", vendor="Me", family=Family.GPU, metrics={}, configurations=(RUN,)
)


def option(chance: float, *flagged: str) -> Option:
    return Option(
        target=Target(DEVICE, RUN),
        mode=None,
        batch=1,
        chance=chance,
        predictions=(replace(prediction(2.0, 0.1), flagged_operators=flagged),),
        slowest=0,
        watts=None,
        memory_mb=None,
        percentile=50,
        on_front=False,
        needs_quantising=False,
        broken=(),
    )


def test_a_chance_that_is_not_known_is_neither_good_nor_bad() -> None:
    grid = OptionsGrid([option(0.9), option(0.2), option(0.9, "MyOp_1")], min_chance=0.5)
    place = [column.key for column in grid.columns].index(CHANCE)
    colours = [grid.colour(row, place, LIGHT) for row in range(3)]
    assert colours == [LIGHT.good, LIGHT.bad, LIGHT.muted]
    assert grid.columns[place].text(2) == "not known"
    assert grid.columns[place].copied([0, 2]) == ["0.9000", ""]
