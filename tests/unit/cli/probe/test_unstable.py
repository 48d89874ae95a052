"""What ``ctm`` says of a probing that failed its checks, and of numbers that rest on it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from predictor.cli.program import main
from predictor.core.documents import ProbingFacts, Provenance
from predictor.core.records import Configuration, Measurement, Signature
from predictor.core.resources import resources_dir
from predictor.probing.networks.pool import load_pool
from predictor.services.probing.open import open_probing
from predictor.services.signatures.checks import LIMITS, ProbingChecks
from predictor.store import measurements, signatures
from predictor.store.database import open_database
from tests.support.probe_sessions import Script, small_plan

pytestmark = pytest.mark.slow

MODEL = str(resources_dir() / "samples" / "mobilenetv2-1.0-224.onnx")
ON_BOARD = ("--device", "rpi5", "--runtime", "onnxruntime", "--precision", "fp32")
CONFIGURATION = Configuration("onnxruntime", threads=1, batch=1)
IDENTITY = "5" * 32
PASSED = ProbingChecks(chosen=4, tried=4, measured=4, disturbed=0.0, drift=0.01, error=0.1)
DRIFTED = replace(PASSED, drift=LIMITS.drift + 0.5)
REASON = DRIFTED.reason


def store_probing(path: Path, checks: ProbingChecks) -> None:
    """Store a probing of the board as an active signature."""
    database = open_database(path)
    found = [
        Measurement(
            id=f"{place:032}",
            fingerprint=network.fingerprint,
            device_id="rpi5",
            configuration=CONFIGURATION,
            samples_ns=(),
            value_ms=5.0 * (place + 1),
            statistic="median",
            protocol="ctm-probe/1",
            provenance=Provenance({"network": network.name}),
        )
        for place, network in enumerate(load_pool()[:4])
    ]
    for measurement in found:
        measurements.add(database, measurement)
    ids = tuple(each.id for each in found)
    signature = Signature(IDENTITY, "rpi5", CONFIGURATION, ids, active=True)
    facts = ProbingFacts({"protocol": "ctm-probe/1", "checks": checks.to_json()})
    signatures.add(database, signature, facts)
    database.close()


def predicted(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    assert main(["predict", MODEL, *ON_BOARD, "--threads", "1", "--json"]) == 0
    (entry,) = json.loads(capsys.readouterr().out)["predictions"]
    return dict(entry)


def test_it_is_not_used_until_the_user_says_so(
    own_store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = predicted(capsys)
    store_probing(own_store, DRIFTED)
    assert predicted(capsys) == before
    assert (before["signature"], before["unstable"]) == (None, None)

    assert main(["probe", "list"]) == 0
    assert "not used, unstable" in capsys.readouterr().out
    assert main(["probe", "show", IDENTITY]) == 0
    shown = capsys.readouterr().out
    assert f"predictions do not use it, as it failed its own checks: {REASON}." in shown
    assert "use it anyway: `ctm probe use 55555555`." in shown

    assert main(["probe", "use", IDENTITY]) == 0
    assert f"is in use now, and its numbers are marked unstable: {REASON}." in (
        capsys.readouterr().out
    )
    now = predicted(capsys)
    assert (now["signature"], now["unstable"]) == (IDENTITY, REASON)
    assert main(["predict", MODEL, *ON_BOARD, "--threads", "1"]) == 0
    text = capsys.readouterr().out
    assert "calibrated, unstable" in text
    assert f"unstable: {REASON}" in text
    assert main(["probe", "list", "--json"]) == 0
    (listed,) = json.loads(capsys.readouterr().out)["signatures"]
    assert (listed["used"], listed["unstable"]) == (True, REASON)

    report = tmp_path / "report.md"
    asked = ["report", MODEL, *ON_BOARD, "--threads", "1", "-o", str(report)]
    assert main(asked) == 0
    page = report.read_text(encoding="utf-8")
    assert "calibrated, unstable" in page
    assert f"Unstable: {REASON}" in page


def test_a_good_one_is_used_without_a_word(
    own_store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store_probing(own_store, PASSED)
    now = predicted(capsys)
    assert (now["basis"], now["signature"], now["unstable"]) == ("probed", IDENTITY, None)
    assert main(["predict", MODEL, *ON_BOARD, "--threads", "1"]) == 0
    assert "unstable" not in capsys.readouterr().out


@pytest.mark.parametrize("anyway", [False, True])
def test_a_run_says_that_it_failed(
    anyway: bool,
    own_store: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plan = small_plan(4)
    plan = replace(plan, settings=replace(plan.settings, agreement=0.03))
    monkeypatch.setattr("predictor.cli.probe.run.plan_probes", lambda _: plan)
    # One number of four is too few.
    outcomes = [(1000, 1000), (1000, 2000, 3000), (1000, 2000, 3000), (1000, 2000, 3000)]
    monkeypatch.setattr("predictor.cli.probe.run.local_runner", lambda: Script(*outcomes))
    monkeypatch.setattr("predictor.services.probing.measure.Pace.repeats", lambda _: ())
    option = ["--use-anyway"] if anyway else []
    assert main(["probe", "run", "--device", "rpi5", *option]) == 0
    out, err = capsys.readouterr()
    assert "Other programs use " in err
    assert "only 1 of 4 networks gave a number" in out
    assert ("It is used anyway" in out, "It is kept, but" in out) == (anyway, not anyway)
    with open_probing(own_store) as probing:
        (stored,) = probing.signatures.all()
        assert stored.signature.active == anyway == stored.facts.used_anyway
