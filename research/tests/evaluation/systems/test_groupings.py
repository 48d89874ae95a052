"""Errors by kind of device and family, worked by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ctm_research.evaluation.judge.asked import Answers
from ctm_research.evaluation.systems import groupings as room
from ctm_research.evaluation.systems.groupings import group_errors, groupings
from research.tests.evaluation.systems.small_field import NETWORKS, SILICON, small_field


def test_the_error_of_a_kind_is_the_median_over_its_silicon() -> None:
    field = small_field()
    judged, rows = field.judged, field.rows
    _, kinds = groupings(field)
    off = np.log([1.0, 1.1, 1.2, 1.4, 1.5, 1.6])[judged.silicon_of(rows)]
    once = Answers(rows, judged.log_latency[rows] + off, np.full(len(rows), np.nan))
    exact = replace(once, log_ms=judged.log_latency[rows])

    assert (kinds.shown, kinds.networks, kinds.silicon) == ((0,), (NETWORKS,), (len(SILICON),))
    assert group_errors(judged, [once], kinds) == {"nvidia": pytest.approx(30)}
    assert group_errors(judged, [once, exact], kinds) == {"nvidia": pytest.approx(15)}


def test_families_on_little_silicon_are_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    assert groupings(small_field())[0].shown == ()
    monkeypatch.setattr(room, "LEAST_SILICON", len(SILICON))
    assert groupings(small_field())[0].shown == (0,)
