"""Tables of Triton's Model Analyzer."""

from __future__ import annotations

import pytest

from tests.support.importing import changed, read, refusal
from tests.support.printed_samples import MODEL_ANALYZER


def test_one_request_at_a_time_has_a_mean() -> None:
    reading = read(MODEL_ANALYZER)

    assert [(latency.value_ms, latency.batch) for latency in reading.latencies] == [
        (5.0, 1),
        (10.0, 8),
    ]
    first = reading.latencies[0]
    assert (first.network, first.statistic, first.runtime) == ("resnet50", "mean", None)
    assert first.facts["configuration"] == "resnet50_config_default"
    assert first.facts["p99_ms"] == "6.4"
    assert reading.notes[1:] == (
        "Left out: 1 row of other configurations of these models.",
        "Left out: 2 rows with several requests or models at once.",
    )


def test_a_column_of_the_mean_goes_before_the_rate() -> None:
    with_mean = MODEL_ANALYZER.replace("p99 Latency (ms)", "Avg Latency (ms)")

    assert read(with_mean).latencies[0].value_ms == 6.4


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (",Concurrency,", ",Request Rate,", "requests came at a rate"),
        ("resnet50,1,1,resnet50_config_2,2:GPU,8,Yes", "resnet50,1,1,Yes", "6 cells"),
        ("200.0,6.4", "0,6.4", "above 0"),
        ("200.0,6.4", "200.0,0.064", "far above its percentiles"),
        ("Yes,800.0", 'Yes,"800.0', "no CSV"),
    ],
)
def test_a_table_without_one_request_at_a_time_is_refused(old: str, new: str, said: str) -> None:
    assert said in refusal(changed(MODEL_ANALYZER, old, new))


def test_rows_of_waiting_requests_alone_are_refused() -> None:
    waiting = "\n".join(MODEL_ANALYZER.split("\n")[:2])

    assert "no row of it is of one model with one request" in refusal(waiting)
