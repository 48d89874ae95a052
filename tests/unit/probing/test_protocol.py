"""What a runner tells is checked against its own samples before it becomes a record."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predictor.core.errors import InputError
from predictor.core.records import Configuration
from predictor.probing.protocol import (
    checked_network,
    measurement_of,
    verdict_words,
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
    provenance = json.loads(record.provenance)
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
    assert verdict_words(checked_network(made, SETTINGS, "here")) == words


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
    ],
)
def test_what_is_at_odds_with_its_samples_is_refused(made: Any, words: str) -> None:
    with pytest.raises(InputError) as error:
        checked_network(made, SETTINGS, "results.json")
    assert words in str(error.value)
    assert str(error.value).startswith("results.json: the entry of ")
