"""From an order to a page: what is run, what is kept, and what is written."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ctm_research.nas.baselines.constant import Constant, TrainedConstant
from ctm_research.nas.benchmark import suites
from ctm_research.nas.benchmark.document import Table, document
from ctm_research.nas.benchmark.page import page
from ctm_research.nas.benchmark.plots import write_plots
from ctm_research.nas.benchmark.published import OURS, TABLE1, TABLE3
from ctm_research.nas.benchmark.registry import METHODS
from ctm_research.nas.benchmark.runner import Runner
from ctm_research.nas.benchmark.splits import split
from ctm_research.nas.benchmark.suites import SUITES, methods_of
from ctm_research.nas.benchmark.work import WorkFolder
from ctm_research.nas.spaces.view import TrainView
from predictor.core.errors import CancelledError, HostError, InputError
from predictor.core.progress import CancelToken, Progress
from research.tests.nas.benchmark.orders import (
    ENVIRONMENT,
    METHODS_RUN,
    ORDER,
    PLAN,
    document_of,
    runner,
    splits,
)
from research.tests.nas.small_space import small_space
from research.tests.nas.splits import PARTITION

RESULTS = Path(__file__).resolve().parents[3] / "docs" / "results"


def test_a_document_has_a_cell_for_each_method_device_and_budget(tmp_path: Path) -> None:
    figures = document_of(tmp_path, "table1")

    places = {(c["method"], c["device"], c["k"]) for c in figures["cells"]}
    assert places == {
        (method, device, k) for method in METHODS_RUN for device in PARTITION.test for k in (3, 5)
    }
    assert {c["repetitions"] for c in figures["cells"]} == {2 * 3}
    assert len(figures["comparisons"]) == 2 * 2 * 2  # two comparators, two devices, two budgets
    assert {c["method"] for c in figures["comparisons"]} == {"constant", "flops"}
    assert figures["reference"] == "hand-bayes"


def test_figures_are_means_and_spreads_of_the_outcomes(tmp_path: Path) -> None:
    done = runner(tmp_path).run()
    figures = document(SUITES["table1"], ORDER, done)
    chosen = [
        outcome.scores.rae
        for each in done
        if each.unit.method == "flops"
        for outcome in each.outcomes
        if (outcome.trial.device, outcome.trial.k) == ("pixel3", 5)
    ]
    other = [c for c in figures["cells"] if (c["method"], c["k"]) == ("flops", 5)]
    mean = next(m for m in figures["means"] if (m["method"], m["k"]) == ("flops", 5))

    cell = next(c for c in other if c["device"] == "pixel3")
    assert cell["rae"] == pytest.approx(np.mean(chosen))
    assert cell["rae_std"] == pytest.approx(np.std(chosen, ddof=1))
    assert mean["rae"] == pytest.approx(np.mean([c["rae"] for c in other]))
    assert cell["coverage"] is None


def test_a_second_run_reads_what_is_finished(tmp_path: Path) -> None:
    first = runner(tmp_path).run()
    stamps = {file: file.stat().st_mtime_ns for file in tmp_path.iterdir()}

    second = runner(tmp_path).run()

    assert {file: file.stat().st_mtime_ns for file in tmp_path.iterdir()} == stamps
    for ours, theirs in zip(first, second, strict=True):
        assert ours.unit == theirs.unit
        assert [o.scores for o in ours.outcomes] == [o.scores for o in theirs.outcomes]


def test_a_run_that_was_stopped_goes_on(tmp_path: Path) -> None:
    cancel = CancelToken()

    def stop_in_the_third_unit(progress: Progress) -> None:
        if progress.done == 2:
            cancel.cancel()

    with pytest.raises(CancelledError):
        runner(tmp_path, progress=stop_in_the_third_unit, cancel=cancel).run()
    told: list[Progress] = []
    resumed = runner(tmp_path, progress=told.append).run()

    assert told[0].done == 2
    assert told[-1] == Progress(6, 6, "done")
    whole = runner(tmp_path / "whole").run()
    assert [o.scores for each in resumed for o in each.outcomes] == [
        o.scores for each in whole for o in each.outcomes
    ]


def test_a_changed_plan_or_changed_data_finds_nothing_finished(tmp_path: Path) -> None:
    work, split_space = WorkFolder(tmp_path, PLAN), splits()["N@9"]
    unit = runner(tmp_path).run()[0].unit
    spoiled = small_space(noise=0.02).latency_ms.copy()
    spoiled[0, 0] += 1
    changed = split(replace(small_space(noise=0.02), latency_ms=spoiled), PARTITION, tests=20)

    assert work.finished(split_space, unit) is not None
    assert work.finished(changed, unit) is None
    assert WorkFolder(tmp_path, replace(PLAN, draws=2)).finished(split_space, unit) is None
    assert WorkFolder(tmp_path, replace(PLAN, seed=1)).finished(split_space, unit) is None


def test_a_work_file_that_is_cut_off_is_done_again(tmp_path: Path) -> None:
    runner(tmp_path).run()
    for file in tmp_path.iterdir():
        file.write_text(file.read_text()[:40])

    assert len(runner(tmp_path).run()) == 6


def test_a_work_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")

    with pytest.raises(HostError, match="it cannot be written"):
        WorkFolder(tmp_path / "file", PLAN)


def test_a_chooser_that_cannot_choose_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="method constant: it chooses no probes"):
        runner(tmp_path, replace(ORDER, chooser="constant")).run()


def test_own_probes_are_those_of_the_method_or_of_the_standard_one(tmp_path: Path) -> None:
    runner(tmp_path, replace(ORDER, own_probes=True, methods=("constant", "hand-bayes"))).run()

    names = {file.name.rpartition("-")[0] for file in tmp_path.iterdir()}
    assert {name for name in names if "probes" in name} == {
        f"N@9-{training}-probes-of-{method}"
        for training in (0, 1)
        for method in ("constant", "hand-bayes")
    }


def test_the_page_names_command_seed_commit_and_date(tmp_path: Path) -> None:
    text = page(document_of(tmp_path, "table1"), {})

    head = text.split("\n\n")[1]
    assert all(word in head for word in ("`ctm evaluate nas`", "seed 0", "abc1234", "2026-01-02"))
    assert "hand features, Bayes" in text
    assert "chosen by `hand-bayes`" in text


def test_tables_have_as_many_columns_in_each_line(tmp_path: Path) -> None:
    for suite in SUITES:
        text = page(document_of(tmp_path, suite), {})
        for block in text.split("\n\n"):
            if block.startswith("|"):
                assert len({line.count("|") for line in block.splitlines()}) == 1, block


def test_times_are_of_the_processor_and_not_of_the_wall(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits = iter([0.5, 0.0])

    def slow_to_train(self: Constant, view: TrainView, seed: int) -> TrainedConstant:
        del self, view, seed
        time.sleep(next(waits))
        return TrainedConstant()

    monkeypatch.setattr(Constant, "train", slow_to_train)

    seconds = {s["method"]: s for s in document_of(tmp_path, "systems")["seconds"]}

    assert seconds["constant"]["training"] < 0.2
    assert seconds["hand-bayes"]["training"] > 0


def test_the_page_says_the_time_of_a_prediction(tmp_path: Path) -> None:
    figures = document_of(tmp_path, "systems")
    trial = next(s["trial"] for s in figures["seconds"] if s["method"] == "flops")

    with_clock, without = page(figures, {}), page({**figures, "clock": None}, {})

    line = next(line for line in with_clock.splitlines() if line.startswith("| #FLOPs | 0."))
    assert line.endswith(f"| {trial:.4f} | {1000 * trial / 500:.4f} |")
    assert "processor time" in with_clock
    assert "Seconds are those that passed" in without


def test_the_paper_stands_beside_our_figures(tmp_path: Path) -> None:
    as_f1 = replace(PARTITION, name="F@1", test=("titanxp_1",))
    space = small_space()
    columns = tuple(
        replace(c, name="titanxp_1") if c.name == "pixel3" else c for c in space.columns
    )
    split_space = split(replace(space, columns=columns), as_f1, tests=20)
    order = replace(ORDER, partitions=("F@1",))
    done = Runner({"F@1": split_space}, order, WorkFolder(tmp_path, PLAN)).run()

    text = page({**ENVIRONMENT, **document(SUITES["table1"], order, done)}, {})

    line = next(line for line in text.splitlines() if line.startswith("| F@1 | titanxp_1 | 18.37"))
    assert line == "| F@1 | titanxp_1 | 18.37 | 13.43 | 14.66 | 9.72 | 8.66 | 3.08 |"
    ours = next(line for line in text.splitlines() if line.startswith("| F@1 | titanxp_1 |"))
    constant, flops, hand = ours.split(" | ")[2:]
    assert flops.endswith(" (18.37)")
    assert not {"(", ")"} & set(constant + hand)


def test_plots_are_the_same_bytes_again(tmp_path: Path) -> None:
    figures = document_of(tmp_path / "work", "figure3")

    names = write_plots(figures, tmp_path, "first")
    again = write_plots(figures, tmp_path, "second")

    ((shows, name),) = names.items()
    assert shows == "Share of predictions within 5, 10 and 15 %"
    content = (tmp_path / name).read_bytes()
    assert content == (tmp_path / again[shows]).read_bytes()
    assert b"#FLOPs" in content
    assert f"![{shows}]({name})" in page(figures, names)


def test_errors_of_systems_are_drawn_by_number_of_samples(tmp_path: Path) -> None:
    figures = document_of(tmp_path / "work", "systems")

    names = write_plots(figures, tmp_path, "nas-systems")

    assert names == {"Median error by number of samples": "nas-systems-errors.svg"}
    content = (tmp_path / "nas-systems-errors.svg").read_text()
    assert all(method["label"] in content for method in figures["methods"])


def test_a_suite_without_plots_writes_none(tmp_path: Path) -> None:
    assert write_plots(document_of(tmp_path / "work", "table1"), tmp_path, "x") == {}


def test_a_plot_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "missing").touch()  # a file in the way of a folder
    with pytest.raises(HostError, match="it cannot be written"):
        write_plots(document_of(tmp_path, "figure3"), tmp_path / "missing", "x")


def test_the_published_tables_are_whole() -> None:
    assert {len(line) for line in TABLE1.values()} == {17}
    # F@1 21.43, F@2 48.28, F@3 20.65, F@4 27.35: summed by hand.
    assert sum(TABLE1[OURS].values()) == pytest.approx(117.71)
    assert TABLE3["Ours"] == tuple(
        TABLE1[OURS]["F@1", device]
        for device in ("1080ti_32", "2080ti_32", "titan_rtx_1", "titanxp_1")
    )


def test_pages_side_by_side_have_the_same_probes() -> None:
    """Other probes would give our method other figures; another machine moves them by less."""

    def ours(name: str) -> dict[int, float]:
        written = json.loads((RESULTS / f"nas-{name}.json").read_text(encoding="utf-8"))
        return {mean["k"]: mean["rae"] for mean in written["means"] if mean["method"] == OURS}

    assert len(ours("table1")) == 3
    assert ours("systems") == pytest.approx(ours("table1"), rel=0.01)


@pytest.mark.parametrize("path", sorted(RESULTS.glob("nas-*.json")), ids=lambda path: path.stem)
def test_a_page_says_that_its_methods_are_not_the_engine(path: Path) -> None:
    text = path.with_suffix(".md").read_text(encoding="utf-8")
    written = json.loads(path.read_text(encoding="utf-8"))
    assert "They are no engine" in text
    is_there = OURS in {method["name"] for method in written["methods"]}
    assert ("**Kernel posterior** (`closertome` in the options)" in text) == is_there
    figures = [line for line in text.splitlines() if line.startswith("| CloserToMe |")]
    assert not figures, "a line of a method bears the name of the product"
    for method in written["methods"]:
        assert method["label"] == METHODS[method["name"]].label


def test_suites_have_the_methods_that_name_them() -> None:
    assert methods_of(SUITES["table1"], []) == tuple(
        name for name, entry in METHODS.items() if "table1" in entry.suites
    )
    assert methods_of(SUITES["table1"], ["flat", "lad"]) == ("flat", "lad")
    with pytest.raises(InputError, match="method oracle"):
        methods_of(SUITES["table1"], ["oracle"])
    with pytest.raises(InputError, match="one is named twice"):
        methods_of(SUITES["table1"], ["flat", "flat"])


def test_selectors_are_compared_with_the_information_optimal_one(tmp_path: Path) -> None:
    methods = methods_of(SUITES["selectors"], [])
    assert methods == tuple(f"hand-bayes-{name}" for name in ("random", "dbsel", "dopt", "iopt"))
    order = replace(ORDER, methods=methods, own_probes=True)

    figures = document_of(tmp_path, "selectors", order)

    assert figures["reference"] == "hand-bayes-iopt"
    probes = {m: WorkFolder(tmp_path, PLAN).probes(splits()["N@9"], 0, m) for m in methods}
    kept = [tuple(each.values()) for each in probes.values() if each is not None]
    assert len(set(kept)) == 4  # each has its own


def test_everyone_gets_our_probes_once_there_is_our_method(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suites, "METHODS", {OURS: METHODS["constant"]})
    assert suites.chooser_of(own_probes=False) == OURS
    assert suites.chooser_of(own_probes=True) == "hand-bayes"

    monkeypatch.setattr(suites, "METHODS", {})
    assert suites.chooser_of(own_probes=False) == "hand-bayes"


def test_a_method_that_is_trained_once_is_compared_where_both_have_repetitions(
    tmp_path: Path,
) -> None:
    once = replace(ORDER, once=frozenset({"flops"}))

    figures = document_of(tmp_path, "table1", once)
    whole = document_of(tmp_path, "table1")

    repetitions = {c["method"]: c["repetitions"] for c in figures["cells"]}
    assert repetitions == {"constant": 6, "flops": 3, "hand-bayes": 6}
    of_first = [c for c in figures["comparisons"] if c["method"] == "flops"]
    # The reference's first training is the one that the method has too.
    table = Table.of(runner(tmp_path, ORDER).run())
    for c in of_first:
        cell = (c["partition"], c["device"], c["k"])
        ours, theirs = (table.values((name, *cell), "rae") for name in ("hand-bayes", "flops"))
        assert c["difference"] == pytest.approx(np.mean(np.subtract(ours[:3], theirs[:3])))
    text = page(figures, {})
    assert "2 trainings (one of #FLOPs:" in text
    assert "mean over 2 trainings and 3 draws" in page(whole, {})
