"""``ctm probe``: documents, texts, exit codes; measured for real where it measures."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from predictor.cli.console import Console
from predictor.cli.probe.progress import ProbeProgress
from predictor.cli.probe.signatures import adapted_text
from predictor.cli.program import main
from predictor.probing.measuring.interface import (
    Drift,
    Failure,
    NetworkDone,
    NetworkFailed,
    ProbeEvent,
)
from predictor.services.probing import plan as probing_plan
from predictor.services.probing.measure import measure
from predictor.services.probing.open import open_probing
from predictor.services.probing.session_plan import SessionPlan
from predictor.store import probe_sessions
from tests.support.printed_samples import ULTRALYTICS
from tests.support.probe_plans import QUICK, relu_network
from tests.support.probe_sessions import BOARD as MEASURED
from tests.support.probe_sessions import Script, small_plan

pytestmark = pytest.mark.slow

# A shipped board: nothing of this machine is measured for the estimates.
BOARD = ["--device", "rpi5"]


def document(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert main(["probe", *arguments, "--json"]) == 0
    made: dict[str, Any] = json.loads(capsys.readouterr().out)
    return made


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plans of this test's commands are of small networks and quick settings."""

    def small(request: probing_plan.PlanRequest) -> probing_plan.ProbePlan:
        plan = small_plan(request.probes)
        of_plan = replace(plan.request, target=request.target, configuration=request.configuration)
        return replace(plan, request=of_plan)

    monkeypatch.setattr("predictor.cli.probe.run.plan_probes", small)


@pytest.fixture
def measured(own_store: Path) -> Iterator[tuple[str, str]]:
    """A store with a finished session, and the ids of session and signature."""
    with open_probing(own_store) as probing:
        session = probing.sessions.start(small_plan(3))
        outcomes = (
            [1_000_000, 1_010_000],
            Failure.MISSING_OPERATOR,
            [2_000_000, 2_000_000],
        )
        for _ in measure(probing.sessions, session.id, Script(*outcomes)):
            pass
        yield session.id, probing.signatures.all()[0].signature.id


def test_a_plan_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    found = document(
        capsys, "plan", *BOARD, "--probes", "6", "--threads", "2", "--selector", "dopt"
    )
    assert found["schema"] == "ctm-probe-plan/1"
    assert found["device"] == "rpi5"
    assert found["configuration"] == {
        "runtime": "onnxruntime",
        "precision": "fp32",
        "threads": 2,
        "batch": 1,
    }
    assert len(found["probes"]) == 6
    assert 0 < found["expected_s"] <= 300
    for probe in found["probes"]:
        assert probe["expected_ms"] > 0
        assert probe["reason"]


def test_a_plan_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["probe", "plan", *BOARD, "--probes", "3"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("Raspberry Pi 5")
    assert "onnxruntime fp32 1 thread\n" in text
    assert text.count("covers ") == 3
    assert "Measuring is expected to take " in text
    assert re.search(r"now up to \+[\d.]+ %; expected after probing: \+[\d.]+ %", text)
    assert "measures" not in text  # three networks are too few for random ones among them


def test_a_plan_says_that_a_run_chooses_by_what_it_measures(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["probe", "plan", *BOARD, "--probes", "9", "--selector", "dbsel"]) == 0
    assert "`ctm probe run` measures 3 networks first" in capsys.readouterr().out


def test_the_minutes_decide_how_many_networks_where_nobody_says(
    capsys: pytest.CaptureFixture[str],
) -> None:
    plans = {m: document(capsys, "plan", *BOARD, "--minutes", m) for m in ("1", "5")}
    counts = {minutes: len(plan["probes"]) for minutes, plan in plans.items()}
    assert 4 <= counts["1"] < counts["5"] == 12
    assert all(plan["expected_s"] <= 60 * int(m) for m, plan in plans.items())


def test_a_width_is_for_the_adaptive_selector_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["probe", "plan", *BOARD, "--within", "20"]) == 2
    assert "add --selector adaptive" in capsys.readouterr().err


def test_all_cores_are_resolved_to_a_count(capsys: pytest.CaptureFixture[str]) -> None:
    found = document(capsys, "plan", *BOARD, "--probes", "3", "--threads", "0")
    assert found["configuration"]["threads"] == 4


@pytest.mark.usefixtures("quick")
def test_run_measures_and_stores_without_a_question(capsys: pytest.CaptureFixture[str]) -> None:
    # Whatever else the machine does meanwhile.
    assert main(["probe", "run", *BOARD, "--probes", "2", "--use-anyway", "--json"]) == 0
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert found["used"]
    assert "Other programs use " in err
    assert found["state"] == "finished"
    assert found["host"]["onnxruntime"].startswith("onnxruntime")
    assert found["run"]["provider"] == "CPUExecutionProvider"
    for probe in found["probes"]:
        assert probe["latency_ms"] >= probe["least_ms"] > 0
        assert probe["runs"] >= 2 * QUICK.least_runs
    assert "1 of 2  " in err
    assert "2 of 2  " in err
    listed = document(capsys, "list")
    assert [entry["active"] for entry in listed["signatures"]] == [True]
    assert listed["signatures"][0]["signature"] == found["signature"]
    assert listed["sessions"][0]["measured"] == 2


@pytest.mark.usefixtures("quick")
def test_a_provider_that_is_missing_fails_the_run_and_says_so(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["probe", "run", *BOARD, "--probes", "1", "--provider", "NoSuchProvider"]) == 3
    out, err = capsys.readouterr()
    assert "this onnxruntime has no NoSuchProvider" in out
    assert "not measured: this onnxruntime has no NoSuchProvider" in err


def test_a_session_shows_latencies_and_reasons(
    capsys: pytest.CaptureFixture[str], measured: tuple[str, str]
) -> None:
    session, signature = measured
    assert main(["probe", "show", session[:8]]) == 0
    text = capsys.readouterr().out
    assert f"Session {session}: board, onnxruntime fp32 1 thread, finished" in text
    assert "missing-operator: the reason" in text
    assert "two blocks agree within 1 %" in text
    assert "The machine changed its speed (10 % drift): repeat when idle." in text
    assert "noisy or inconclusive" not in text
    assert f"Signature {signature}." in text


def test_noisy_networks_are_to_be_repeated(
    capsys: pytest.CaptureFixture[str], own_store: Path
) -> None:
    with open_probing(own_store) as probing:
        session = probing.sessions.start(small_plan(1))
        for _ in measure(probing.sessions, session.id, Script(*[[1_000_000, 30_000_000_000]] * 3)):
            pass
    assert main(["probe", "show", session.id]) == 0
    text = capsys.readouterr().out
    assert "1 of 1 are noisy or inconclusive." in text
    assert f"`ctm probe run --session {session.id[:8]} --repeat NAME`" in text


def test_a_session_in_json_tells_percentiles_only_of_enough_runs(
    capsys: pytest.CaptureFixture[str], measured: tuple[str, str]
) -> None:
    found = document(capsys, "show", measured[0])
    first, second, _ = found["probes"]
    assert (first["latency_ms"], first["least_ms"], first["runs"]) == (1.01, 1.0, 6)
    assert first["percentiles_ms"] == {}
    assert first["variation"] == pytest.approx(0.005 / 1.005)
    assert (second["latency_ms"], second["state"]) == (None, "failed")
    assert second["problem"] == "missing-operator: the reason"
    assert found["configuration"]["threads"] == 1


def test_a_signature_shows_its_machine_and_latencies(
    capsys: pytest.CaptureFixture[str], measured: tuple[str, str]
) -> None:
    assert main(["probe", "show", measured[1]]) == 0
    text = capsys.readouterr().out
    assert f"Signature {measured[1]}: board" in text
    assert "in use" in text
    assert "A76" in text
    found = document(capsys, "show", measured[1][:10])
    assert [m["latency_ms"] for m in found["measurements"]] == [1.01, 2.0]


def test_a_network_is_left_out_with_a_reason_that_is_shown(
    capsys: pytest.CaptureFixture[str], measured: tuple[str, str]
) -> None:
    shown = document(capsys, "show", measured[1])
    gone = shown["measurements"][0]
    made = document(
        capsys, "exclude", measured[1], gone["measurement"], "--reason", "a backup ran"
    )["signature"]

    left = document(capsys, "show", made)
    assert [m["measurement"] for m in left["measurements"]] == [
        shown["measurements"][1]["measurement"]
    ]
    assert main(["probe", "show", made]) == 0
    assert "(a backup ran)" in capsys.readouterr().out
    assert main(["probe", "exclude", made, "resnet50", "--reason", "x"]) == 2
    assert main(["probe", "include", made, "resnet50"]) == 2
    assert "the signature has none" in capsys.readouterr().err

    again = document(capsys, "include", made, gone["measurement"])["signature"]
    found = document(capsys, "show", again)
    assert {m["measurement"] for m in found["measurements"]} == {
        m["measurement"] for m in shown["measurements"]
    }
    assert (found["active"], found["excluded"]) == (True, {})
    assert [each["reason"] for each in found["included_again"]] == ["a backup ran"]
    assert main(["probe", "show", again]) == 0
    assert "(was left out: a backup ran)" in capsys.readouterr().out


def test_the_posterior_is_kept_where_it_is_asked_for(
    capsys: pytest.CaptureFixture[str], measured: tuple[str, str]
) -> None:
    found = document(capsys, "adapt", measured[1], "--by", "posterior")
    assert found == {"signature": measured[1], "adaptation": "posterior", "errors": {}}
    assert main(["probe", "adapt", measured[1], "--by", "posterior"]) == 0
    assert "the network as it ships, with a Bayesian posterior" in capsys.readouterr().out
    assert document(capsys, "show", measured[1])["adaptation"] == "posterior"


def test_fine_tuning_needs_more_networks_than_two(
    capsys: pytest.CaptureFixture[str], measured: tuple[str, str], own_store: Path
) -> None:
    with open_probing(own_store) as probing:
        probing.devices.keep(MEASURED)
    assert main(["probe", "adapt", measured[1]]) == 2
    assert "the signature has 2 networks, fewer than 3" in capsys.readouterr().err


def test_what_adapts_is_said_with_both_errors() -> None:
    text = adapted_text("abc", "film", {"posterior": 0.2, "film": 0.125})
    assert "median error: 20 % without fine-tuning." in text
    assert "median error: 12.5 % with FiLM fine-tuned." in text
    assert text.endswith("Signature abc: FiLM of the network fine-tuned to it, with a Bayesian "
                         "posterior of the rest.")  # fmt: skip


def test_a_signature_tells_what_it_changes_for_a_model(
    capsys: pytest.CaptureFixture[str], measured: tuple[str, str], own_store: Path, tmp_path: Path
) -> None:
    with open_probing(own_store) as probing:
        assert probing.devices.keep(MEASURED)
        assert not probing.devices.keep(MEASURED)
    model = tmp_path / "model.onnx"
    model.write_bytes(relu_network(dims=(64, 4096)))
    found = document(capsys, "show", measured[1], "--model", str(model))["models"][0]
    assert found["model"] == "model.onnx"
    assert found["after"]["basis"] == "probed"
    assert found["after"]["latency_ms"] != found["before"]["latency_ms"]
    assert main(["probe", "show", measured[1], "--model", str(model)]) == 0
    assert "Before ms" in capsys.readouterr().out
    assert main(["probe", "show", measured[0], "--model", str(model)]) == 2
    capsys.readouterr()
    predict = ["predict", str(model), "--device", MEASURED.id, "--threads", "1"]
    predict += ["--runtime", "onnxruntime", "--json"]
    assert main(predict) == 0
    (predicted,) = json.loads(capsys.readouterr().out)["predictions"]
    assert (predicted["adaptation"], predicted["signature"]) == ("posterior", measured[1])
    assert predicted["latency_ms"] == found["after"]["latency_ms"]


def test_the_list_in_words(capsys: pytest.CaptureFixture[str], measured: tuple[str, str]) -> None:
    assert main(["probe", "list"]) == 0
    text = capsys.readouterr().out
    assert f"{measured[0][:8]}  " in text
    assert "2 of 3" in text
    assert "in use" in text


def test_an_empty_list_says_how_to_begin(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["probe", "list"]) == 0
    assert "Nothing was probed yet" in capsys.readouterr().out


def test_a_signature_is_deleted_and_comes_back(
    capsys: pytest.CaptureFixture[str], measured: tuple[str, str]
) -> None:
    signature = measured[1]
    assert main(["probe", "delete", signature[:8]]) == 0
    assert "`ctm probe restore` undoes it" in capsys.readouterr().out
    assert document(capsys, "list")["signatures"] == []
    assert main(["probe", "delete", signature]) == 2
    assert main(["probe", "restore", signature]) == 0
    assert main(["probe", "use", signature]) == 0
    capsys.readouterr()
    assert document(capsys, "list")["signatures"][0]["active"] is True


@pytest.mark.usefixtures("quick")
def test_a_kit_goes_out_and_its_results_come_back(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    kit = tmp_path / "kit.zip"
    made = document(capsys, "kit", *BOARD, "--probes", "1", "-o", str(kit))
    subprocess.run([sys.executable, "-m", "zipfile", "-e", kit, tmp_path / "bench"], check=True)
    subprocess.run(
        [sys.executable, "-I", tmp_path / "bench" / "ctm_runner.pyz"],
        check=True,
        capture_output=True,
    )
    found = document(capsys, "import", str(tmp_path / "bench" / "results.json"))
    assert (found["session"], found["state"]) == (made["session"], "finished")
    assert main(["probe", "import", str(tmp_path / "bench" / "results.json")]) == 2
    assert "its results were taken over before" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["plan", *BOARD, "--probes", "500"], "probe budget: k is 500"),
        (
            ["plan", *BOARD, "--minutes", "1", "--probes", "12"],
            "time budget: 60 s are too short for 12 networks",
        ),
        (["plan", "--device", "no-such-board"], "is no device of the catalogue"),
        (["show", "feed"], "session feed: there is none of this id"),
        (["run", "--session", "feed"], "session feed: there is none of this id"),
        (["run", *BOARD, "--repeat", "x"], "--repeat: it names no session"),
        (["use", "feed"], "signature feed: there is none"),
        (["import", "no-such-file.json"], "no-such-file.json: there is no such file"),
        (["plan", *BOARD, "--affinity", "a"], "'a' is not a whole number"),
        ([], "ACTION"),
    ],
)
def test_what_is_wrong_is_one_sentence_and_exit_2(
    capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    assert main(["probe", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert words in err
    assert err.count("\n") == 1


def test_ctrl_c_leaves_a_session_that_goes_on(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, own_store: Path
) -> None:
    with open_probing(own_store) as probing:
        session = probing.sessions.start(small_plan(1))

    def interrupted(*_: object) -> Iterator[ProbeEvent]:
        raise KeyboardInterrupt
        yield

    monkeypatch.setattr("predictor.probing.measuring.local.LocalRunner.run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        main(["probe", "run", "--session", session.id])
    err = capsys.readouterr().err
    assert f"`ctm probe run --session {session.id[:8]}` goes on with it." in err


def test_progress_tells_failures_and_drift(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, own_store: Path
) -> None:

    with open_probing(own_store) as probing:
        session = probing.sessions.start(small_plan(2))
    progress = ProbeProgress(session, Console().note)
    progress.take(NetworkDone("a", {"median_ms": 12.3456, "verdict": "steady"}))
    progress.take(NetworkDone("b", {"median_ms": None, "verdict": "inconclusive"}))
    progress.take(NetworkFailed("watch", Failure.CRASHED, "it crashed", sentinel=True))
    progress.take(Drift((1.0, 1.04), 0.04))
    progress.take(Drift((1.0, 1.06), 0.06))
    err = capsys.readouterr().err
    assert "1 of 2  a: 12.35 ms, steady (about " in err
    assert "2 of 2  b: inconclusive: its blocks differ\n" in err
    assert "watch" not in err
    assert err.count("The network that is measured again and again changed by 6 %") == 1


def test_another_tools_file_is_taken_over_for_a_device(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    model = tmp_path / "mine.onnx"
    model.write_bytes(relu_network())
    table = tmp_path / "measured.csv"
    table.write_text("model,latency_ms,runtime,threads\nmy network,23.4,ncnn,4\nother,5,ncnn,4\n")
    found = document(
        capsys,
        "import", str(table), *BOARD,
        "--model", str(model), "--name", "my network=mine", "--name", "other=",
    )  # fmt: skip
    (measurement,) = found["measurements"]
    assert (measurement["device"], measurement["latency_ms"]) == ("rpi5", 23.4)
    assert measurement["configuration"] == {
        "runtime": "ncnn",
        "precision": "fp16",  # what ncnn runs floats in on this board
        "threads": 4,
        "batch": 0,
    }
    assert document(capsys, "list")["signatures"][0]["signature"] == found["signatures"][0]
    assert main(["probe", "show", found["signatures"][0]]) == 0
    assert "my network" in capsys.readouterr().out


def test_a_table_of_runtimes_is_taken_over_for_its_one_model(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    model = tmp_path / "yolo11n.onnx"
    model.write_bytes(relu_network())
    log = tmp_path / "bench.log"
    log.write_text(ULTRALYTICS, encoding="utf-8")
    arguments = ["import", str(log), *BOARD, "--model", str(model)]
    configurations = [m["configuration"] for m in document(capsys, *arguments)["measurements"]]
    assert [(c["runtime"], c["precision"]) for c in configurations] == [
        ("pytorch", "fp32"),
        ("onnxruntime", "fp32"),
        ("ncnn", "fp16"),
    ]


def test_the_help_says_how_each_file_is_made(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["probe", "import", "--help"])
    assert "      rknn.eval_perf(), or rknn_benchmark model.rknn\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "--ssh", "me@board"], "--ssh: a board is not this machine"),
        (["run", *BOARD, "--probes", "1", "--ssh", "a b"], "a b: it is no address of a board"),
    ],
)
@pytest.mark.usefixtures("quick")
def test_a_wrong_board_is_one_sentence(
    capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    assert main(["probe", *arguments]) == 2
    assert words in capsys.readouterr().err


@pytest.mark.usefixtures("quick")
def test_a_board_without_the_ssh_library_is_one_sentence(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "predictor.services.probing.runners.importlib.util.find_spec", lambda _: None
    )
    assert main(["probe", "run", *BOARD, "--probes", "1", "--ssh", "board"]) == 3
    assert "asyncssh is not installed; run pip install asyncssh" in capsys.readouterr().err


# The last one is whole but for the networks of the session.
_BROKEN_PLANS = (
    "{",
    "[]",
    "{}",
    '{"probes": 5}',
    "[" * 100_000,
    SessionPlan.of(replace(small_plan(1), probes=())).to_json(),
)


@pytest.mark.parametrize("plan", _BROKEN_PLANS)
def test_a_session_whose_plan_is_broken_is_listed_with_its_problem(
    plan: str, own_store: Path, measured: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    session, _ = measured
    with open_probing(own_store) as probing:
        whole = probing.sessions.start(small_plan(1))
        probe_sessions.extend(probing.sessions.database, session, plan, ())
    problem = f"session {session}: its stored plan cannot be read; start another one."

    broken, sound = document(capsys, "list")["sessions"]
    assert (broken["problem"], "kit" in broken, broken["probes"]) == (problem, False, 3)
    assert (sound["session"], sound["kit"], "problem" in sound) == (whole.id, False, False)
    assert main(["probe", "list"]) == 0
    assert capsys.readouterr().out.endswith(f"{problem}\n")
    assert main(["probe", "show", session, "--json"]) == 2
    assert problem in capsys.readouterr().err
