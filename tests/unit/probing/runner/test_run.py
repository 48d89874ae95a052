"""The run: real processes that do well, fail, crash, hang, print rubbish or are killed."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from predictor.probing.measuring.documents import event_of
from predictor.probing.measuring.interface import (
    BlockStarted,
    Drift,
    Failure,
    MeasuringPlan,
    NetworkDone,
    NetworkFailed,
    ProbeEvent,
    RunFinished,
    RunStarted,
    Samples,
)
from predictor.probing.runner.failures import StoppedError
from predictor.probing.runner.messages import Controls
from predictor.probing.runner.plan import read_plan
from predictor.probing.runner.results import Results, digest
from predictor.probing.runner.run import Run
from predictor.probing.runner.settings import LATER_SETTINGS, Settings
from tests.support.probe_plans import network, plan

pytestmark = pytest.mark.slow

# -I and -S: the interpreter of a block starts in some milliseconds.
WORKER = [sys.executable, "-I", "-S", str(Path(__file__).parent / "worker.py")]
SETTINGS = Settings(load_limit_s=20.0, silence_limit_s=20.0)
# A network that is well must not seem to hang while its process waits for a processor.
IMPATIENT = replace(SETTINGS, silence_limit_s=1.5)


class Heard:
    """Takes the run's messages, each of which must be a JSON line; may react to an event."""

    def __init__(self, react: Callable[[ProbeEvent], None] = lambda _: None) -> None:
        self.events: list[ProbeEvent] = []
        self._react = react

    def send(self, number: int, kind: str, payload: dict[str, Any]) -> None:
        message = json.loads(json.dumps({"id": number, "kind": kind, "payload": payload}))
        event = event_of(message)
        assert event is not None
        self.events.append(event)
        self._react(event)

    def of(self, kind: type[ProbeEvent]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]


def document(plan: MeasuringPlan) -> dict[str, Any]:
    from predictor.probing.measuring.documents import plan_bytes  # noqa: PLC0415

    made: dict[str, Any] = json.loads(plan_bytes(plan, in_place=True))
    return made


def measure(
    folder: Path,
    *names: str,
    sentinel: str | None = None,
    settings: Settings = SETTINGS,
    controls: Controls | None = None,
    heard: Heard | None = None,
    results: Path | None = None,
) -> tuple[Heard, dict[str, Any]]:
    """Measure networks with the worker above."""
    watch = None if sentinel is None else network(folder, sentinel)
    made = document(plan([network(folder, name) for name in names], watch, settings))
    listener = heard or Heard()
    found = Results(made, "0" * 64, results)
    found.resume()
    Run(made, folder, listener, controls, WORKER).measure(found)
    return listener, found.document


def test_a_network_is_measured_in_two_blocks(tmp_path: Path) -> None:
    heard, results = measure(tmp_path, "steady")
    assert [type(event) for event in heard.events] == [
        RunStarted,
        BlockStarted,
        Samples,
        BlockStarted,
        Samples,
        NetworkDone,
        RunFinished,
    ]
    (done,) = heard.of(NetworkDone)
    assert (done.document["verdict"], done.document["median_ms"]) == ("steady", 0.001)
    assert len(done.document["blocks"]) == 2
    assert heard.of(Samples)[1] == Samples("steady", 2, (1000,) * 5)
    assert results["finished"] is True


def test_blocks_that_differ_bring_a_third_that_settles_it(tmp_path: Path) -> None:
    heard, _ = measure(tmp_path, "third")
    (done,) = heard.of(NetworkDone)
    assert (done.document["agreeing"], done.document["median_ms"]) == ([1, 2], 0.00201)
    assert [block["median_ns"] for block in done.document["blocks"]] == [1000, 2000, 2010]


def test_three_blocks_that_differ_are_inconclusive(tmp_path: Path) -> None:
    heard, results = measure(tmp_path, "noisy")
    (done,) = heard.of(NetworkDone)
    assert (done.document["verdict"], done.document["median_ms"]) == ("inconclusive", None)
    assert [len(b["samples_ns"]) for b in results["networks"][0]["blocks"]] == [5, 5, 5]


@pytest.mark.parametrize(
    ("name", "failure", "words"),
    [
        ("crashing", Failure.CRASHED, "its process ended with signal 6: the reason of the crash"),
        ("killed", Failure.OUT_OF_MEMORY, "its process was killed, most likely for its memory"),
        ("rubbish", Failure.NO_ANSWER, "its process ended without a result"),
        ("silent", Failure.NO_ANSWER, "its process ended without a result"),
        ("exiting", Failure.CRASHED, "its process ended with exit code 7"),
        ("failing", Failure.MISSING_OPERATOR, "there is no Foo"),
        ("empty", Failure.NO_ANSWER, "its process gave a result without samples"),
        ("wordless", Failure.NO_ANSWER, "it gave no reason"),
    ],
)
def test_a_failing_network_costs_no_other_and_says_why(
    tmp_path: Path, name: str, failure: Failure, words: str
) -> None:
    heard, results = measure(tmp_path, "steady_a", name, "steady_b")
    assert heard.of(NetworkFailed) == [NetworkFailed(name, failure, words)]
    assert [done.name for done in heard.of(NetworkDone)] == ["steady_a", "steady_b"]
    assert results["networks"][1]["failure"] == failure
    assert isinstance(heard.events[-1], RunFinished)


def test_networks_of_one_block_share_a_process_until_one_fails(tmp_path: Path) -> None:
    """The latency of the networks here is the number of their process."""
    names = ("process_a", "process_b", "failing", "process_c", "process_d")
    heard, results = measure(tmp_path, *names, settings=replace(SETTINGS, blocks=1))

    entries = [done.document for done in heard.of(NetworkDone)]
    processes = [entry["blocks"][0]["median_ns"] for entry in entries]
    assert processes[0] == processes[1] != processes[2] == processes[3]
    assert [failed.name for failed in heard.of(NetworkFailed)] == ["failing"]
    for entry in entries:
        assert len(entry["blocks"]) == 1
        assert (entry["verdict"], entry["agreeing"]) == ("steady", [0])
        assert entry["operators"] == [["stem", "Conv", 900]]
    assert results["finished"]


def test_a_network_that_hangs_is_given_up(tmp_path: Path) -> None:
    heard, _ = measure(tmp_path, "hanging", "steady", settings=IMPATIENT)
    assert heard.of(NetworkFailed) == [
        NetworkFailed("hanging", Failure.TIME_OUT, "nothing was heard of it for 1.5 s")
    ]
    assert len(heard.of(NetworkDone)) == 1


def test_a_file_that_is_not_the_planned_one_is_not_measured(tmp_path: Path) -> None:
    made = document(plan([network(tmp_path, "steady"), network(tmp_path, "steady_b")]))
    (tmp_path / "steady.onnx").write_bytes(b"another network")
    (tmp_path / "steady_b.onnx").unlink()
    heard = Heard()
    Run(made, tmp_path, heard, None, WORKER).measure(Results(made, "0" * 64, None))
    assert [(e.failure, e.reason) for e in heard.of(NetworkFailed)] == [
        (Failure.CHANGED_FILE, "steady.onnx is not the file that was planned"),
        (Failure.CHANGED_FILE, "steady_b.onnx cannot be read (No such file or directory)"),
    ]


def test_the_sentinel_comes_first_in_the_middle_and_last_and_shows_drift(tmp_path: Path) -> None:
    names = ["steady_a", "steady_b", "steady_c", "steady_d"]
    heard, results = measure(tmp_path, *names, sentinel="drifting")
    blocks = [(e.name, e.sentinel) for e in heard.of(BlockStarted)]
    watch = ("drifting", True)
    measured = [(name, False) for name in names for _ in range(2)]
    assert blocks == [watch, *measured[:4], watch, *measured[4:], watch]
    assert heard.of(Drift)[-1] == Drift((0.001, 0.0011, 0.0012), 0.2)
    assert results["drift"] == pytest.approx(0.2)
    assert len(results["sentinel"]) == 3


def test_a_sentinel_that_fails_costs_no_network(tmp_path: Path) -> None:
    heard, _ = measure(tmp_path, "steady", sentinel="silent")
    assert all(event.sentinel for event in heard.of(NetworkFailed))
    assert len(heard.of(NetworkDone)) == 1


def test_a_skipped_network_is_left_and_the_next_one_measured(tmp_path: Path) -> None:
    controls = Controls()

    def skip(event: ProbeEvent) -> None:
        if event == BlockStarted("hanging", 1):
            controls.take("skip")

    heard, _ = measure(tmp_path, "hanging", "steady", controls=controls, heard=Heard(skip))
    assert heard.of(NetworkFailed) == [NetworkFailed("hanging", Failure.SKIPPED, "it was skipped")]
    assert len(heard.of(NetworkDone)) == 1


def test_a_run_that_is_stopped_ends_within_a_block_and_keeps_what_it_has(tmp_path: Path) -> None:
    controls, path = Controls(), tmp_path / "results.json"

    def stop(event: ProbeEvent) -> None:
        if event == BlockStarted("hanging", 1):
            controls.take("stop")

    with pytest.raises(StoppedError):
        measure(tmp_path, "steady", "hanging", controls=controls, heard=Heard(stop), results=path)
    written = json.loads(path.read_text())
    assert [entry["name"] for entry in written["networks"]] == ["steady"]
    assert written["finished"] is False


def test_a_paused_run_goes_on_when_it_is_told(tmp_path: Path) -> None:
    controls, waits = Controls(), []
    wait = controls._going.wait

    def waiting(timeout: float | None = None) -> bool:
        waits.append(timeout)
        if len(waits) == 4:
            controls.take("continue")
        return wait(0)

    controls._going.wait = waiting  # type: ignore[method-assign]
    controls.take("pause")
    heard, _ = measure(tmp_path, "steady", controls=controls)
    assert len(waits) > 4
    assert len(heard.of(NetworkDone)) == 1


def test_results_are_resumed_where_a_run_was_killed(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    measure(tmp_path, "steady_a", "failing", "steady_b", results=path)
    document = json.loads(path.read_text())
    document["networks"] = document["networks"][:2]
    path.write_text(json.dumps({**document, "digest": digest(document)}))

    heard, again = measure(tmp_path, "steady_a", "failing", "steady_b", results=path)

    assert {event.name for event in heard.of(BlockStarted)} == {"failing", "steady_b"}
    assert [entry["name"] for entry in again["networks"]] == ["steady_a", "failing", "steady_b"]
    assert json.loads(path.read_text())["digest"] == digest(again)


def test_results_of_another_plan_or_rubbish_are_not_resumed(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    of_another = {"plan_sha256": "another", "networks": [{"name": "steady", "median_ms": 1}]}
    signed = json.dumps({**of_another, "digest": digest(of_another)})
    damaged = json.dumps({**of_another, "plan_sha256": "0" * 64, "digest": "0" * 64})
    for content in ("rubbish", "[]", signed, damaged):
        path.write_text(content)
        heard, _ = measure(tmp_path, "steady", results=path)
        assert len(heard.of(NetworkDone)) == 1


def test_commands_come_as_lines_and_the_end_of_the_pipe_means_stop() -> None:
    controls = Controls()
    controls.listen([b'{"command": "skip"}\n', b"rubbish\n", b"[1]\n", b'{"command": "dance"}\n'])
    assert controls.skip.is_set()
    assert controls.stop.is_set()


def test_the_settings_reach_the_block_as_they_are(tmp_path: Path) -> None:
    made = document(plan([], settings=SETTINGS))
    assert Settings(**made["settings"]) == SETTINGS
    assert made["settings"] == asdict(SETTINGS)


def test_nodes_are_timed_after_the_first_block_of_a_network_alone(tmp_path: Path) -> None:
    heard, results = measure(tmp_path, "profiled", sentinel="profiled_watch")
    (done,) = heard.of(NetworkDone)
    assert done.document["operators"] == [["stem", "Conv", 900]]
    assert "operators_missing" not in done.document
    assert results["networks"] == [done.document]
    assert all("operators" not in block for block in results["sentinel"])
    assert {path.suffix for path in tmp_path.iterdir()} == {".onnx", ".blocks"}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("dying", "its process was killed, most likely for its memory"),
        ("stuck", "nothing was heard of it for 1.5 s"),
        ("steady", "its process ended without a result"),
    ],
)
def test_a_profiled_pass_that_fails_costs_no_measurement(
    tmp_path: Path, name: str, words: str
) -> None:
    heard, _ = measure(tmp_path, name, settings=IMPATIENT)
    (done,) = heard.of(NetworkDone)
    assert (done.document["verdict"], done.document["median_ms"]) == ("steady", 0.001)
    assert done.document["operators_missing"] == words
    assert "operators" not in done.document


def test_a_folder_that_cannot_be_written_costs_no_measurement(tmp_path: Path) -> None:
    made = document(plan([network(tmp_path, "profiled")]))
    results = Results(made, "0" * 64, None)
    Run(made, tmp_path / "missing", Heard(), None, WORKER).measure(results)
    (entry,) = results.document["networks"]
    assert entry["median_ms"] == 0.001
    assert entry["operators_missing"] == "no profile can be written (No such file or directory)"


@pytest.mark.parametrize("command", ["skip", "stop"])
def test_a_profiled_pass_obeys_and_leaves_nothing_behind(tmp_path: Path, command: str) -> None:
    controls, path = Controls(), tmp_path / "results.json"

    def react(event: ProbeEvent) -> None:
        if isinstance(event, Samples) and event.name == "stuck":
            controls.take(command)

    heard = Heard(react)
    with suppress(StoppedError):
        measure(tmp_path, "steady", "stuck", controls=controls, heard=heard, results=path)
    written = json.loads(path.read_text())
    assert written["networks"][0]["median_ms"] == 0.001
    assert written["finished"] is (command == "skip")
    assert [e.failure for e in heard.of(NetworkFailed)] == [Failure.SKIPPED] * (command == "skip")
    assert not list(tmp_path.glob("ctm-profile-*"))


def test_a_plan_of_an_earlier_version_is_measured(tmp_path: Path) -> None:
    made = document(plan([network(tmp_path, "profiled")]))
    for name in LATER_SETTINGS:
        del made["settings"][name]
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(made))
    read, _ = read_plan(path)
    heard = Heard()
    Run(read, tmp_path, heard, None, WORKER).measure(Results(read, "0" * 64, None))
    (done,) = heard.of(NetworkDone)
    assert done.document["operators"] == [["stem", "Conv", 900]]
