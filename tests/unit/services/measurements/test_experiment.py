"""Probes, predictions and summaries of a table, with an engine whose numbers are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from predictor.core.errors import InputError
from predictor.core.metrics import Family
from predictor.core.records import Basis, Configuration, Device, Target, TargetId
from predictor.cost.engine import Explanation, PredictionTable, TargetMeasurements
from predictor.cost.roofline import RooflineEngine
from predictor.graph.operator_graph import OperatorGraph
from predictor.graph.scaling import at_batch
from predictor.probing.networks.spaces import operator_graph_of
from predictor.services.measurements.document import document
from predictor.services.measurements.draws import Plan
from predictor.services.measurements.experiment import Outcome, run_experiment
from predictor.services.measurements.measured_table import MeasuredTable, MeasuredTarget
from predictor.services.measurements.page import page
from predictor.services.measurements.table import MeasuredRow, Role

METRICS = {"fp32_tflops": 1.0, "dram_bw_gbps": 100.0, "core_count": 4}
MODELS = 12


@pytest.fixture(scope="module")
def graphs() -> list[OperatorGraph]:
    """One network at twelve batches, so that every latency is known from the first."""
    first = operator_graph_of("fbnet-cifar100", [0] * 22)
    return [at_batch(first, batch) for batch in range(1, MODELS + 1)]


def target(name: str) -> Target:
    device = Device(id=name, name=name, vendor="", family=Family.GPU, metrics=METRICS)
    return Target(device, Configuration("ncnn", threads=0, batch=0))


def table_of(
    graphs: Sequence[OperatorGraph],
    factors: Mapping[str, float],
    roles: Sequence[Role | None] = (None,),
) -> MeasuredTable:
    """Each target takes ``factor`` times its estimate."""
    rows, targets = [], []
    for name, factor in factors.items():
        own = target(name)
        estimate = RooflineEngine().predict(graphs, [own], {}).latency_ms[:, 0]
        numbers = np.arange(len(rows), len(rows) + len(graphs))
        targets.append(MeasuredTarget(name, own, numbers))
        for index, ms in enumerate((factor * estimate).tolist()):
            role = roles[index % len(roles)]
            rows.append(
                MeasuredRow(
                    line=len(rows) + 2,
                    target=name,
                    model=f"m{index}",
                    latency_ms=ms,
                    runtime=None,
                    precision=None,
                    threads=0,
                    batch=None,
                    role=role,
                )
            )
    return MeasuredTable(
        Path("t.csv"), rows, list(graphs) * len(factors), targets, [target("known"), target("k2")]
    )


class Scaled:
    """An engine: the roofline times the mean ratio of what was measured, ± 20 and 40 %."""

    name = "scaled/1"

    def __init__(self) -> None:
        self.given: list[dict[str, TargetMeasurements]] = []

    def predict(
        self,
        graphs: Sequence[OperatorGraph],
        targets: Sequence[Target],
        measured: Mapping[TargetId, TargetMeasurements],
    ) -> PredictionTable:
        self.given.append(dict(measured))
        found = RooflineEngine().predict(graphs, targets, {})
        scale = np.array([self._scale(t, measured.get(t.id)) for t in targets])
        p50 = found.latency_ms * scale
        return replace(
            found,
            engine=self.name,
            latency_ms=p50,
            predicted_ms=p50,
            low80_ms=0.8 * p50,
            high80_ms=1.2 * p50,
            low95_ms=0.6 * p50,
            high95_ms=1.4 * p50,
            basis=[[Basis.PROBED if t.id in measured else Basis.ZERO_SHOT for t in targets]]
            * len(graphs),
        )

    def _scale(self, of: Target, known: TargetMeasurements | None) -> float:
        if known is None:
            return 1.0
        own = RooflineEngine().predict(known.graphs, [of], {}).latency_ms[:, 0]
        return float((known.latency_ms / own).mean())

    def explain(self, *_: object) -> Explanation:
        raise NotImplementedError


def run(table: MeasuredTable, **plan: object) -> tuple[Outcome, Scaled]:
    engine = Scaled()
    return run_experiment(table, Plan(**plan), engine), engine


def test_zero_shot_reads_no_latency(graphs: list[OperatorGraph]) -> None:
    table = table_of(graphs, {"a": 2.0, "b": 1.25})

    outcome, engine = run(table, probes=0, seeds=5)

    assert engine.given == [{}]  # nothing is random, so one seed is enough
    assert outcome.row.tolist() == list(range(2 * MODELS))
    found = document(table, Plan(0), outcome)["summary"]
    assert [entry["mape_percent"] for entry in found["targets"]] == pytest.approx([50, 20])
    assert [entry["coverage80_percent"] for entry in found["targets"]] == pytest.approx([0, 0])
    assert [entry["coverage95_percent"] for entry in found["targets"]] == pytest.approx([0, 100])
    assert found["all"]["mape_percent"] == pytest.approx(35)
    assert found["all"]["bootstrap95"]["mape_percent"] == pytest.approx([20, 50])
    assert set(outcome.basis) == {Basis.ZERO_SHOT}


@pytest.mark.parametrize("selector", ["random", "dbsel", "dopt"])
def test_probes_are_given_and_not_predicted(graphs: list[OperatorGraph], selector: str) -> None:
    table = table_of(graphs, {"a": 2.0, "b": 3.0})

    outcome, engine = run(table, probes=6, selector=selector, seeds=2)

    assert len(engine.given) == (1 if selector == "dopt" else 2)
    for seed, given in enumerate(engine.given):
        for number, measured in enumerate(table.targets):
            probes = given[measured.target.id]
            asked = outcome.row[(outcome.seed == seed) & (outcome.target == number)]
            assert len(probes.graphs) == len(set(map(id, probes.graphs))) == 6
            assert len(asked) == MODELS - 6
            of_probes = {id(graph) for graph in probes.graphs}
            assert not of_probes & {id(table.graphs[row]) for row in asked.tolist()}
    # The engine learns the factor from the probes, and so does the reference.
    np.testing.assert_allclose(outcome.answers.predicted_ms, outcome.answers.measured_ms)
    np.testing.assert_allclose(outcome.reference_ms, outcome.answers.measured_ms)
    assert set(outcome.basis) == {Basis.PROBED}


def test_seeds_and_targets_draw_apart_and_the_same_again(graphs: list[OperatorGraph]) -> None:
    table = table_of(graphs, {"a": 2.0, "b": 2.0})

    (outcome, _), (again, _) = run(table, probes=4, seeds=3), run(table, probes=4, seeds=3)

    assert outcome.row.tolist() == again.row.tolist()
    drawn = {
        tuple((outcome.row[(outcome.seed == s) & (outcome.target == t)] % MODELS).tolist())
        for s in range(3)
        for t in range(2)
    }
    assert len(drawn) > 3


def test_roles_part_the_rows(graphs: list[OperatorGraph]) -> None:
    table = table_of(graphs, {"a": 2.0}, roles=[Role.PROBE, Role.TEST, Role.TEST])

    outcome, engine = run(table, seeds=4)

    assert [row % 3 for row in outcome.row.tolist()] == [1, 2] * 4
    assert engine.given[0][table.targets[0].target.id].latency_ms.size == 4
    assert outcome.seeds == 1


def test_fewer_probes_than_the_role_are_drawn_from_it(graphs: list[OperatorGraph]) -> None:
    table = table_of(graphs, {"a": 2.0}, roles=[Role.PROBE, Role.TEST])

    outcome, engine = run(table, probes=2, seeds=3)

    assert outcome.seeds == 3
    assert all(row % 2 for row in outcome.row.tolist())
    assert {m.latency_ms.size for given in engine.given for m in given.values()} == {2}


def test_a_target_with_too_few_rows_is_told(graphs: list[OperatorGraph]) -> None:
    table = table_of(graphs, {"a": 2.0, "b": 2.0})
    short = replace(table.targets[1], rows=table.targets[1].rows[:3])
    table = replace(table, targets=[table.targets[0], short])

    outcome, _ = run(table, probes=3, seeds=1)

    assert outcome.left_out == {"b": "3 probes of 3 rows leave none to predict"}
    assert set(outcome.target.tolist()) == {0}
    with pytest.raises(InputError, match="12 probes of 12 rows leave none to predict"):
        run(table, probes=12)


def test_targets_of_one_key_do_not_see_each_other(graphs: list[OperatorGraph]) -> None:
    table = table_of(graphs, {"a": 2.0, "b": 5.0})
    twin = replace(table.targets[1], target=table.targets[0].target)
    table = replace(table, targets=[table.targets[0], twin])

    outcome, engine = run(table, probes=3, seeds=1)

    assert [len(given) for given in engine.given] == [1, 1]
    np.testing.assert_allclose(outcome.answers.predicted_ms, outcome.answers.measured_ms)


@pytest.mark.parametrize(
    ("factor", "words"),
    [(1e-3, "and no run can take less than"), (1e3, "times off what the other rows of a")],
)
def test_a_latency_in_another_unit_names_its_line(
    graphs: list[OperatorGraph], factor: float, words: str
) -> None:
    table = table_of(graphs, {"a": 2.0})
    rows = list(table.rows)
    rows[3] = replace(rows[3], latency_ms=rows[3].latency_ms * factor)

    with pytest.raises(InputError, match=r"t\.csv, line 5: .*" + words):
        run(replace(table, rows=rows))


def test_a_device_without_facts_has_rows_without_numbers(graphs: list[OperatorGraph]) -> None:
    table = table_of(graphs, {"a": 2.0})
    bare = Target(
        Device(id="bare", name="bare", vendor="", family=Family.GPU, metrics={}),
        Configuration("ncnn", batch=0),
    )
    table = replace(table, targets=[replace(table.targets[0], target=bare)])

    outcome = run_experiment(table, Plan(0), RooflineEngine())

    found = document(table, Plan(0), outcome)
    assert found["summary"]["all"]["without_number"] == MODELS
    assert found["summary"]["all"]["mape_percent"] is None
    assert {row["predicted_ms"] for row in found["rows"]} == {None}
    assert all("is not known for bare" in row["problem"] for row in found["rows"])
    assert "12, 12 without a number" in page(found, "By hand.")


def test_the_page_has_the_columns_of_the_papers_table(graphs: list[OperatorGraph]) -> None:
    table = table_of(graphs, {"a": 2.0, "b|c": 1.25})
    outcome, _ = run(table, probes=0)

    text = page(document(table, Plan(0), outcome), "By hand.")

    assert "| a | 0 | 12 | 50.00 | 0.00 | 0.00 | 0.00 | 50.00 | 50.00 |" in text
    assert "| b\\|c | 0 | 12 | 20.00 |" in text
    assert "| 95 % interval | - | - | 20.00 to 50.00 |" in text
    assert "| 95 % | 50.00 | 0.00 to 100.00 | 80.00 |" in text
    assert "The reference is the roofline estimate." in text
