"""Mutants of everything that comes from other programs: read, or refused in one sentence."""

from __future__ import annotations

import random
import time

import pytest

from predictor.probing.importers.source import LONGEST_LINE
from tests.fuzz import documents
from tests.support.import_samples import SAMPLES
from tests.support.importing import refusal


@pytest.mark.slow
@pytest.mark.parametrize("name", SAMPLES)
def test_mutants_of_each_format_are_read_or_refused(name: str) -> None:
    rng = random.Random(name)  # noqa: S311 - no secret
    outcomes = {documents.feed_import(documents.mutate_import(rng, name)) for _ in range(120)}
    assert False in outcomes


def test_mutants_of_results_are_read_or_refused() -> None:
    rng = random.Random(0)  # noqa: S311 - no secret
    outcomes = {documents.feed_results(documents.mutate_results(rng)) for _ in range(300)}
    assert outcomes == {False, True}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["device", "project"])
def test_mutants_of_devices_and_projects_are_taken_over_or_refused(kind: str) -> None:
    mutate, feed = (getattr(documents, f"{step}_{kind}") for step in ("mutate", "feed"))
    rng = random.Random(0)  # noqa: S311 - no secret
    outcomes = {feed(mutate(rng)) for _ in range(200)}
    assert outcomes == {False, True}


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit",
    [
        "nference timings in us:",
        "Graph: [",
        "Num threads: [",
        "=====",
        "===== ",
        " ",
        "x min =",
        "count=",
    ],
)
def test_no_line_is_looked_at_once_for_each_of_its_characters(unit: str) -> None:
    line = (unit * LONGEST_LINE)[: LONGEST_LINE - 1]
    head = "STARTING!\nGraph: [a]\nOperator-wise Profiling Info for Regular Benchmark Runs\n"
    begin_s = time.process_time()
    refusal(head + "= Run Order =\n" + 20 * f"{line}\n")
    refusal("loop_count = 4\n" + 20 * f"x{line}\n")
    assert time.process_time() - begin_s < 2.0


def test_a_long_line_is_refused_with_the_limit() -> None:
    text = "model,latency_ms\na," + 20_000 * "1"
    assert "line 2: it is longer than the limit of 16,384 characters" in refusal(text)
    name = "n" * 501
    assert "limit of 500 characters" in refusal(f"model,latency_ms\n{name},1\n")


def test_half_a_character_is_refused() -> None:
    half = SAMPLES["aihub-profile"].replace('"name": "', '"name": "\\ud800', 1)
    assert half != SAMPLES["aihub-profile"]
    assert "half a character" in refusal(half)


def test_a_damaged_heading_of_operators_is_refused() -> None:
    text = (
        "STARTING!\nGraph: [a]\nInference timings in us: Inference (avg): 5\n"
        "Operator-wise Profiling Info for Regular Benchmark Runs\n= Run Order =\n"
        "x[node type]  [avg ms]\nCONV  1.0\n"
    )
    assert "line 7: it has 2 cells" in refusal(text)
