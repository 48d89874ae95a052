from __future__ import annotations

from typing import Any

import pytest

from predictor.probing.operator_times import OperatorTime
from tests.support.import_samples import results_document, results_text
from tests.support.importing import read, refusal


def test_agreeing_blocks_give_the_samples() -> None:
    file = read(results_text(results_document()))
    (latency,) = file.latencies

    assert latency.samples_ns == (2_000_000, 1_000_000, 3_000_000, 2_000_000, 2_000_000)
    assert latency.value_ms == 2.0
    assert (latency.runtime, latency.precision, latency.threads) == ("onnxruntime", "fp32", 1)
    assert latency.facts["fingerprint"] == "f" * 64
    assert file.format == "ctm-results"


def test_times_of_nodes_are_read_where_there_are_any() -> None:
    told = change(("networks", 0, "operators"), [["stem", "Conv", 1_500_000]])
    assert read(results_text(told)).latencies[0].operators == (OperatorTime("stem", "Conv", 1.5),)
    assert read(results_text(results_document())).latencies[0].operators == ()


def test_networks_without_a_number_are_said() -> None:
    assert read(results_text(results_document())).notes == (
        "ofa-3 has no latency: it is inconclusive",
        "vit has no latency: its process was killed",
    )


def change(path: tuple[str | int, ...], value: Any) -> dict[str, Any]:
    found = results_document()
    inner: Any = found
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return found


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (("schema",), "ctm-results/2", "'ctm-results/2', this version reads ctm-results/1"),
        (("networks",), {}, "networks is {}, not a JSON array"),
        (("networks",), [], "no network in it has a latency"),
        (("networks", 0), 3, "a network is 3"),
        (("networks", 0, "median_ms"), -2.0, "not a time above 0"),
        (("networks", 0, "median_ms"), "2 ms", "not a number"),
        (("networks", 0, "median_ms"), 3.0, "not the median of its samples"),
        (("networks", 0, "agreeing"), [0, 7], "block 7 is not there"),
        (("networks", 0, "blocks", 0, "samples_ns", 1), 0, "not a time above 0"),
        (("networks", 0, "blocks", 0, "samples_ns"), None, "not a JSON array"),
        (("networks", 1), {**results_document()["networks"][0]}, "fbnet-7 stands twice"),
        (("networks", 0, "operators"), [["stem", "Conv"]], "no list of name, type and time"),
        (("networks", 0, "operators"), {}, "operators is no list"),
        (("configuration",), None, "configuration is None"),
        (("configuration", "precision"), "fp8", "precision is 'fp8'"),
        (("configuration", "threads"), "two", "threads is 'two'"),
    ],
)
def test_a_broken_document_is_refused(path: tuple[str | int, ...], value: Any, said: str) -> None:
    assert said in refusal(results_text(change(path, value)))


def test_a_changed_number_does_not_fit_the_digest() -> None:
    signed = results_text(results_document())

    assert "digest" in refusal(signed.replace("3000000", "2999999"))
    assert "digest" in refusal(results_text(results_document(), signed=False))
    assert "cut short" in refusal(signed[:-9])
