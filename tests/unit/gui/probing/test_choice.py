"""What the first page of the wizard asks for, and how an unfinished session goes on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ctm_gui.probing.choice import Source, TargetChoice, Way, unfinished
from ctm_gui.probing.presenter import resumed_choice
from predictor.core.documents import Provenance
from predictor.core.metrics import Family
from predictor.core.records import Configuration, Device, Measurement
from predictor.core.stored import ProbeState, SessionProbe, SessionState
from predictor.probing.measuring.interface import RunConfiguration
from predictor.services.probing.session_plan import PlannedNetwork, SessionPlan
from predictor.services.probing.sessions import ProbeSession

BOARD = Device(id="board", name="Board", vendor="maker", family=Family.CPU, metrics={})


def session(**facts: object) -> ProbeSession:
    a, b, sentinel = (
        PlannedNetwork(
            name=name, space="space", code=(), fingerprint=digit * 64, expected_ms=None, reason=""
        )
        for name, digit in zip("abs", "fed", strict=True)
    )
    kit = facts.pop("kit", None)
    plan = SessionPlan(
        selector="dbsel",
        seed=0,
        expected_s=1.0,
        budget_s=0.0,
        live=None,
        settings={},
        configuration=RunConfiguration(),
        probes=(a, b),
        sentinel=sentinel,
        kit=kit,
    )
    probes = (
        SessionProbe(name="a", fingerprint="f" * 64),
        SessionProbe(name="b", fingerprint="e" * 64, state=ProbeState.SKIPPED),
    )
    stored = ProbeSession(
        id="1" * 32,
        device_id="board",
        configuration=Configuration("onnxruntime"),
        plan_text=plan.to_json(),
        probes=probes,
    )
    return replace(stored, **facts)


def measured_by(source: str) -> dict[str, Measurement]:
    provenance = Provenance({"source": source})
    configuration = Configuration("onnxruntime")
    return {
        "m": Measurement(
            id="m",
            fingerprint="f" * 64,
            device_id="board",
            configuration=configuration,
            samples_ns=(),
            value_ms=1.0,
            statistic="median",
            protocol="p",
            provenance=provenance,
        )
    }


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        (TargetChoice(), ""),
        (TargetChoice(way=Way.SSH), "address of the board"),
        (TargetChoice(way=Way.SSH, device=BOARD), "address of the board"),
        (TargetChoice(way=Way.SSH, address="pi@board"), "Choose the device"),
        (TargetChoice(way=Way.SSH, device=BOARD, address="pi@board"), ""),
        (TargetChoice(way=Way.KIT), "Choose the device"),
        (TargetChoice(way=Way.KIT, device=BOARD), ""),
        (TargetChoice(way=Way.IMPORT), "Choose the file"),
        (TargetChoice(way=Way.IMPORT, path="results.json"), ""),
        (TargetChoice(way=Way.IMPORT, source=Source.TOOL, path="log.txt"), "Choose the device"),
        (TargetChoice(way=Way.IMPORT, device=BOARD, source=Source.TOOL, path="log.txt"), ""),
        (
            TargetChoice(way=Way.IMPORT, device=BOARD, source=Source.TYPED, typed=" "),
            "one network a line",
        ),
        (TargetChoice(way=Way.IMPORT, device=BOARD, source=Source.TYPED, typed="a 1 ms"), ""),
    ],
)
def test_what_is_missing_is_told(choice: TargetChoice, words: str) -> None:
    assert words in choice.problem
    assert bool(choice.problem) == bool(words)


@pytest.mark.parametrize(
    ("source", "way"), [("local", Way.THIS), ("ssh", Way.SSH), ("kit", None), ("", None)]
)
def test_a_session_goes_on_where_its_measurements_were_made(source: str, way: Way | None) -> None:
    left = unfinished(session(), measured_by(source))
    assert left is not None
    assert left.way is way
    assert left.done == 1


def test_a_session_of_a_kit_waits_for_it() -> None:
    left = unfinished(session(kit={"plan_sha256": "0"}), {})
    assert left is not None
    assert left.way is Way.KIT


@pytest.mark.parametrize(
    "state", [SessionState.FINISHED, SessionState.CANCELLED, SessionState.FAILED]
)
def test_a_session_that_has_ended_is_not_unfinished(state: SessionState) -> None:
    assert unfinished(session(state=state), {}) is None


def test_going_on_takes_the_way_of_the_session_and_the_address_of_the_page() -> None:
    page = TargetChoice(
        way=Way.KIT,
        device=BOARD,
        threads=4,
        address="pi@board",
        key_file="key",
        python="python3.12",
    )
    choice = resumed_choice(page, Way.SSH)
    assert (choice.way, choice.address, choice.key_file) == (Way.SSH, "pi@board", "key")
    assert choice.python == "python3.12"
    assert choice.device is None
    assert resumed_choice(page, None) is page
