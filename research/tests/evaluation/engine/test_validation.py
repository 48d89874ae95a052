"""Validation of an engine whose answers are known, on a small corpus."""

from __future__ import annotations

import json

import numpy as np
import pytest
from numpy.typing import NDArray

from ctm_research.corpus import HoldOut
from ctm_research.evaluation.engine import page_part, validate
from predictor.core.errors import CancelledError, InputError
from predictor.core.progress import CancelToken, Progress
from research.tests.corpus.small_corpus import small_corpus

Rows = NDArray[np.int64]
Floats = NDArray[np.float64]
Columns = tuple[Floats, Floats, Floats, Floats, Floats]


def all_rows() -> Rows:
    return np.arange(len(small_corpus().measurements))


class Teller:
    """Answers ``factor`` times the median of what was measured of a graph on a target."""

    def __init__(self, factor: float) -> None:
        self.factor = factor
        self.calls: list[tuple[Rows, int, Rows]] = []

    def __call__(self, graphs: Rows, target: int, support: Rows) -> Columns:
        self.calls.append((graphs, target, support))
        m = small_corpus().measurements
        of_target = m.target == target
        p50 = np.array(
            [np.median(m.latency_ms[of_target & (m.graph == g)]) for g in graphs.tolist()]
        )
        p50 = self.factor * p50
        return p50, 0.9 * p50, 1.1 * p50, 0.8 * p50, 1.2 * p50


def test_a_constant_error_is_found_in_every_source() -> None:
    corpus, teller = small_corpus(), Teller(1.25)
    rows = np.concatenate([corpus.rows_of("timm"), corpus.rows_of("nas-fbnet")])

    validation = validate(teller, corpus, {"unseen_device": rows}, ks=(0, 1), seeds=2)

    found = {(f.source, f.k): f for f in validation.figures}
    assert set(found) == {(s, k) for s in ("timm", "nas-fbnet", "all") for k in (0, 1)}
    for figures in found.values():
        assert figures.scores.median_ape_percent == pytest.approx(25)
        assert figures.scores.coverage80_percent == 0
        assert figures.spread["mape_percent"] == pytest.approx((25, 25))
    timm = found["timm", 0]
    assert (timm.targets, timm.rows) == (3, 12)
    assert found["all", 0].rows == len(rows)
    # 12.5 % below is the 95 % interval's lower end of 1.25 x 0.8: it touches what was measured.
    assert timm.scores.coverage95_percent == 100


def test_probes_are_of_the_target_and_are_not_asked_for() -> None:
    corpus, teller = small_corpus(), Teller(1.0)

    validate(teller, corpus, {"unseen_device": all_rows()}, ks=(1,), seeds=3)

    m = corpus.measurements
    assert teller.calls
    for graphs, target, support in teller.calls:
        assert len(support) == 1
        assert m.target[support[0]] == target
        assert len(np.unique(graphs)) == len(graphs)
        assert not set(graphs.tolist()) & set(m.graph[support].tolist())


def test_without_probes_there_is_one_draw() -> None:
    teller = Teller(1.0)

    validate(teller, small_corpus(), {"part": all_rows()}, ks=(0,), seeds=5)

    assert len(teller.calls) == len({(target, tuple(g)) for g, target, _ in teller.calls})
    assert all(not support.size for _, _, support in teller.calls)


def test_a_source_may_have_values_of_k_of_its_own() -> None:
    corpus = small_corpus()

    validation = validate(
        Teller(1.0), corpus, {"part": all_rows()}, ks={"nas-fbnet": (2,), "timm": (0, 1)}, seeds=1
    )

    by_source: dict[str, set[int]] = {}
    for figures in validation.figures:
        by_source.setdefault(figures.source, set()).add(figures.k)
    assert by_source["nas-fbnet"] == {2}
    assert by_source["timm"] == {0, 1}
    assert 0 in by_source["ncnn"]  # others have the usual ones, as far as they have graphs enough


def test_at_most_so_many_rows_of_a_target_are_predicted() -> None:
    corpus, teller = small_corpus(), Teller(1.0)

    validate(teller, corpus, {"part": corpus.rows_of("timm")}, ks=(0,), queries=2)

    assert [len(graphs) for graphs, _, _ in teller.calls] == [2, 2, 2]


def test_a_split_has_three_parts_and_training_is_none() -> None:
    corpus, teller = small_corpus(), Teller(1.0)
    split = HoldOut.of(corpus, ["rtx5090"], ["vgg16 224"]).split(corpus)

    validation = validate(teller, corpus, split, ks=(0,))

    rows = {answered.part: set(answered.row.tolist()) for answered in validation.answered}
    assert rows == {
        "unseen_device": set(split.unseen_device.tolist()),
        "unseen_network": set(split.unseen_network.tolist()),
        "unseen_both": set(split.unseen_both.tolist()),
    }
    text = page_part(validation)
    assert text.count("### ") == 3
    assert "### Device and family of networks unseen" in text
    assert "| timm | 0 | 2 |" in text
    json.dumps(validation.document(), allow_nan=False)


def test_nothing_to_predict_is_refused() -> None:
    with pytest.raises(InputError, match="no held-out target has rows enough"):
        validate(Teller(1.0), small_corpus(), {"part": all_rows()[:0]})


def test_it_tells_its_progress_and_can_be_stopped() -> None:
    told: list[Progress] = []
    cancel = CancelToken()

    def tell(progress: Progress) -> None:
        told.append(progress)
        cancel.cancel()

    with pytest.raises(CancelledError):
        validate(Teller(1.0), small_corpus(), {"part": all_rows()}, progress=tell, cancel=cancel)

    assert [(p.done, p.message) for p in told] == [(0, "part, k = 0")]
