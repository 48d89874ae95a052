"""Targets whose operators were timed: what the engine makes of a profile."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predictor.core.records import Basis
from predictor.cost.engine import FilmBiases, FilmTuning, OperatorTimes, TargetMeasurements
from predictor.graph.operator_graph import OperatorGraph
from predictor.graph.scaling import at_batch
from predictor.network.term_runtime import FILM_BETA, FILM_GAMMA
from predictor.services.prediction.predict import selected
from tests.support.explanations import explanation_of
from tests.support.graphs import VIEW, Op, make_graph
from tests.support.random_graphs import graphs
from tests.support.tiny_engine import TARGETS, tiny_engine

TARGET = TARGETS[0]
HEAVY = Op(macs=10**9, read=10**5, weights=10**5, written=10**5, columns=64)
LIGHT = Op(read=10**7, written=10**7)
PROBES = [
    make_graph([HEAVY, LIGHT]),
    make_graph([Op(read=9, written=9, flags=VIEW), HEAVY, HEAVY, LIGHT, LIGHT, LIGHT]),
    make_graph([LIGHT, HEAVY, LIGHT]),
]


def measured(heavy_ms: float, light_ms: float) -> dict[str, TargetMeasurements]:
    """Return what a target takes of whose operators each kind takes a time of its own."""
    times = []
    for graph in PROBES:
        runs = [place for place in range(len(graph)) if graph.bytes_moved[place] > 18]
        of_each = [heavy_ms if graph.macs[place] else light_ms for place in runs]
        times.append(OperatorTimes([(place,) for place in runs], np.array(of_each)))
    latency_ms = np.array([each.time_ms.sum() for each in times])
    known = TargetMeasurements(
        signature_id="own",
        graphs=PROBES,
        latency_ms=latency_ms,
        noise=np.full(len(PROBES), 0.01),
        operators=times,
    )
    return {TARGET.id: known}


def test_each_operator_of_another_graph_takes_what_its_like_took() -> None:
    known = measured(2.0, 40.0)
    asked = make_graph([HEAVY, LIGHT, LIGHT, LIGHT, LIGHT])

    table = tiny_engine().predict([asked], TARGETS, known)
    explained = explanation_of(tiny_engine(), asked, TARGET, known)

    assert table.basis[0][0] is Basis.PROBED
    assert table.latency_ms[0, 0] == pytest.approx(162.0, rel=0.1)
    assert explained.latency_ms == pytest.approx([2.0, 40.0, 40.0, 40.0, 40.0], rel=0.3)
    assert explained.latency_ms.sum() == pytest.approx(table.latency_ms[0, 0])
    assert table.low80_ms[0, 0] < 162.0 < table.high80_ms[0, 0]
    assert table.high80_ms[0, 0] / table.low80_ms[0, 0] < 2.0
    plain = tiny_engine().predict([asked], TARGETS, {})
    np.testing.assert_array_equal(table.latency_ms[0, 2:], plain.latency_ms[0, 2:])


def test_the_bound_gives_way_to_what_was_faster() -> None:
    asked = make_graph([HEAVY])
    plain = tiny_engine().predict([asked], [TARGET], {}).bound_ms[0, 0]
    known = measured(plain / 4, 1e-3)

    table = tiny_engine().predict([asked], [TARGET], known)

    assert table.bound_ms[0, 0] < plain / 3
    assert table.low95_ms[0, 0] >= table.bound_ms[0, 0]
    assert table.latency_ms[0, 0] < plain


def test_a_mistyped_latency_does_not_take_the_bound_away() -> None:
    asked = make_graph([HEAVY])
    plain = tiny_engine().predict([asked], [TARGET], {}).bound_ms[0, 0]

    table = tiny_engine().predict([asked], [TARGET], measured(plain / 1000, 1e-6))

    assert table.bound_ms[0, 0] == pytest.approx(0.2 * plain)


def test_some_of_the_measurements_keep_their_own_operators() -> None:
    known = measured(2.0, 40.0)[TARGET.id]

    some = selected(known, [2, 0])

    assert [len(each.groups) for each in some.operators if each] == [3, 2]
    without = replace(known, operators=(None, known.operators[1], None))
    found = tiny_engine().predict([PROBES[0]], [TARGET], {TARGET.id: without})
    assert found.latency_ms[0, 0] == pytest.approx(42.0, rel=0.1)


@pytest.mark.slow
@settings(deadline=None, max_examples=20)
@given(graphs(), st.integers(2, 64), st.floats(0.1, 100.0))
def test_a_larger_batch_is_never_faster(graph: OperatorGraph, factor: int, heavy_ms: float) -> None:
    known = measured(heavy_ms, 1.0)

    one, many = (
        tiny_engine().predict([g], [TARGET], known) for g in (graph, at_batch(graph, factor))
    )

    assert np.isfinite(one.high95_ms).all()
    assert (many.latency_ms >= one.latency_ms * (1 - 1e-6)).all()


def test_fine_tuned_film_comes_before_the_operators() -> None:
    known = measured(2.0, 40.0)[TARGET.id]
    # Imported here: torch takes seconds, which the collection of all tests would take too.
    from predictor.network.film_tuning.fit import TorchGraph  # noqa: PLC0415

    head = TorchGraph(tiny_engine().network.head).initializers
    biases = FilmBiases(head[FILM_GAMMA].numpy(), head[FILM_BETA].numpy())
    tuned = replace(known, film=FilmTuning(tiny_engine().network.checksum, biases))

    by_film, by_operators = (
        tiny_engine().predict([PROBES[0]], [TARGET], {TARGET.id: each}) for each in (tuned, known)
    )

    assert (by_film.facts["fine_tuned"], by_film.facts["by_operators"]) == ([[True]], [[False]])
    by_both = by_operators.facts["fine_tuned"], by_operators.facts["by_operators"]
    assert by_both == ([[False]], [[True]])
    plain = tiny_engine().predict([PROBES[0]], [TARGET], {TARGET.id: replace(tuned, operators=())})
    np.testing.assert_allclose(by_film.latency_ms, plain.latency_ms, rtol=1e-6)
    assert by_film.latency_ms[0, 0] != by_operators.latency_ms[0, 0]
