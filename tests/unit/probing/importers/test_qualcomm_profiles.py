"""Printed statistics of qnn-profile-viewer and snpe-diagview."""

from __future__ import annotations

import pytest

from tests.support.importing import changed, read, refusal
from tests.support.printed_samples import QNN_PROFILE, SNPE_PROFILE


def test_the_mean_of_a_call_of_qnn() -> None:
    (latency,) = read(QNN_PROFILE).latencies

    assert (latency.network, latency.value_ms, latency.statistic) == ("", 2.95, "mean")
    assert (latency.runtime, latency.profiled) == ("qnn", True)
    assert latency.facts == {
        "average_ms": "2.95",
        "rpc_average_ms": "2.92",
        "qnn_accelerator_average_ms": "2.6",
        "accelerator_average_ms": "2.492",
        "min_ms": "2.8",
    }


def test_graphs_are_networks_of_their_names() -> None:
    named = QNN_PROFILE.replace("Graph 0 (model)", "Graph 0 (encoder)")
    average = "Graph 1 (decoder):\n    NetRun:  1250 us\n\nExecute Stats (Min):"
    both = changed(named, "Execute Stats (Min):", average)

    assert [(latency.network, latency.value_ms) for latency in read(both).latencies] == [
        ("encoder", 2.95),
        ("decoder", 1.25),
    ]


def test_the_mean_of_a_call_of_snpe_with_its_layers() -> None:
    (latency,) = read(SNPE_PROFILE).latencies

    assert (latency.value_ms, latency.statistic, latency.runtime) == (26.5, "mean", "snpe")
    assert [(o.name, o.time_ms, o.unit) for o in latency.operators] == [
        ("layer 0", 1.419, "CPU"),
        ("layer 1", 0.021, "CPU"),
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (QNN_PROFILE * 2, "another log begins"),
        (changed(QNN_PROFILE, "2950 us", "2950 ns"), "no average time"),
        (changed(QNN_PROFILE, "2950 us", "2750 us"), "contradict"),
        (changed(QNN_PROFILE, "2950 us", "0 us"), "above 0"),
        (SNPE_PROFILE * 2, "another log begins"),
        (changed(SNPE_PROFILE, "Inference Time", "Run Time"), "no total inference time"),
        (changed(SNPE_PROFILE, "26500 us", "x us"), "not a number"),
    ],
)
def test_damaged_output_is_refused(text: str, said: str) -> None:
    assert said in refusal(text)
