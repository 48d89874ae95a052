"""What a runner tells is checked against its own samples before it becomes a record."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predictor.core.documents import Provenance
from predictor.core.errors import InputError
from predictor.core.records import Configuration
from predictor.probing.operator_times import OperatorTime, operator_times, triples
from predictor.probing.protocol import (
    checked_network,
    measurement_of,
)
from predictor.probing.runner.medians import percentile, summary
from predictor.probing.runner.settings import Settings

SETTINGS = Settings()
BOARD = Configuration("onnxruntime", threads=1, batch=1)


def block(samples_ns: list[int], *, contended: bool = False) -> dict[str, Any]:
    return {
        "samples_ns": samples_ns,
        "median_ns": percentile(sorted(samples_ns), 0.5),
        "contended": contended,
        "warm_up": {"runs": 10},
    }


def entry(*blocks: dict[str, Any]) -> dict[str, Any]:
    identity = {"name": "n", "fingerprint": "ab" * 32, "sha256": "cd" * 32}
    return {**identity, **summary(blocks, SETTINGS), "blocks": list(blocks)}


STEADY = entry(block([1_000_000] * 20), block([1_010_000] * 20))


@given(st.lists(st.lists(st.integers(1, 10**9), min_size=1, max_size=30), min_size=2, max_size=3))
def test_what_the_runner_makes_is_accepted_as_it_is(samples: list[list[int]]) -> None:
    made = json.loads(json.dumps(entry(*(block(part) for part in samples))))
    checked = checked_network(made, SETTINGS, "here")
    assert checked.verdict == made["verdict"]
    assert checked.median_ms == made["median_ms"]
    assert [list(part) for part in checked.samples_ns] == samples


def test_a_measurement_keeps_every_sample_and_how_it_was_measured() -> None:
    checked = checked_network(STEADY, SETTINGS, "here")
    record = measurement_of(checked, "board", BOARD, {"source": "local", "host": {"cpu": "A76"}})
    assert record.samples_ns == (1_000_000,) * 20 + (1_010_000,) * 20
    assert (record.value_ms, record.statistic, record.protocol) == (1.01, "median", "ctm-probe/1")
    assert (record.device_id, record.configuration) == ("board", BOARD)
    provenance = record.provenance.content
    assert provenance["host"] == {"cpu": "A76"}
    assert provenance["verdict"] == "steady"
    assert [part["runs"] for part in provenance["blocks"]] == [20, 20]
    assert provenance["blocks"][0]["warm_up"] == {"runs": 10}


def test_an_inconclusive_network_never_becomes_a_number() -> None:
    made = entry(block([1000]), block([2000]), block([4000]))
    checked = checked_network(made, SETTINGS, "here")
    assert checked.median_ms is None
    with pytest.raises(ValueError, match="inconclusive"):
        measurement_of(checked, "board", BOARD, {})
    assert checked.facts(with_samples=True)["blocks"][2]["samples_ns"] == [4000]


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (STEADY, "steady: two blocks agree within 1 %"),
        (
            entry(block([1_000_000] * 20), block([1_000_000] * 20, contended=True)),
            "noisy: two blocks agree within 0.1 %, but other programs were at work",
        ),
        (
            entry(block(list(range(900, 1100, 10))), block(list(range(900, 1100, 10)))),
            "noisy: two blocks agree within 0.1 %, but single runs vary much",
        ),
        (
            entry(block([1000]), block([2000]), block([4000])),
            "inconclusive: its 3 blocks differ, the nearest two by 100 %",
        ),
    ],
)
def test_a_verdict_in_words(made: dict[str, Any], words: str) -> None:
    assert checked_network(made, SETTINGS, "here").words == words


def test_times_of_nodes_go_with_the_measurement_and_come_back() -> None:
    told = [["stem/Conv", "Conv", 1_234_000], ["", "Relu", 0]]
    checked = checked_network({**STEADY, "operators": told}, SETTINGS, "here")
    provenance = measurement_of(checked, "board", BOARD, {}).provenance
    assert provenance.content["operators"] == told
    assert operator_times(provenance) == (
        OperatorTime("stem/Conv", "Conv", 1.234),
        OperatorTime("", "Relu", 0.0),
    )


def test_why_there_are_no_times_of_nodes_goes_with_the_measurement() -> None:
    checked = checked_network({**STEADY, "operators_missing": "no disk" * 200}, SETTINGS, "here")
    provenance = measurement_of(checked, "board", BOARD, {}).provenance
    assert provenance.content["operators_missing"].startswith("no disk")
    assert len(provenance.content["operators_missing"]) == 500
    assert operator_times(provenance) == ()


def test_results_of_a_version_that_did_not_profile_have_no_times_of_nodes() -> None:
    checked = checked_network(STEADY, SETTINGS, "here")
    facts = measurement_of(checked, "board", BOARD, {}).provenance.content
    assert not {"operators", "operators_missing"} & facts.keys()


@pytest.mark.parametrize(
    "provenance", ["", "[]", "rubbish", '{"operators": 3}', '{"operators": [["a", "b", NaN]]}']
)
def test_a_provenance_of_another_program_tells_of_no_node(provenance: str) -> None:
    assert operator_times(Provenance(text=provenance)) == ()


@pytest.mark.slow
@given(st.lists(st.tuples(st.text(), st.text(), st.integers(0, 10**11))))
def test_times_of_nodes_are_told_and_read_alike(told: list[tuple[str, str, int]]) -> None:
    times = tuple(OperatorTime(name, op_type, ns / 1e6) for name, op_type, ns in told)
    assert triples(times) == [list(entry) for entry in told]
    assert operator_times(Provenance({"operators": triples(times)})) == times


def test_too_many_nodes_are_left_out_and_long_names_cut() -> None:
    long = OperatorTime("n" * 501, "t" * 501, 1.0)
    assert triples([long]) == [["n" * 500, "t" * 500, 1_000_000]]
    assert triples([long] * 20_001) == []


def with_operators(value: object) -> dict[str, Any]:
    return {**STEADY, "operators": value}


def changed(path: list[Any], value: object) -> dict[str, Any]:
    made = copy.deepcopy(STEADY)
    at: Any = made
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return made


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (changed(["median_ms"], 0.5), "its median_ms is 0.5, its samples give 1.01"),
        (changed(["verdict"], "noisy"), "its verdict is noisy, its samples give steady"),
        (changed(["blocks", 0, "median_ns"], 5), "median is 5, its samples give another"),
        (changed(["blocks", 0, "samples_ns", 3], -1), "no positive whole number"),
        (changed(["blocks", 0, "samples_ns", 3], True), "no positive whole number"),
        (changed(["blocks", 0, "samples_ns", 3], 1.5), "no positive whole number"),
        (changed(["blocks", 0, "samples_ns"], []), "no list of samples"),
        (changed(["blocks", 0, "samples_ns"], "x"), "no list of samples"),
        (changed(["blocks", 0, "contended"], 1), "neither true nor false"),
        (changed(["blocks"], []), "it has 0 blocks"),
        (changed(["blocks", 0], 7), "not subscriptable"),
        ({k: v for k, v in STEADY.items() if k != "sha256"}, "no 'sha256' is given"),
        ([], "list indices"),
        (with_operators(None), "operators is no list of at most 20,000 nodes"),
        (with_operators([["a", "b", 1]] * 20_001), "operators is no list of at most 20,000 nodes"),
        (with_operators(["abc"]), "an operator is no list of name, type and time"),
        (with_operators([["a", "b"]]), "an operator is no list of name, type and time"),
        (with_operators([[None, "b", 1]]), "no text of at most 500 characters"),
        (with_operators([["a", "b" * 501, 1]]), "no text of at most 500 characters"),
        (with_operators([["a", "b", -1]]), "no number of nanoseconds from 0"),
        (with_operators([["a", "b", float("nan")]]), "no number of nanoseconds from 0"),
        (with_operators([["a", "b", float("inf")]]), "no number of nanoseconds from 0"),
        (with_operators([["a", "b", 10**400]]), "no number of nanoseconds from 0"),
        (with_operators([["a", "b", True]]), "no number of nanoseconds from 0"),
        (with_operators([["a", "b", "1"]]), "no number of nanoseconds from 0"),
    ],
)
def test_what_is_at_odds_with_its_samples_is_refused(made: Any, words: str) -> None:
    with pytest.raises(InputError) as error:
        checked_network(made, SETTINGS, "results.json")
    assert words in str(error.value)
    assert str(error.value).startswith("results.json: the entry of ")
