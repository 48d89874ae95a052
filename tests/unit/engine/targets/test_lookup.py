"""Each target of a table has one model: by what ships, and by what the user measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from predictor.core.records import Basis, Target, TargetId
from predictor.cost.engine import OperatorTimes, TargetMeasurements
from predictor.engine.checkpoint import read_checkpoint
from predictor.engine.targets.estimated import EstimatedTargets
from predictor.engine.targets.fine_tuned import FineTuned
from predictor.engine.targets.lookup import TargetLookup, TargetModels
from predictor.engine.targets.timed_operators import TimedOperators
from tests.support.tiny_engine import (
    GRAPHS,
    PROBED,
    TARGETS,
    tiny_checkpoint,
    tiny_engine,
    tuned_to,
)

FIRST, SECOND, BOARD = TARGETS
EVERY = [FIRST, SECOND, BOARD, PROBED]


def timed(target: Target) -> TargetMeasurements:
    """Return measurements with the times of operators, all alike."""
    times = [
        OperatorTimes([(place,) for place in range(len(graph))], np.ones(len(graph)))
        for graph in GRAPHS
    ]
    latency_ms = np.array([float(len(graph)) for graph in GRAPHS])
    noise = np.full(len(GRAPHS), 0.01)
    return TargetMeasurements(
        signature_id=f"of {target.device.id}",
        graphs=GRAPHS,
        latency_ms=latency_ms,
        noise=noise,
        operators=times,
    )


def models(measured: Mapping[TargetId, TargetMeasurements]) -> TargetModels:
    return TargetLookup(read_checkpoint(tiny_checkpoint())).models(EVERY, measured)


def kinds(target_models: TargetModels) -> list[type]:
    return [type(target_models.by_place[place][0]) for place in range(len(EVERY))]


def test_without_measurements_one_model_answers_for_all() -> None:
    target_models = models({})

    assert len(target_models.families) == 1
    assert kinds(target_models) == [EstimatedTargets] * 4
    assert [target_models.by_place[place][1] for place in range(4)] == [0, 1, 2, 3]
    assert list(target_models.basis) == [Basis.ZERO_SHOT] * 3 + [Basis.PROBED]


def test_each_measured_target_has_the_model_of_its_measurements() -> None:
    level = replace(timed(BOARD), operators=())

    target_models = models({FIRST.id: tuned_to(FIRST), SECOND.id: timed(SECOND), BOARD.id: level})

    assert kinds(target_models) == [FineTuned, TimedOperators, EstimatedTargets, EstimatedTargets]
    assert sorted(place for places, _ in target_models.families for place in places) == [0, 1, 2, 3]
    assert target_models.facts["fine_tuned"] == [True, False, False, False]
    assert target_models.facts["by_operators"] == [False, True, False, False]
    assert list(target_models.basis) == [Basis.PROBED] * 4


def test_fine_tuning_comes_before_the_times_of_operators() -> None:
    both = replace(timed(FIRST), film=tuned_to(FIRST).film)

    assert kinds(models({FIRST.id: both}))[0] is FineTuned


@pytest.mark.slow
@pytest.mark.parametrize("place", range(4))
def test_a_model_answers_as_the_engine_does(place: int) -> None:
    measured = {FIRST.id: tuned_to(FIRST), SECOND.id: timed(SECOND)}
    graph = GRAPHS[1]
    table = tiny_engine().predict([graph], EVERY, measured)

    model, inside = models(measured).by_place[place]

    assert model.latency(graph).latency_ms[inside] == pytest.approx(table.latency_ms[0, place])
    parts = model.explain(graph, inside, table.latency_ms[0, place])
    assert parts.latency_ms.sum() == pytest.approx(table.latency_ms[0, place], rel=1e-5)
    (varied,) = model.varied(graph, inside, [EVERY[place].device])
    assert varied == pytest.approx(parts.latency_ms, rel=1e-5)


def test_a_table_names_the_signature_and_the_trouble_of_its_probing() -> None:
    unstable = replace(timed(SECOND), unstable="its clock fell")

    table = tiny_engine().predict([GRAPHS[0]], EVERY, {SECOND.id: unstable})

    assert list(table.facts["signature"][0]) == [None, "of second", None, None]
    assert list(table.facts["unstable"][0]) == ["", "its clock fell", "", ""]


def test_models_after_measurements_are_made_once_for_equal_requests() -> None:
    lookup = TargetLookup(read_checkpoint(tiny_checkpoint()))
    measured = {SECOND.id: timed(SECOND)}

    target_models = lookup.models(EVERY, measured)

    assert lookup.models(list(EVERY), dict(measured)) is target_models
    assert lookup.models(EVERY[:2], measured) is not target_models
    assert lookup.models(EVERY, {SECOND.id: timed(SECOND)}) is not target_models
    assert kinds(lookup.models(EVERY, {})) == [EstimatedTargets] * 4
