"""Places and words of the roofline, without widgets."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from ctm_gui.roofline.points import LANE, SIZES, RooflinePoints, rate_text
from predictor.core.units import LatencyUnit
from predictor.services.prediction.roofline import NO_ROOF, OP, STATED, Roof
from tests.support.explained import ROOFS, explained_pair


@pytest.fixture
def points() -> RooflinePoints:
    pair = explained_pair()
    return RooflinePoints(pair, pair.roofline)


def test_an_operator_stands_at_its_intensity_and_rate(points: RooflinePoints) -> None:
    # 2e6 FLOP on 1e6 bytes in 1 ms.
    assert points.x[0] == pytest.approx(math.log10(2.0))
    assert points.y[0] == pytest.approx(math.log10(2e9))


def test_views_are_not_placed(points: RooflinePoints) -> None:
    assert np.flatnonzero(~points.is_placed).tolist() == [3, 7]
    assert np.isnan(points.x[[3, 7]]).all()


def test_without_multiplications_it_stands_in_the_lane_as_far_under_the_memory(
    points: RooflinePoints,
) -> None:
    # 2 MB in 2 ms are 1 GB/s, a tenth of the stated bandwidth.
    assert points.x[1] == pytest.approx(points.axis_end + LANE / 2)
    assert points.x[0] < points.axis_end < points.x_range[1]
    assert points.y[1] == pytest.approx(points.lane_y - 1.0)
    assert points.roof_y(1) == pytest.approx(points.lane_y)


def test_roofs_meet_at_the_ridge(points: RooflinePoints) -> None:
    measured, memory, peak = (
        next(line for line in points.lines if line.roof is roof) for roof in ROOFS[:3]
    )
    # 1e12 FLOP/s over 1e10 bytes a second.
    assert peak.x[0] == pytest.approx(2.0)
    assert peak.y == (12.0, 12.0)
    assert (memory.x[1], memory.y[1]) == pytest.approx((peak.x[0], peak.y[0]))
    # No arithmetic was measured: what was measured of the memory ends at the peak in use.
    assert measured.y[1] == pytest.approx(12.0)


def test_labels_tell_rate_unit_and_origin(points: RooflinePoints) -> None:
    labels = [line.label for line in points.lines]
    assert labels == [
        "Memory bandwidth 8 GB/s, measured",
        "Memory bandwidth 10 GB/s, stated",
        "FP32 peak 1 TFLOP/s, stated",
        "Other Board: Memory bandwidth 1 GB/s, stated",
        "Other Board: FP32 peak 100 GFLOP/s, stated",
    ]


def test_other_targets_can_be_left_out() -> None:
    pair = explained_pair()
    alone = RooflinePoints(pair, pair.roofline, all_targets=False)
    assert {line.target for line in alone.lines} == {0}
    assert alone.names == ("Board",)
    assert RooflinePoints(pair, pair.roofline).names == ("Board", "Other Board")


def test_everything_is_within_the_axes(points: RooflinePoints) -> None:
    placed = points.is_placed
    for values, (low, high) in ((points.x, points.x_range), (points.y, points.y_range)):
        assert (values[placed] > low).all()
        assert (values[placed] < high).all()
    assert math.log10(1e12) < points.y_range[1] < math.log10(4e12)


def test_the_slowest_is_the_largest(points: RooflinePoints) -> None:
    assert points.size[6] == SIZES - 1
    assert points.size[0] < points.size[6]


def test_hovering_tells_work_time_and_reach(points: RooflinePoints) -> None:
    lines = points.details(0, LatencyUnit.MS).splitlines()
    assert lines == [
        "/block0/op_0",
        "Conv, output 1×8",
        "1 M MACs, 1 MB moved",
        "1 ms, 4.17 % of the model",
        "0.5 to 2 ms by the model's 80 % interval",
        "bound by compute",
        "2 FLOP a byte, reaches 2 GFLOP/s",
        "0.2 % of FP32 peak",
    ]
    assert points.details(1, LatencyUnit.MS).endswith(
        "reaches 1 GB/s; it multiplies nothing\n10 % of memory bandwidth"
    )
    # Its start holds it, and no roof.
    assert points.details(2, LatencyUnit.MS).endswith("GFLOP/s")
    assert points.roof_y(2) is None


def test_faster_than_the_roof_is_told() -> None:
    pair = explained_pair()
    assert pair.roofline is not None
    fast = replace(pair.roofline, flops_per_s=1000 * pair.roofline.flops_per_s)
    text = RooflinePoints(pair, fast).details(0, LatencyUnit.MS)
    assert text.endswith("of FP32 peak: data from caches, or a fast algorithm")


def test_the_sentence_parts_the_time_by_what_binds(points: RooflinePoints) -> None:
    assert points.sentence() == (
        "Time bound 25 % by compute, 33 % by memory, 42 % by launch; "
        "2 operators without multiplications at the right"
    )


def test_a_model_of_views_alone_has_axes() -> None:
    pair = explained_pair(8)
    assert pair.roofline is not None
    nothing = np.full(8, np.nan)
    empty = replace(
        pair.roofline,
        roofs=(),
        intensity=nothing,
        flops_per_s=nothing,
        bytes_per_s=nothing,
        roof_of=np.full(8, NO_ROOF),
    )
    points = RooflinePoints(pair, empty, all_targets=False)
    assert points.x_range[0] < points.x_range[1]
    assert points.y_range[0] < points.y_range[1]
    assert not points.is_placed.any()
    assert points.sentence() == ""


@pytest.mark.parametrize(
    ("rate", "counted", "text"),
    [
        (3.07e11, "FLOP", "307 GFLOP/s"),
        (12.0, "FLOP", "12 FLOP/s"),
        (2.6e13, "OP", "26 TOP/s"),
        (1.707e10, "B", "17.1 GB/s"),
    ],
)
def test_rates_have_a_prefix(rate: float, counted: str, text: str) -> None:
    assert rate_text(rate, counted) == text


def test_a_rate_of_integers_is_no_rate_of_floating_point() -> None:
    pair = explained_pair(others=False)
    assert pair.roofline is not None
    of_integers = Roof("INT8 peak", 2.6e13, STATED, "the maker", OP)
    mixed = replace(pair.roofline, roofs=(*pair.roofline.roofs, of_integers))
    points = RooflinePoints(pair, mixed)
    assert points.operation == "OP"
    assert points.lines[-1].label == "INT8 peak 26 TOP/s, stated"
    assert "OP a byte, reaches" in points.details(0, LatencyUnit.MS)
    assert RooflinePoints(pair, pair.roofline).operation == "FLOP"
