"""A judgement of the small corpus: its document, its page, and what it refuses."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from ctm_research.corpus.ledger import ClassRows, Ledger, RowClass
from ctm_research.evaluation.judge.document import LawCheck, Shipped, judge
from ctm_research.evaluation.judge.judged import Class, Judged, judged_of
from ctm_research.evaluation.judge.page import page
from ctm_research.evaluation.judge.shipped import SEEN, sample, shipped_answers
from predictor.core.errors import CancelledError, InputError
from predictor.core.percentiles import Z80
from predictor.core.progress import CancelToken
from predictor.core.records import Target
from predictor.cost.roofline import RooflineEngine
from research.tests.corpus.small_corpus import catalogue, small_corpus
from research.tests.evaluation.judge.hand_made import Row, judged
from research.tests.evaluation.judge.lawless import DEVICE, GRAPHS, Wrong
from tests.support.explanations import explanation_of

# The roofline with an interval.
ENGINE = Wrong(lambda table, *_: replace(table, high80_ms=2 * table.latency_ms))


@cache
def small() -> Judged:
    return judged_of(small_corpus(), catalogue())


@cache
def document() -> dict[str, Any]:
    laws = LawCheck([RooflineEngine(), ENGINE], GRAPHS, [DEVICE])
    return judge(small(), draws=2, shipped=Shipped(ENGINE, {"timm"}), checked=laws)


def test_the_corpus_in_classes() -> None:
    corpus = small()

    assert {Class("pytorch", "nvidia"), Class("ncnn", "arm")} <= set(corpus.classes)
    # Single operators and boards that the catalogue lacks are not judged.
    names = [small_corpus().sources[s] for s in small_corpus().measurements.source[corpus.rows]]
    assert "neusight-operators" not in names
    assert all(small_corpus().targets[t].is_listed for t in corpus.target[corpus.rows])
    # Two boards with one chip are one silicon.
    rows = corpus.rows[corpus.class_of(corpus.rows) == corpus.classes.index(Class("ncnn", "arm"))]
    assert {corpus.silicon_names[s] for s in corpus.silicon_of(rows)} == {"cortex-a76"}


def test_the_parts_are_those_of_the_roofline() -> None:
    corpus = small()
    rated = [row for row in corpus.rows.tolist() if corpus.parts.rated[corpus.target[row]]]

    for row in rated:
        graph = small_corpus().graphs.operator_graph(int(corpus.graph[row]))
        target: Target = corpus.targets[corpus.target[row]]
        told = explanation_of(RooflineEngine(), graph, target)
        assert corpus.parts.estimate_ms[row] == pytest.approx(told.latency_ms.sum())
        assert corpus.parts.compute_ms[row] == pytest.approx(told.compute_ms.sum())
        assert corpus.parts.memory_ms[row] == pytest.approx(told.memory_ms.sum())
        assert corpus.parts.launch_ms[row] == pytest.approx(told.launch_ms.sum())
    assert rated


def test_the_document_is_json_and_the_same_again() -> None:
    again = judge(
        small(),
        draws=2,
        shipped=Shipped(ENGINE, {"timm"}),
        checked=LawCheck([RooflineEngine(), ENGINE], GRAPHS, [DEVICE]),
    )

    assert json.dumps(again, allow_nan=False) == json.dumps(document(), allow_nan=False)


def test_a_class_is_told_with_its_sizes_and_engines() -> None:
    told = {each["class"]: each for each in document()["classes"]}["nvidia x pytorch"]

    rows = small().rows[
        small().class_of(small().rows) == small().classes.index(Class("pytorch", "nvidia"))
    ]
    assert told["rows"] == len(rows)
    engines = told["settings"]["unseen"]["engines"]
    assert {"roofline", "class estimate"} <= engines.keys()
    assert engines["class estimate"]["asked"] == len(rows)
    assert told["settings"]["unseen"]["goal"] is None  # fewer than eight kinds of silicon
    assert told["settings"][SEEN]["engines"].keys() == {ENGINE.name}


def test_the_page_has_every_section() -> None:
    text = page(document(), "Written by a test.")

    for title in (
        "Goals",
        "Classes",
        "Silicon unseen",
        "The engine as it ships",
        "Laws",
        "Measurements",
    ):
        assert f"\n## {title}" in text
    assert "| nvidia x pytorch |" in text
    assert "| 4: a larger batch is never faster | 0 of" in text


def test_a_page_without_shipped_engine_and_laws() -> None:
    text = page(judge(small(), draws=1), "")

    assert "as it ships" not in text
    assert "the data folder has none of the networks" in text


def test_goals_are_bold_where_they_are_reached() -> None:
    rows = [Row(f"s{s}", n, 2.0) for s in range(12) for n in range(4)]

    text = page(judge(judged(rows), draws=1), "")

    assert "| arm x ncnn | 12 | 50.0 |" in text
    assert "| **0.0** | 100 |" in text


def test_a_finished_engine_is_asked_about_some_networks_of_each_target() -> None:
    rows = [Row(s, n, 1.0 + n) for s in ("a", "b") for n in range(30) for _ in range(2)]
    corpus = judged(rows)

    drawn = sample(corpus, 5, seed=0)

    assert [int((corpus.target[drawn] == t).sum()) for t in (0, 1)] == [5, 5]
    assert len(np.unique(corpus.network[drawn[:5]])) == 5
    assert drawn.tolist() == sample(corpus, 5, seed=0).tolist() != sample(corpus, 5, 1).tolist()


def test_silicon_of_its_own_sources_is_seen() -> None:
    answers = shipped_answers(ENGINE, small(), {"timm"}, seed=0)

    corpus, m = small_corpus(), small_corpus().measurements
    learned = {
        small().silicon[t] for t in m.target[m.source == corpus.sources.index("timm")].tolist()
    }
    assert set(small().silicon_of(answers[SEEN].rows)) <= learned
    assert not set(small().silicon_of(answers["unseen"].rows)) & learned
    known = np.isfinite(answers[SEEN].log_ms)
    assert known.any()
    assert answers[SEEN].deviation[known] == pytest.approx(np.log(2) / Z80)


def test_measurements_without_a_device_are_refused() -> None:
    corpus = small_corpus()
    unlisted = tuple(
        replace(target, device_id="", source="ncnn", device=f"board {number}")
        for number, target in enumerate(corpus.targets)
    )

    with pytest.raises(InputError, match="none is of a network on a device of the catalogue"):
        judged_of(replace(corpus, targets=unlisted), catalogue())


def test_a_stop_is_obeyed() -> None:
    cancel = CancelToken()
    cancel.cancel()

    with pytest.raises(CancelledError):
        judge(small(), cancel=cancel)
    with pytest.raises(CancelledError):
        shipped_answers(ENGINE, small(), (), 0, cancel=cancel)


def test_reasons_stand_where_few_of_the_published_rows_are_used() -> None:
    rows = [Row(f"s{s}", n, 2.0) for s in range(8) for n in range(2)]
    reasons = Counter({"no graph of the network is at hand": 40, "a high percentile": 9})
    devices = Counter({f"board {n}": 1 for n in range(8)})
    of_class = ClassRows(used=16, left_out=reasons, devices=devices)
    ledger = Ledger({RowClass("ncnn", "arm"): of_class}, {}, {})

    text = page(judge(replace(judged(rows), ledger=ledger), draws=1), "")

    assert "- arm x ncnn: 40 no graph of the network is at hand; 9 a high percentile" in text
    assert "| arm x ncnn | 8 | 8 | 8 | 2 | 16 | 25 | 100 |" in text
