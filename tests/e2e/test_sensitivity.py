"""``ctm predict --sensitivity`` and ``ctm explain`` as processes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import Run

FACT_KEYS = {"fact", "unit", "value", "elasticity", "factor_at_plus_10_percent"}
ALTERNATIVE_KEYS = {
    "change",
    "latency_ms",
    "latency_factor",
    "low80_factor",
    "high80_factor",
    "throughput_factor",
    "fits_memory",
}


def entry_of(ctm: Run, *arguments: str | Path) -> dict[str, Any]:
    done = ctm(*arguments, "--json")
    assert (done.returncode, done.stdout[:1]) == (0, "{"), done.stderr
    document = json.loads(done.stdout)
    assert document["schema"] == "ctm-prediction/1"
    entry: dict[str, Any] = document["predictions"][0]
    return entry


def test_the_document_has_facts_and_alternatives(ctm: Run, mobilenet: Path, board: Path) -> None:
    asked = ("predict", mobilenet, "--device", board)
    entry = entry_of(ctm, *asked, "--sensitivity")
    facts, alternatives = entry["sensitivity"]["facts"], entry["sensitivity"]["alternatives"]

    assert facts
    assert all(set(fact) == FACT_KEYS for fact in facts)
    assert all(set(each) == ALTERNATIVE_KEYS for each in alternatives)
    for fact in facts:
        assert -1.001 < fact["elasticity"] < 0
        # 10 % more of a rate is what its elasticity says, but for the curve.
        assert fact["factor_at_plus_10_percent"] == pytest.approx(
            1.1 ** fact["elasticity"], abs=5e-3
        )
    assert "sensitivity" not in entry_of(ctm, *asked)
    by_change = {each["change"]: each for each in alternatives}
    assert {"batch 2", "batch 4"} <= set(by_change)


def test_an_alternative_is_what_predict_says_of_it(ctm: Run, mobilenet: Path, board: Path) -> None:
    asked = ("predict", mobilenet, "--device", board, "--threads", "2")
    entry = entry_of(ctm, *asked, "--sensitivity")
    (half,) = [e for e in entry["sensitivity"]["alternatives"] if e["change"] == "threads 1"]

    alone = entry_of(ctm, *asked[:-1], "1")

    assert half["latency_ms"] == pytest.approx(alone["latency_ms"])
    assert half["latency_factor"] == pytest.approx(alone["latency_ms"] / entry["latency_ms"])
    assert half["throughput_factor"] == pytest.approx(1 / half["latency_factor"])
    assert half["low80_factor"] < half["latency_factor"] < half["high80_factor"]


def test_more_of_a_fact_is_what_predict_says_of_such_a_device(
    ctm: Run, mobilenet: Path, board: Path, tmp_path: Path
) -> None:
    facts = entry_of(ctm, "predict", mobilenet, "--device", board, "--sensitivity")
    strongest = facts["sensitivity"]["facts"][0]
    device = json.loads(board.read_text())
    device["metrics"][strongest["fact"]] *= 1.1
    other = tmp_path / "faster.json"
    other.write_text(json.dumps(device))

    faster = entry_of(ctm, "predict", mobilenet, "--device", other)

    assert faster["latency_ms"] / facts["latency_ms"] == pytest.approx(
        strongest["factor_at_plus_10_percent"], rel=1e-6
    )


def test_explain_is_predict_with_operators_and_sensitivity(
    ctm: Run, mobilenet: Path, board: Path
) -> None:
    explained = entry_of(ctm, "explain", mobilenet, "--device", board)
    asked = ("predict", mobilenet, "--device", board, "--operators", "--sensitivity")

    assert explained == entry_of(ctm, *asked)
    facts = {fact["fact"]: fact["elasticity"] for fact in explained["sensitivity"]["facts"]}
    timed = [each for each in explained["operators"] if each["latency_ms"] > 0]
    for name, elasticity in facts.items():
        # The whole is the mean of its operators, each by its share.
        mean = sum(each["share"] * each["sensitivity"][name] for each in timed)
        assert mean == pytest.approx(elasticity, abs=1e-3)
    free = [each for each in explained["operators"] if each["latency_ms"] == 0]
    assert all(each["sensitivity"] == {} for each in free)


def test_the_text_leads_with_a_sentence(ctm_process: Run, mobilenet: Path, board: Path) -> None:
    done = ctm_process("explain", mobilenet, "--device", board)

    assert done.returncode == 0, done.stderr
    blocks = done.stdout.split("\n\n")
    title, sentence = blocks[2].splitlines()
    assert title.endswith(" ms")
    assert sentence.startswith("To make it faster: ")
    assert " +10 % saves " in sentence
    assert blocks[3].splitlines()[0].split() == ["Fact", "Value", "Elasticity", "+10", "%"]
    assert blocks[4].startswith("Change ")
    assert blocks[5].splitlines()[0].endswith("Moves with")
    assert " −0." in blocks[5].splitlines()[1]


def test_without_any_number_there_is_one_sentence(ctm: Run, mobilenet: Path, board: Path) -> None:
    asked = (mobilenet, "--device", board, "--precision", "bf16", "--json")
    predicted = ctm("predict", *asked, "--sensitivity")
    explained = ctm("explain", *asked)

    for done, name in ((predicted, "--sensitivity"), (explained, "explain")):
        assert done.returncode == 2
        last = done.stderr.splitlines()[-1]
        assert last.startswith(f"ctm: {name}: no target has a number that could change (not supp")
        assert "Traceback" not in done.stderr
        assert json.loads(done.stdout)["predictions"][0]["sensitivity"] is None


def test_one_of_two_targets_may_have_none(ctm: Run, mobilenet: Path, board: Path) -> None:
    devices = ("--device", board, "--device", "hailo-8", "--precision", "fp32")
    done = ctm("predict", mobilenet, *devices, "--sensitivity", "--json")
    with_number, without = json.loads(done.stdout)["predictions"]

    assert done.returncode == 0
    assert with_number["sensitivity"]["facts"]
    assert without["sensitivity"] is None
