"""What the first page of the wizard asks for, and how an unfinished session goes on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ctm_gui.probing.choice import Source, TargetChoice, Way, unfinished
from ctm_gui.probing.presenter import resumed_choice
from predictor.core.documents import Provenance
from predictor.core.metrics import Family
from predictor.core.records import Configuration, Device, Measurement
from predictor.services.probing.plan import RunConfiguration
from predictor.services.probing.session_plan import PlannedNetwork, SessionPlan
from predictor.services.probing.sessions import ProbeSession, ProbeState, SessionProbe, SessionState

BOARD = Device("board", "Board", "maker", Family.CPU, {})


def session(**facts: object) -> ProbeSession:
    a, b, sentinel = (
        PlannedNetwork(name, "space", (), digit * 64, None, "")
        for name, digit in zip("abs", "fed", strict=True)
    )
    kit = facts.pop("kit", None)
    plan = SessionPlan("dbsel", 0, 1.0, 0.0, None, {}, RunConfiguration(), (a, b), sentinel, kit)
    probes = (SessionProbe("a", "f" * 64), SessionProbe("b", "e" * 64, ProbeState.SKIPPED))
    stored = ProbeSession("1" * 32, "board", Configuration("onnxruntime"), plan.to_json(), probes)
    return replace(stored, **facts)


def measured_by(source: str) -> dict[str, Measurement]:
    provenance = Provenance({"source": source})
    configuration = Configuration("onnxruntime")
    return {
        "m": Measurement("m", "f" * 64, "board", configuration, (), 1.0, "median", "p", provenance)
    }


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        (TargetChoice(), ""),
        (TargetChoice(Way.SSH), "Choose the device"),
        (TargetChoice(Way.SSH, BOARD), "address of the board"),
        (TargetChoice(Way.SSH, BOARD, address="pi@board"), ""),
        (TargetChoice(Way.KIT), "Choose the device"),
        (TargetChoice(Way.KIT, BOARD), ""),
        (TargetChoice(Way.IMPORT), "Choose the file"),
        (TargetChoice(Way.IMPORT, path="results.json"), ""),
        (TargetChoice(Way.IMPORT, source=Source.TOOL, path="log.txt"), "Choose the device"),
        (TargetChoice(Way.IMPORT, BOARD, source=Source.TOOL, path="log.txt"), ""),
        (TargetChoice(Way.IMPORT, BOARD, source=Source.TYPED, typed=" "), "one network a line"),
        (TargetChoice(Way.IMPORT, BOARD, source=Source.TYPED, typed="a 1 ms"), ""),
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
    page = TargetChoice(Way.KIT, BOARD, 4, "pi@board", "key", "python3.12")
    choice = resumed_choice(page, Way.SSH)
    assert (choice.way, choice.address, choice.key_file) == (Way.SSH, "pi@board", "key")
    assert choice.python == "python3.12"
    assert choice.device is None
    assert resumed_choice(page, None) is page
