from __future__ import annotations

import numpy as np

from predictor.cost.engine import AttentionMaps
from predictor.services.attention import operators_gaze


def maps(shares: list[list[float]], metrics: tuple[str, ...]) -> AttentionMaps:
    forward = np.array(shares, np.float32).reshape(len(shares), len(metrics))
    return AttentionMaps(metrics, forward, forward.T.copy(), 0.5, 0.5)


def test_each_operator_looks_at_its_largest_share_and_the_first_of_equals() -> None:
    gaze = operators_gaze(maps([[0.25, 0.75], [0.5, 0.5]], ("clock_mhz", "dram_bw_gbps")))

    assert gaze is not None
    assert gaze.at.tolist() == [1, 0]
    assert gaze.share.tolist() == [0.75, 0.5]


def test_without_attention_or_metrics_nobody_looks() -> None:
    assert operators_gaze(None) is None
    assert operators_gaze(maps([[], []], ())) is None
