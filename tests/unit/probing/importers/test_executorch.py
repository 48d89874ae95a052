"""Logs of ExecuTorch's runners, and tables of its Inspector."""

from __future__ import annotations

import pytest

from tests.support.importing import changed, read, refusal
from tests.support.printed_samples import (
    EXECUTORCH_INSPECTOR,
    EXECUTORCH_LOG,
    EXECUTORCH_QNN,
    EXECUTORCH_RUNS,
    EXECUTORCH_TSV,
)


@pytest.mark.parametrize(
    ("text", "network", "value_ms", "runs"),
    [(EXECUTORCH_LOG, "mv2.pte", 5.01, 50), (EXECUTORCH_QNN, "./dlv3_qnn.pte", 12.5, 100)],
)
def test_the_mean_of_all_runs(text: str, network: str, value_ms: float, runs: int) -> None:
    reading = read(text)
    (latency,) = reading.latencies

    assert (latency.network, latency.value_ms, latency.runs) == (network, value_ms, runs)
    assert (latency.runtime, latency.statistic) == ("executorch", "mean")
    assert "first run is in the mean" in reading.notes[0]


def test_the_first_of_printed_runs_is_left_out() -> None:
    reading = read(EXECUTORCH_RUNS)
    (latency,) = reading.latencies

    assert (latency.value_ms, latency.statistic, latency.runs) == (4.5, "median", 3)
    assert reading.notes == ()


def test_models_in_turn_are_read() -> None:
    second = EXECUTORCH_LOG.replace("mv2.pte", "mv3.pte")

    assert [latency.network for latency in read(EXECUTORCH_LOG + second).latencies] == [
        "mv2.pte",
        "mv3.pte",
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (changed(EXECUTORCH_LOG, " in 250.500000 ms", ""), "no time of a run"),
        (changed(EXECUTORCH_LOG, "250.500000 ms.", "250.5x ms."), "not a number"),
        (changed(EXECUTORCH_LOG, "250.500000 ms.", "250.500000 ms"), "damaged"),
        (changed(EXECUTORCH_RUNS, "Iteration 4 of 4", "Iteration"), "3 of 4 runs"),
        (changed(EXECUTORCH_QNN, "12.500000 ms", "2.500000 ms"), "contradict"),
        (EXECUTORCH_LOG + EXECUTORCH_RUNS[: EXECUTORCH_RUNS.rindex("I 00")], "ends before"),
    ],
)
def test_logs_without_a_time_are_refused(text: str, said: str) -> None:
    assert said in refusal(text)


def test_the_median_of_a_call_in_a_ruled_table() -> None:
    (latency,) = read(EXECUTORCH_INSPECTOR).latencies

    assert (latency.value_ms, latency.statistic, latency.profiled) == (10.5, "median", True)
    assert latency.facts == {
        "min_ms": "10.1",
        "p50_ms": "10.5",
        "max_ms": "14.5",
        "avg_ms": "10.75",
    }
    assert [(o.name, o.time_ms) for o in latency.operators] == [("native_call_addmm", 0.25)]


def test_a_tsv_states_its_unit_in_the_titles() -> None:
    (latency,) = read(EXECUTORCH_TSV).latencies

    assert latency.value_ms == 4.5
    assert [(o.name, o.op_type) for o in latency.operators] == [
        ("DELEGATE_CALL", "['aten.linear.default']")
    ]


def test_a_copied_table_has_plain_bars() -> None:
    copied = EXECUTORCH_INSPECTOR.replace("│", "|")
    rules = ("├", "╒", "╞", "╘")
    lines = [line for line in copied.split("\n") if not line.startswith(rules)]
    lines.insert(1, "|---|" * 8)

    assert read("\n".join(lines)).latencies[0].value_ms == 10.5


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (EXECUTORCH_INSPECTOR.replace("p50 (ms)", "p50     "), "unit of p50 is not stated"),
        (EXECUTORCH_TSV.replace("(us)", "(cycles)"), "unit of p50 is cycles"),
        (changed(EXECUTORCH_TSV, "Method::execute", "forward"), "0 rows Method::execute"),
        (EXECUTORCH_TSV + EXECUTORCH_TSV, "2 rows Method::execute"),
        (changed(EXECUTORCH_TSV, "4200\t4500", "4900\t4500"), "contradict"),
        (changed(EXECUTORCH_TSV, "4500\t4900", "4500"), "7 cells, the header has 8"),
    ],
)
def test_tables_without_one_call_are_refused(text: str, said: str) -> None:
    assert said in refusal(text)


@pytest.mark.parametrize(
    "head", ["07-21 10:11:12.000  123  123 I ExecuTorch: ", "2026-07-21T10:11:12.000Z "]
)
def test_heads_of_logcat_and_of_a_server(head: str) -> None:
    lines = "".join(f"{head}{line}\r\n" for line in EXECUTORCH_RUNS.splitlines())

    assert read(lines).latencies == read(EXECUTORCH_RUNS).latencies
