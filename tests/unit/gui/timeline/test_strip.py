"""Rows, bars and words of the timeline, without widgets."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctm_gui.timeline.strip import Strip, module_forms
from predictor.core.units import LatencyUnit
from predictor.services.prediction.timeline import Module
from tests.support.explained import explained_pair

# Operators of 1, 2, 3, 0, 5, 6, 7 and 0 ms: 24 ms in all.
WHOLE = (0.0, 24.0)


@pytest.fixture
def strip() -> Strip:
    return Strip(explained_pair())


def test_names_become_shorter_down_to_the_type(strip: Strip) -> None:
    assert list(strip.name_forms(2)) == ["/block1/op_2", "block1/op_2", "Conv"]


@pytest.mark.parametrize(
    ("path", "forms"),
    [
        (("layer1", "layer1.0"), ["layer1.0", ".0"]),
        (("encoder",), ["encoder"]),
        (("features", "conv.bn"), ["conv.bn"]),
    ],
)
def test_a_module_without_room_has_its_number(path: tuple[str, ...], forms: list[str]) -> None:
    assert list(module_forms(Module(len(path) - 1, path, (0, 1)))) == forms


def test_rows_stand_one_under_another(strip: Strip) -> None:
    names = [row.name for row in strip.rows]
    assert names == ["Modules", "Operators", "Launch", "Arithmetic", "Memory"]
    for upper, lower in zip(strip.rows, strip.rows[1:], strict=False):
        assert upper.top_px + upper.height_px < lower.top_px
    assert strip.row_at(strip.rows[1].top_px) == 1
    assert strip.row_at(0) is None


@given(st.floats(1, 3000))
def test_rows_grow_into_the_height_that_there_is(height_px: float) -> None:
    strip = Strip(explained_pair())
    least, most = strip.heights_px
    strip.fit(height_px)
    end = strip.rows[-1].top_px + strip.rows[-1].height_px
    assert end <= max(least, min(most, height_px))
    # Each row is cut to a whole pixel.
    assert end >= max(least, min(most, height_px)) - 2 * len(strip.rows)


def test_a_low_strip_leaves_the_inner_modules_out_and_a_high_one_has_them_again() -> None:
    strip = Strip(explained_pair())
    strip.timeline = replace(strip.timeline, depth=3)
    depths = []
    for height_px in (strip.heights_px[0], strip.heights_px[0] + 24, 600, 1):
        strip.fit(height_px)
        depths.append(strip.depth)
        assert [row.name for row in strip.rows][strip.depth] == "Operators"
    assert depths == [1, 2, 3, 1]


def test_operators_are_as_wide_as_their_time(strip: Strip) -> None:
    bars = strip.bars(0, WHOLE, 240.0, 2.0)
    assert bars.operators.tolist() == [0, 1, 2, 4, 5, 6]
    assert (bars.right_px - bars.left_px).tolist() == pytest.approx([10, 20, 30, 50, 60, 70])
    assert not bars.columns.size


def test_lanes_hold_the_parts(strip: Strip) -> None:
    launch, arithmetic, memory = (strip.bars(lane, WHOLE, 240.0, 0.5) for lane in (1, 2, 3))
    assert (launch.left_px[1], launch.right_px[1]) == pytest.approx((10.0, 15.0))
    assert (arithmetic.left_px[1], arithmetic.right_px[1]) == pytest.approx((15.0, 25.0))
    assert (memory.left_px[1], memory.right_px[1]) == pytest.approx((25.0, 30.0))


def test_narrow_operators_share_their_pixel(strip: Strip) -> None:
    bars = strip.bars(0, WHOLE, 4.0, 2.0)
    assert not bars.operators.size
    assert bars.columns.tolist() == [0, 1, 2, 3]
    # The first pixel holds 1 ms of compute, 2 of memory and 3 of launch.
    assert bars.bound.tolist()[0] == 2


@given(st.floats(0, 23), st.floats(0.1, 24), st.integers(1, 2000))
def test_no_bar_is_lost_or_outside(left: float, span: float, width: int) -> None:
    strip = Strip(explained_pair())
    for row in range(4):
        bars = strip.bars(row, (left, left + span), float(width), 2.0)
        assert (bars.left_px >= -2).all()
        assert (bars.right_px <= width + 2).all()
        assert (np.diff(bars.left_px) >= 0).all()
    shown = strip.in_view(left, left + span)
    starts, ends = strip.timeline.ends_ms[shown], strip.timeline.ends_ms[shown + 1]
    assert (ends > left).all()
    assert (starts < left + span).all()


def test_a_time_belongs_to_one_operator(strip: Strip) -> None:
    assert [strip.operator_at(time) for time in (0.5, 1.5, 6.5, 23.9)] == [0, 1, 4, 6]
    assert strip.operator_at(-1.0) is None
    assert strip.operator_at(25.0) is None


def test_steps_pass_over_what_takes_no_time(strip: Strip) -> None:
    assert strip.next_operator(None, 1) == 0
    assert strip.next_operator(2, 1) == 4
    assert strip.next_operator(4, -1) == 2
    assert strip.next_operator(0, -1) == 0
    assert strip.next_operator(6, 1) == 6


def test_modules_have_their_span_and_operators(strip: Strip) -> None:
    module = strip.module_at(0, 4.0)
    assert module is not None
    assert module.path == ("block1",)
    assert strip.span_ms(module) == (3.0, 6.0)
    assert strip.operators_of(module).tolist() == [2]
    wide = strip.modules_in_view(0, WHOLE, 240.0, 40.0)
    assert [(each.path[0], left, right) for each, left, right in wide] == [
        ("block2", 60.0, 170.0),
        ("block3", 170.0, 240.0),
    ]


def test_words_of_an_operator_and_a_module(strip: Strip) -> None:
    assert strip.details(1, LatencyUnit.MS).splitlines()[-2:] == [
        "starts at 1 ms",
        "launch 0.5 ms, arithmetic 1 ms, memory 0.5 ms",
    ]
    module = strip.module_at(0, 4.0)
    assert module is not None
    assert strip.module_details(module, LatencyUnit.MS).splitlines() == [
        "block1",
        "3 ms, 12.5 % of the model",
        "1 operator that takes time",
    ]
    assert strip.sentence(LatencyUnit.MS) == (
        "6 operators in 24 ms: launch 6 ms, arithmetic 12 ms, memory 6 ms"
    )
