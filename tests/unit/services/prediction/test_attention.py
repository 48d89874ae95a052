from __future__ import annotations

import numpy as np

from predictor.core.metrics import Family
from predictor.core.records import Device
from predictor.cost.engine import AttentionMaps
from predictor.services.prediction.attention import operators_peak, token_label


def maps(shares: list[list[float]], metrics: tuple[str, ...]) -> AttentionMaps:
    forward = np.array(shares, np.float32).reshape(len(shares), len(metrics))
    return AttentionMaps(
        metrics=metrics,
        operator_to_metric=forward,
        metric_to_operator=forward.T.copy(),
        blend=0.5,
        residual=0.5,
    )


def test_each_operator_looks_at_its_largest_share_and_the_first_of_equals() -> None:
    peak = operators_peak(maps([[0.25, 0.75], [0.5, 0.5]], ("clock_mhz", "dram_bw_gbps")))

    assert peak is not None
    assert peak.at.tolist() == [1, 0]
    assert peak.share.tolist() == [0.75, 0.5]


def test_a_row_that_looks_at_all_alike_is_even() -> None:
    peak = operators_peak(maps([[0.25, 0.75], [0.5, 0.5]], ("clock_mhz", "dram_bw_gbps")))

    assert peak is not None
    assert peak.even.tolist() == [False, True]


def test_what_a_configuration_can_use_is_told_from_the_device() -> None:
    device = Device(id="d", name="D", vendor="V", family=Family.GPU, metrics={})
    names = (
        "runtime",
        "family",
        "bandwidth",
        "dram_bw_gbps",
        "on_chip_bytes",
        "unit_rate",
        "launch",
    )

    assert [token_label(name, device) for name in names] == [
        "Runtime",
        "Kind of device",
        "Usable bandwidth",
        "Memory bandwidth",
        "On-chip memory in all",
        "Rate of one core or unit",
        "Launch overhead",
    ]


def test_without_attention_or_metrics_nobody_looks() -> None:
    assert operators_peak(None) is None
    assert operators_peak(maps([[], []], ())) is None
