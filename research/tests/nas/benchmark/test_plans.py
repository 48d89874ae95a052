"""Methods whose probes are a plan: the same in every draw, counted and checked like all others."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from ctm_research.nas.baselines.constant import TrainedConstant
from ctm_research.nas.benchmark import registry
from ctm_research.nas.benchmark.page import page
from ctm_research.nas.benchmark.protocol import Plan, choose_probes, run_trial
from ctm_research.nas.benchmark.published import ABLATION_METHODS, TABLE3_DEVICES
from ctm_research.nas.benchmark.registry import METHODS, Entry, method_named
from ctm_research.nas.benchmark.splits import split
from ctm_research.nas.method import Adapted, Plans, Probes
from ctm_research.nas.spaces.space import DeviceFacts
from ctm_research.nas.spaces.view import TrainView
from predictor.core.errors import InputError
from research.tests.nas.benchmark.orders import ORDER, PLAN, document_of, runner
from research.tests.nas.small_space import small_space
from research.tests.nas.splits import PARTITION


@dataclass(frozen=True, slots=True, eq=False)
class Planned(TrainedConstant):
    """Runs the last train architectures."""

    rows: np.ndarray

    def plan(self, k: int) -> np.ndarray:
        return self.rows[-k:]


class PlannedMethod:
    """A method with a plan."""

    name = "planned"

    def train(self, view: TrainView, seed: int) -> Planned:
        del seed
        return Planned(view.rows)


def test_a_plan_is_the_same_on_every_device_and_in_every_draw() -> None:
    split_space = split(small_space(), PARTITION, tests=20)
    chooser = Planned(split_space.view.rows)
    assert isinstance(chooser, Plans)
    chosen = list(choose_probes(split_space, PLAN, 0, chooser))
    assert len(chosen) == len(PARTITION.test) * len(PLAN.ks) * PLAN.draws
    for trial, rows in chosen:
        assert rows == tuple(split_space.view.rows[-trial.k :].tolist())


def test_a_plan_of_another_size_or_of_test_architectures_is_refused() -> None:
    split_space = split(small_space(), PARTITION, tests=20)
    with pytest.raises(ValueError, match="2 distinct probes were chosen, not 3"):
        list(choose_probes(split_space, Plan(1, 1, (3,)), 0, Planned(split_space.view.rows[:2])))
    peeking = Planned(split_space.test_rows)
    trial, rows = next(choose_probes(split_space, Plan(1, 1, (3,)), 0, peeking))
    with pytest.raises(InputError, match="it is a test architecture"):
        run_trial(split_space, peeking, trial, rows, 0)


def test_a_plan_is_adapted_once_for_all_draws(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    adapted: list[int] = []
    alone = Planned.adapt

    def counted(self: Planned, device: DeviceFacts, probes: Probes, seed: int) -> Adapted:
        adapted.append(len(probes))
        return alone(self, device, probes, seed)

    monkeypatch.setattr(Planned, "adapt", counted)
    entry = Entry(f"{__name__}:PlannedMethod", "a plan", own_probes=True)
    for module in ("registry", "runner", "document", "page"):
        monkeypatch.setattr(
            f"ctm_research.nas.benchmark.{module}.METHODS",
            {**registry.METHODS, "planned": entry},
        )
    order = type(ORDER)(ORDER.partitions, ("planned",), ORDER.chooser, False, PLAN)

    done = runner(tmp_path, order).run()

    assert len(adapted) == PLAN.trainings * len(PARTITION.test) * len(PLAN.ks)
    assert len(done[0].outcomes) == len(PARTITION.test) * len(PLAN.ks) * PLAN.draws
    assert {outcome.trial.draw for outcome in done[0].outcomes} == set(range(PLAN.draws))


def test_a_method_that_needs_its_own_probes_has_them_and_the_page_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = Entry(f"{__name__}:PlannedMethod", "a plan", own_probes=True)
    for module in ("registry", "runner", "document", "page"):
        monkeypatch.setattr(
            f"ctm_research.nas.benchmark.{module}.METHODS",
            {**registry.METHODS, "planned": entry},
        )
    order = type(ORDER)(ORDER.partitions, ("constant", "planned"), ORDER.chooser, False, PLAN)

    figures = document_of(tmp_path, "table1", order)

    kept = {path.name for path in tmp_path.glob("*probes-of*")}
    assert sum("probes-of-planned" in name for name in kept) == PLAN.trainings
    assert sum("probes-of-hand-bayes" in name for name in kept) == PLAN.trainings
    assert "a plan: its probes are its own reference networks" in page(figures, {})
    # The plan does not depend on the draw, and a constant on nothing else: no spread over draws.
    cells = [c for c in figures["cells"] if c["method"] == "planned"]
    assert all(c["rae_std"] == pytest.approx(0, abs=1e-9) for c in cells)


def test_the_ablation_has_ten_methods_with_probes_of_their_own() -> None:
    names = [name for pair in ABLATION_METHODS.values() for name in pair]
    assert names == [name for name, entry in METHODS.items() if "table3" in entry.suites]
    for name in names:
        assert METHODS[name].own_probes
        assert method_named(name).name == name
        assert getattr(method_named(name), "posterior") == name.endswith("-posterior")  # noqa: B009
    assert method_named("closertome-paper").name == "closertome-paper"


@pytest.mark.parametrize(
    ("baseline", "verdict"), [(9.5, "the paper's order"), (1.0, "not the paper's order")]
)
def test_the_page_of_the_ablation_says_whether_the_order_is_the_papers(
    tmp_path: Path, baseline: float, verdict: str
) -> None:
    figures = document_of(tmp_path, "table3")
    ours = {"Baseline": baseline, "Variant A": 8.0, "Variant B": 7.0, "Variant C": 8.5, "Ours": 4.0}
    usual = figures["cells"][0]
    figures["methods"] = [
        {"name": ABLATION_METHODS[v][0], "label": v, "own_probes": True, "trainings": 2}
        for v in ours
    ]
    figures["cells"] = [
        usual | {"method": ABLATION_METHODS[variant][0], "device": device, "k": k, "rae": rae}
        for variant, rae in ours.items()
        for device in TABLE3_DEVICES
        for k in PLAN.ks
    ]

    written = page(figures, {})

    # Means of the paper's rows: 9.31, 7.94, 6.65, 8.41 and 4.46, summed by hand.
    assert "| Baseline | 9.31 |" in written
    assert "| Ours | 4.46 | 4.00 | - |" in written
    assert "the paper has Ours, Variant B, Variant A, Variant C, Baseline." in written
    lines = [line for line in written.splitlines() if "Ours, without posterior:" in line]
    assert len(lines) == 1
    assert lines[0].rstrip(".").endswith(f"; {verdict}")
