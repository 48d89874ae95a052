"""The estimate is trained with its track record: on small corpora, and by ``ctm train``."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from ctm_research.evaluation.judge import training
from ctm_research.evaluation.judge.estimate import SCALES, EstimateEngine
from ctm_research.evaluation.judge.judged import Judged
from ctm_research.evaluation.judge.training import ENGINE_NAME, train_estimate
from ctm_research.training.files import write_estimate
from predictor.calibration.evidence import Evidence
from predictor.cli.program import main
from predictor.core.errors import CancelledError, InputError
from predictor.core.metrics import Family
from predictor.core.progress import CancelToken, Progress
from predictor.core.records import Configuration, Target
from predictor.core.resources import resources_dir
from predictor.cost.physics import TERMS, Work, rates_of, term_times
from predictor.engine.checkpoint import ESTIMATE, checksum, read_checkpoint
from predictor.engine.closertome import CloserToMeEngine
from predictor.engine.estimate import Estimate
from predictor.engine.estimate_file import read_estimate
from predictor.engine.targets.prepared import PREPARED, read_prepared
from predictor.engine.track import CASES, MEASURED, PROBED
from predictor.services.devices.catalogue import load_catalogue
from predictor.services.prediction.targets import resolve_targets
from research.tests.corpus.small_corpus import write_data
from research.tests.evaluation.judge.small_training import GRAPHS, corpus_of, target
from tests.support.graphs import Op, make_graph


def estimated(estimate: Estimate, asked: Sequence[Target]) -> np.ndarray:
    known = estimate.of(asked)
    return np.array([estimate.predict(graph, known).latency_ms for graph in GRAPHS])


# --- Training ---


def test_what_made_the_latencies_comes_back_on_a_device_that_nobody_measured() -> None:
    estimate = train_estimate(corpus_of(10))
    new = [target(10, 0), target(3, 5)]

    rates = rates_of(new)
    true = 2 * np.array([term_times(Work.of(graph), rates).sum(axis=(0, 2)) for graph in GRAPHS])
    assert estimated(estimate, new) == pytest.approx(true, rel=0.1)
    assert [words.partition(";")[0] for words in estimate.of(new).evidence] == [
        "not measured here: nothing with its design was measured",
        "from s03 0, which has the same chip or cores (pytorch fp32",
    ]


def test_each_measured_target_is_evidence_with_its_networks() -> None:
    corpus = corpus_of(4, copies=2)

    evidence = train_estimate(corpus).evidence

    assert evidence.keys.device.tolist() == [each.device.id for each in corpus.targets]
    assert evidence.keys.silicon.tolist() == [each.device.chip for each in corpus.targets]
    assert evidence.networks.tolist() == [3] * 8
    assert evidence.scales == SCALES


TODAY = SimpleNamespace(threads_stated=True, threads_likely=0, early_starts=False)
EARLY = SimpleNamespace(threads_stated=True, threads_likely=0, early_starts=True)


def processors(runtime: str, slow: Sequence[float]) -> Judged:
    """Return measurements of processors, of which no source says how many threads ran."""
    corpus = corpus_of(len(slow), slow=slow)
    facts = {"core_count": 8.0, "clock_mhz": 2000.0, "fp32_au_per_core": 16.0}
    targets = [
        Target(
            replace(each.device, family=Family.CPU, metrics={**facts, "dram_bw_gbps": 40.0}),
            Configuration(runtime),
        )
        for each in corpus.targets
    ]
    listed = SimpleNamespace(threads_stated=False, threads_likely=0, early_starts=False)
    untold = cast("Any", (listed,) * len(targets))
    return replace(corpus, targets=targets, corpus=replace(corpus.corpus, targets=untold))


def evidence_of(corpus: Judged) -> Evidence:
    return EstimateEngine(corpus).fit(corpus, np.arange(len(corpus.target))).evidence


@pytest.mark.parametrize(
    ("runtime", "threads"),
    [("onnxruntime", {"all"}), ("openvino", {"all"}), ("tflite", {"1"}), ("ncnn", set())],
)
def test_a_runtime_with_a_number_of_its_own_need_not_state_its_threads(
    runtime: str, threads: set[str]
) -> None:
    even = [1 / (1.5**number) for number in range(4)]  # the GPUs behind the numbers are unlike

    evidence = evidence_of(processors(runtime, even))

    assert len(evidence.networks) == (4 if threads else 0)
    assert set(evidence.keys.precision.tolist()) <= {"fp32"}
    assert set(evidence.keys.threads.tolist()) == threads


def test_what_is_far_too_slow_for_all_cores_is_no_evidence() -> None:
    slow = [1.0, 1 / 1.5, 1 / 1.5**2, 100 / 1.5**3]

    evidence = evidence_of(processors("onnxruntime", slow))

    assert evidence.keys.device.tolist() == ["s00 0", "s01 0", "s02 0"]


def test_a_silicon_that_is_slower_than_its_class_says_so_to_its_devices() -> None:
    slow = [1.0] * 9 + [2.0]
    estimate = train_estimate(corpus_of(10, slow=slow))

    usual, slower = estimated(estimate, [target(0, 9)]), estimated(estimate, [target(9, 9)])

    rates = rates_of([target(0, 9), target(9, 9)])
    plain = np.array([term_times(Work.of(graph), rates).sum(axis=(0, 2)) for graph in GRAPHS])
    over_usual, over_slower = usual[:, 0] / plain[:, 0], slower[:, 0] / plain[:, 1]
    ratio = over_slower / over_usual
    assert ((ratio > 1.2) & (ratio < 2.0)).all()


def test_a_wild_deviation_is_cut_off() -> None:
    estimate = train_estimate(corpus_of(10, slow=[1.0] * 9 + [1e6]))

    assert estimate.evidence.level.max() == pytest.approx(2 * SCALES.level)


def test_the_record_of_a_class_counts_its_silicon_and_devices() -> None:
    tracks = train_estimate(corpus_of(10, copies=2)).tracks

    for setting in ("unseen", "near"):
        assert set(tracks[setting]) == {
            "all",
            "nvidia",
            "pytorch",
            "nvidia x pytorch",
            "nvidia x pytorch x fp32",
        }
        for track in tracks[setting].values():
            assert (track.silicon, track.devices) == (10, 20)
            assert 0 <= track.error < 0.1  # the truth is in the form of the estimate
            assert 0.3 <= track.wide80 <= track.wide95


def test_few_silicon_has_no_record_narrower_than_that_of_all() -> None:
    tracks = train_estimate(corpus_of(4)).tracks["unseen"]

    groups = {"all", "nvidia", "pytorch", "nvidia x pytorch", "nvidia x pytorch x fp32"}
    assert set(tracks) == groups
    assert all(track.wide80 >= tracks["all"].wide80 for track in tracks.values())
    assert all(track.silicon == 4 for track in tracks.values())


@pytest.mark.parametrize(("silicon", "copies"), [(2, 1), (2, 2), (3, 2), (4, 1)])
def test_an_estimate_of_few_devices_predicts_and_can_be_read_again(
    tmp_path: Path, silicon: int, copies: int
) -> None:
    estimate = train_estimate(corpus_of(silicon, copies))
    write_estimate(tmp_path / "e.npz", estimate)

    again = read_estimate(tmp_path / "e.npz")

    asked = [target(0, 0), target(0, 7), target(9, 0)]  # measured, of its chip, and of none
    assert estimated(again, asked) == pytest.approx(estimated(estimate, asked), rel=1e-5)
    known = again.of(asked)
    assert np.isfinite(known.wide).all()
    for graph in GRAPHS:
        assert (again.predict(graph, known).deviation > 0).all()


def test_one_silicon_alone_is_refused() -> None:
    with pytest.raises(InputError) as refused:
        train_estimate(corpus_of(1, copies=2))

    assert str(refused.value) == (
        "measurements: all are of one kind of silicon, so none can be left out; "
        "give a data folder with more."
    )


NETWORKS = (
    *GRAPHS,
    make_graph([Op(macs=10**8, read=10**6, weights=10**5, window=(3, 3))] * 4),
    make_graph([Op(macs=2 * 10**9, read=10**7, weights=10**5, window=(1, 1))] * 2),
    make_graph([Op(read=10**7, written=10**7)] * 3),
)


def test_the_engine_of_the_judge_says_what_ships() -> None:
    corpus = corpus_of(6, 2, [1, 1.2, 0.9, 1, 1.1, 1], NETWORKS)
    rows = np.arange(len(corpus.target))
    fitted = EstimateEngine(corpus).fit(corpus, rows)

    predicted = fitted.predict(rows, {})

    ours = train_estimate(corpus)
    known = ours.of(corpus.targets)
    shipped = [ours.predict(graph, known) for graph in NETWORKS]
    latency_ms, deviation = (
        np.array([getattr(each, name) for each in shipped]) for name in ("latency_ms", "deviation")
    )
    assert np.abs(ours.operators.weights["terms"]).max() > 0  # it was trained
    place = corpus.graph, corpus.target
    assert np.exp(predicted.log_ms) == pytest.approx(latency_ms[place], rel=1e-4)
    assert predicted.deviation == pytest.approx(deviation[place], rel=1e-4)


def test_a_plain_estimate_has_no_factors_of_operators() -> None:
    corpus = corpus_of(6, networks=NETWORKS)
    rows = np.arange(len(corpus.target))

    plain = EstimateEngine(corpus, "plain", learned=()).fit(corpus, rows)
    factored = EstimateEngine(corpus).fit(corpus, rows)

    assert plain.operators is None
    assert factored.operators is not None
    assert factored.operators.fits()
    # The truth is in the form of the plain estimate.
    apart = np.abs(plain.predict(rows, {}).log_ms - corpus.log_latency)
    assert np.median(apart) < 0.05


def test_no_measurement_of_left_out_silicon_is_read() -> None:
    plain = corpus_of(6)
    left_out = plain.silicon_of(np.arange(len(plain.target))) == 5
    other = replace(plain, log_latency=plain.log_latency + 3.0 * left_out)

    one, two = (
        EstimateEngine(each)
        .fit(each, np.flatnonzero(~left_out))
        .predict(np.flatnonzero(left_out), {})
        .log_ms
        for each in (plain, other)
    )

    assert np.array_equal(one, two)


def test_measurements_of_the_asked_target_move_it_to_them() -> None:
    corpus = corpus_of(6, slow=[1, 1, 1, 1, 1, 1.8])
    rows = np.arange(len(corpus.target))
    unseen = rows[corpus.silicon_of(rows) == 5]
    fitted = EstimateEngine(corpus).fit(corpus, rows[corpus.silicon_of(rows) != 5])
    number = int(corpus.target[unseen[0]])

    before = fitted.predict(unseen, {})
    after = fitted.predict(unseen, {number: unseen[:2]})

    apart = [np.abs(each.log_ms - corpus.log_latency[unseen]) for each in (before, after)]
    assert (apart[1] < apart[0]).all()
    assert (after.deviation < before.deviation).all()


def test_cases_with_measured_networks_have_records_of_their_own() -> None:
    """Of 15 networks 1, 3, 6 or 12 are read, and the rest is asked."""
    networks = [
        make_graph([Op(macs=10**8 * (1 + n), read=10**6 * (1 + n % 4), written=10**6)])
        for n in range(15)
    ]
    corpus = corpus_of(9, slow=np.linspace(1, 3, 9).tolist(), networks=networks)
    estimate = train_estimate(corpus)

    assert set(estimate.tracks) == set(CASES)
    records = {
        case: tracks["nvidia x pytorch"]
        for case, tracks in estimate.tracks.items()
        if case != "near"
    }
    assert all(record.silicon == 9 for record in records.values())
    for cases in (MEASURED, PROBED):
        spreads = [records[case].spread for case in cases]
        assert max(spreads) < 0.8 * records["unseen"].spread
    # A factor on the deviation that the target has in what ships.
    shipped = estimate.predict(networks[0], estimate.of(corpus.targets[:1]))
    assert records["measured 12"].spread == pytest.approx(shipped.deviation[0], rel=0.1)
    assert records["probed 12"].error < 0.5 * records["unseen"].error
    for record in records.values():
        assert 0 < record.spread < 1.1


def test_where_nothing_can_be_measured_and_asked_the_record_is_that_of_unseen_silicon() -> None:
    tracks = train_estimate(corpus_of(4)).tracks  # three networks: none is left after three

    every, unseen = tracks["measured 3"]["all"], tracks["unseen"]["all"]
    assert set(tracks["measured 3"]) == {"all"}
    assert (every.silicon, every.wide80, every.wide95) == (4, unseen.wide80, unseen.wide95)
    assert every.covered is None  # nothing was asked


def test_progress_counts_the_folds_of_all_settings() -> None:
    seen: list[Progress] = []

    train_estimate(corpus_of(3), progress=seen.append)

    assert [(each.done, each.total) for each in seen] == [(number, 20) for number in range(20)]


def test_a_stop_is_a_stop() -> None:
    cancel = CancelToken()

    def watch(progress: Progress) -> None:
        if progress.done == 3:
            cancel.cancel()

    with pytest.raises(CancelledError):
        train_estimate(corpus_of(3), progress=watch, cancel=cancel)


def test_a_stopped_training_goes_on_and_ends_as_one_that_was_not(tmp_path: Path) -> None:
    corpus, cancel = corpus_of(3), CancelToken()

    def watch(progress: Progress) -> None:
        if progress.done == 11:  # it ends the fold that it began
            cancel.cancel()

    with pytest.raises(CancelledError):
        train_estimate(corpus, kept=tmp_path / "folds", progress=watch, cancel=cancel)
    kept = sorted((tmp_path / "folds").iterdir())
    assert len(kept) == 12
    kept[3].write_bytes(kept[3].read_bytes()[:100])  # killed while it was written
    before = {each: each.stat().st_mtime_ns for each in kept}

    again = train_estimate(corpus, kept=tmp_path / "folds")

    assert len(list((tmp_path / "folds").iterdir())) == 20
    assert [each for each in kept if each.stat().st_mtime_ns != before[each]] == [kept[3]]
    assert again.tracks == train_estimate(corpus).tracks


def test_folds_of_other_measurements_are_not_taken_up(tmp_path: Path) -> None:
    train_estimate(corpus_of(3), kept=tmp_path)
    train_estimate(corpus_of(3, slow=[1.0, 1.0, 2.0]), kept=tmp_path)
    train_estimate(corpus_of(3), seed=1, kept=tmp_path)

    assert len(list(tmp_path.iterdir())) == 60


# --- On the command line ---


@pytest.fixture
def checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of the checkpoint that ships, and keep the corpus out of the user's cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    source = resources_dir() / "checkpoints" / "closertome"
    return Path(shutil.copytree(source, tmp_path / "checkpoint"))


def train(data: Path, out: Path) -> int:
    return main(["train", "--data", str(data), "--out", str(out), "--estimate-only"])


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    write_data(folder)
    return folder


def test_train_writes_an_estimate_into_the_checkpoint(
    data: Path, checkpoint: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {path.name: path.read_bytes() for path in checkpoint.iterdir()}

    assert train(data, checkpoint) == 0

    assert f"Written: {checkpoint}" in capsys.readouterr().err
    changed = {p.name for p in checkpoint.iterdir() if p.read_bytes() != before[p.name]}
    assert changed == {ESTIMATE, PREPARED, "engine.json"}
    targets = resolve_targets(load_catalogue().devices)
    assert read_prepared(checkpoint, checksum(checkpoint / ESTIMATE), targets) is not None
    read = read_checkpoint(checkpoint)
    assert read.engine.name == ENGINE_NAME
    assert read.estimate is not None
    assert "rpi5" in read.estimate.evidence.keys.device.tolist()
    table = CloserToMeEngine(checkpoint).predict([GRAPHS[0]], [target(0, 0)], {})
    assert np.isfinite(table.latency_ms).all()
    assert table.engine == ENGINE_NAME


def test_the_targets_alone_are_written_anew(
    checkpoint: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As after a change of the catalogue, without any data."""
    before = {path.name: path.read_bytes() for path in checkpoint.iterdir()}
    (checkpoint / PREPARED).unlink()

    assert main(["train", "--targets-only", "--out", str(checkpoint)]) == 0

    assert f"Written: {checkpoint / PREPARED}" in capsys.readouterr().err
    assert {path.name for path in checkpoint.iterdir()} == before.keys()
    targets = resolve_targets(load_catalogue().devices)
    assert read_prepared(checkpoint, checksum(checkpoint / ESTIMATE), targets) is not None
    assert all(
        (checkpoint / name).read_bytes() == content
        for name, content in before.items()
        if name != PREPARED
    )


def test_targets_need_an_estimate_and_training_needs_data(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["train", "--targets-only", "--out", str(tmp_path)]) == 2
    assert "no whole estimate" in capsys.readouterr().err
    assert main(["train", "--out", str(tmp_path)]) == 2
    assert "--data" in capsys.readouterr().err


def test_a_kill_while_it_is_written_leaves_the_old_checkpoint(
    data: Path, checkpoint: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object) -> None:
        raise SystemExit(9)

    before = {path.name: path.read_bytes() for path in checkpoint.iterdir()}
    for name in ("write_estimate", "write_card"):
        with monkeypatch.context() as patched:
            patched.setattr(training, name, killed)
            with pytest.raises(SystemExit):
                train(data, checkpoint)
        shutil.rmtree(checkpoint / "estimate.folds")  # for a run that goes on
        assert {path.name: path.read_bytes() for path in checkpoint.iterdir()} == before
    assert read_checkpoint(checkpoint).estimate is not None


def test_the_same_data_and_seed_make_the_same_estimate(data: Path, checkpoint: Path) -> None:
    assert train(data, checkpoint) == 0
    first = (checkpoint / "engine.json").read_bytes()

    assert train(data, checkpoint) == 0

    assert (checkpoint / "engine.json").read_bytes() == first  # it holds the checksums


@pytest.mark.parametrize("name", ["empty", "nowhere"])
def test_a_folder_without_a_source_is_refused(
    tmp_path: Path, checkpoint: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    (tmp_path / "empty").mkdir()

    assert train(tmp_path / name, checkpoint) == 2

    (sentence,) = [line for line in capsys.readouterr().err.splitlines() if "ctm:" in line]
    assert f"{tmp_path / name}: it holds no folder of a source; name a folder with " in sentence


def test_a_folder_without_a_checkpoint_is_refused(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train(data, tmp_path / "nowhere") == 2

    (sentence,) = capsys.readouterr().err.splitlines()
    card = tmp_path / "nowhere" / "engine.json"
    assert sentence.startswith(f"ctm: {card}: there is no such file; ")
    assert not (tmp_path / "nowhere").exists()


def test_an_interrupted_training_leaves_the_checkpoint_as_it_was(
    data: Path,
    checkpoint: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = {path.name: path.read_bytes() for path in checkpoint.iterdir()}

    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(EstimateEngine, "fit", interrupt)

    with pytest.raises(KeyboardInterrupt):
        train(data, checkpoint)

    assert {path.name: path.read_bytes() for path in checkpoint.iterdir()} == before


def test_starts_of_an_early_version_take_longer_than_those_of_today() -> None:
    corpus = corpus_of(4)
    early = replace(cast("Any", corpus.corpus), targets=cast("Any", (EARLY, *[TODAY] * 3)))

    engines = EstimateEngine(corpus), EstimateEngine(replace(corpus, corpus=early))
    today, then = (engine.fit(corpus, np.arange(len(corpus.target))) for engine in engines)
    starts = np.arange(today.parts.shape[1]) % len(TERMS) == TERMS.index("launch")
    is_early = corpus.target[corpus.rows] == 0

    # The efficiencies differ too, alike on all targets.
    times = then.parts[:, starts].sum(axis=1) / today.parts[:, starts].sum(axis=1)
    assert times[is_early].mean() > 1.5 * times[~is_early].mean()
