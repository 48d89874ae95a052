"""Probe sessions: committed at once, paused, skipped, repeated, killed and resumed; kits."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from predictor.core.documents import ProbingFacts
from predictor.core.errors import CancelledError, InputError
from predictor.core.progress import CancelToken
from predictor.core.stored import ProbeState, SessionState
from predictor.probing.measuring.interface import (
    Failure,
    MeasuringPlan,
    NetworkDone,
    NetworkFailed,
    ProbeEvent,
)
from predictor.probing.runner.results import digest
from predictor.services.probing.events import ProbesChosen
from predictor.services.probing.kits import import_results, make_kit
from predictor.services.probing.measure import measure
from predictor.services.probing.open import Probing, open_probing
from predictor.services.probing.sessions import ProbeSession
from predictor.store import probe_sessions
from tests.support.probe_plans import QUICK
from tests.support.probe_sessions import Script, small_plan

pytestmark = pytest.mark.slow


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store" / "store.sqlite"


@pytest.fixture
def probing(path: Path) -> Iterator[Probing]:
    with open_probing(path) as opened:
        yield opened


def states(session: ProbeSession) -> list[ProbeState]:
    return [probe.state for probe in session.probes]


def run(probing: Probing, session: ProbeSession, *outcomes: Any) -> Script:
    script = Script(*outcomes)
    for _ in measure(probing.sessions, session.id, script):
        pass
    return script


def test_a_session_becomes_the_active_signature_of_its_target(probing: Probing) -> None:
    session = probing.sessions.start(small_plan())
    run(probing, session, (1000, 1000), (2000, 2000), (3000, 3000))

    done = probing.sessions.get(session.id)
    (stored,) = probing.signatures.all()
    assert (done.state, states(done)) == (SessionState.FINISHED, [ProbeState.MEASURED] * 3)
    assert stored.session_id == session.id
    assert stored.signature.active
    assert (stored.signature.device_id, stored.signature.configuration) == (
        "board",
        session.configuration,
    )
    measurements = probing.signatures.measurements(stored.signature.id)
    assert [measurement.value_ms for measurement in measurements] == [0.001, 0.002, 0.003]
    assert [m.fingerprint for m in measurements] == [p.fingerprint for p in done.probes]
    facts = stored.facts.content
    assert facts["host"] == {"processor": "A76"}
    assert (facts["drift"], facts["protocol"]) == (0.1, "ctm-probe/1")
    provenance = measurements[0].provenance.content
    assert provenance["host"]["processor"] == "A76"
    assert (provenance["provider"], provenance["threads"]) == ("CPUExecutionProvider", 1)
    assert provenance["source"] == "local"


def test_a_clock_that_goes_back_changes_neither_order_nor_end(
    probing: Probing, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = count(2 * 10**18, -3600 * 10**9)
    monkeypatch.setattr("time.time_ns", lambda: next(times))
    monkeypatch.setattr("time.time", lambda: next(times) / 1e9)
    first, second = (probing.sessions.start(small_plan()) for _ in range(2))
    for session in (first, second):
        run(probing, session, (1000, 1000), (2000, 2000), (3000, 3000))

    done = probing.sessions.all()
    assert [session.id for session in done] == [first.id, second.id]
    assert all(session.finished_ns >= session.created_ns for session in done)  # type: ignore[operator]
    assert [s.session_id for s in probing.signatures.all()] == [first.id, second.id]
    for stored in probing.signatures.all():
        measured = probing.signatures.measurements(stored.signature.id)
        assert [measurement.value_ms for measurement in measured] == [0.001, 0.002, 0.003]


def test_each_measurement_is_on_the_disk_when_its_event_is_told(
    probing: Probing, path: Path
) -> None:
    session = probing.sessions.start(small_plan())
    seen = 0
    for event in measure(
        probing.sessions, session.id, Script((1000, 1000), (2000, 2000), (3000, 3000))
    ):
        if isinstance(event, NetworkDone):
            seen += 1
            with open_probing(path) as other:
                assert len(other.sessions.measurements(session.id)) == seen
    assert seen == 3


def test_a_network_that_fails_is_kept_with_its_reason(probing: Probing) -> None:
    session = probing.sessions.start(small_plan())
    run(probing, session, (1000, 1000), Failure.MISSING_OPERATOR, Failure.SKIPPED)
    done = probing.sessions.get(session.id)
    assert states(done) == [ProbeState.MEASURED, ProbeState.FAILED, ProbeState.SKIPPED]
    assert done.probes[1].reason == "missing-operator: the reason"
    assert done.state is SessionState.FINISHED
    assert len(probing.signatures.all()[0].signature.measurement_ids) == 1


def test_an_inconclusive_network_is_no_measurement_and_loses_no_sample(probing: Probing) -> None:
    plan = replace(small_plan(1), settings=replace(QUICK, agreement=0.03))
    session = probing.sessions.start(plan)
    run(probing, session, *[(1000, 2000, 4000)] * 3)
    (probe,) = probing.sessions.get(session.id).probes
    assert probe.state is ProbeState.INCONCLUSIVE
    assert probe.reason == "inconclusive: its 3 blocks differ, the nearest two by 100 %"
    (stored,) = probe_sessions.get(probing.sessions.database, session.id).probes
    kept = stored.outcome.content["blocks"]
    assert [part["samples_ns"] for part in kept] == [[1000] * 3, [2000] * 3, [4000] * 3]
    assert probing.sessions.measurements(session.id) == {}


def test_an_inconclusive_network_is_measured_again_while_there_is_time(probing: Probing) -> None:
    plan = replace(small_plan(2), settings=replace(QUICK, agreement=0.03))
    session = probing.sessions.start(plan)
    events = list(
        measure(
            probing.sessions, session.id, Script((1000, 2000, 4000), (3000, 3000), (1000, 1000))
        )
    )

    first = probing.sessions.get(session.id).probes[0].name
    assert ProbesChosen((first,), again=True) in events
    assert states(probing.sessions.get(session.id)) == [ProbeState.MEASURED] * 2
    (stored,) = probing.signatures.all()
    assert len(stored.signature.measurement_ids) == 2


def test_a_session_without_any_number_has_failed_and_gives_no_signature(probing: Probing) -> None:
    session = probing.sessions.start(small_plan(2))
    run(probing, session, Failure.CRASHED, Failure.TIME_OUT)
    assert probing.sessions.get(session.id).state is SessionState.FAILED
    assert probing.signatures.all() == []


def test_a_cancelled_session_goes_on_with_what_is_left(probing: Probing) -> None:
    session = probing.sessions.start(small_plan())
    with pytest.raises(CancelledError):
        run(probing, session, (1000, 1000), None)
    paused = probing.sessions.get(session.id)
    assert paused.state is SessionState.RUNNING
    assert states(paused) == [ProbeState.MEASURED, ProbeState.WAITING, ProbeState.WAITING]

    script = run(probing, session, (2000, 2000), (3000, 3000))

    assert [n.name for n in script.plans[0].networks] == [p.name for p in paused.probes[1:]]
    assert len(probing.signatures.all()[0].signature.measurement_ids) == 3


def test_what_a_board_tells_of_networks_that_are_not_awaited_is_not_stored(
    probing: Probing,
) -> None:
    session = probing.sessions.start(small_plan(2))
    with pytest.raises(CancelledError):
        run(probing, session, (1000, 1000), None)

    class Retelling(Script):
        """A board that was left alone: it tells of the first network again, and of another."""

        def run(
            self, plan: MeasuringPlan, cancel: CancelToken | None = None
        ) -> Iterator[ProbeEvent]:
            for name in (session.probes[0].name, "another"):
                yield NetworkDone(name, {"name": name})
                yield NetworkFailed(name, Failure.CRASHED, "the reason")
            yield from super().run(plan, cancel)

    told = list(measure(probing.sessions, session.id, Retelling((2000, 2000))))

    assert [event.name for event in told if isinstance(event, NetworkDone)] == [
        session.probes[1].name
    ]
    assert not any(isinstance(event, NetworkFailed) for event in told)
    assert states(probing.sessions.get(session.id)) == [ProbeState.MEASURED] * 2
    assert len(probing.sessions.measurements(session.id)) == 2


def test_nothing_is_left_of_the_networks_that_were_built(probing: Probing, path: Path) -> None:
    session = probing.sessions.start(small_plan())
    with pytest.raises(CancelledError):
        run(probing, session, (1000, 1000), None)
    assert {file.name for file in path.parent.iterdir()} <= {
        path.name,
        f"{path.name}-wal",
        f"{path.name}-shm",
    }


def test_a_session_that_is_given_up_keeps_what_it_has(probing: Probing) -> None:
    session = probing.sessions.start(small_plan())
    with pytest.raises(CancelledError):
        run(probing, session, (1000, 1000), None)
    probing.sessions.give_up(session.id)
    assert probing.sessions.get(session.id).state is SessionState.CANCELLED
    assert len(probing.signatures.all()[0].signature.measurement_ids) == 1
    with pytest.raises(InputError, match="it is cancelled; start another one"):
        run(probing, session)


def test_a_repeated_network_gives_a_new_signature_beside_the_old_one(probing: Probing) -> None:
    session = probing.sessions.start(small_plan(2))
    run(probing, session, (1000, 1000), (2000, 2000))
    name = session.probes[1].name

    probing.sessions.repeat(session.id, [name])
    run(probing, session, (2500, 2500))

    old, new = probing.signatures.all()
    assert (old.signature.active, new.signature.active) == (False, True)
    values = [m.value_ms for m in probing.signatures.measurements(new.signature.id)]
    assert values == [0.001, 0.0025]
    assert len(probing.sessions.measurements(session.id)) == 3
    with pytest.raises(InputError, match=r"session .* has none"):
        probing.sessions.repeat(session.id, ["no such network"])


def test_a_session_is_found_by_the_beginning_of_its_id(probing: Probing) -> None:
    session = probing.sessions.start(small_plan(1))
    assert probing.sessions.get(session.id[:6]) == session
    with pytest.raises(InputError, match="there is none of this id"):
        probing.sessions.get("z")
    probing.sessions.start(small_plan(1))
    with pytest.raises(InputError, match="2 sessions begin so"):
        probing.sessions.get("")


def test_signatures_are_chosen_deleted_and_brought_back(probing: Probing) -> None:
    for _ in range(2):
        run(probing, probing.sessions.start(small_plan(1)), (1000, 1000))
    first, second = (stored.signature.id for stored in probing.signatures.all())
    probing.signatures.activate(first)
    assert [stored.signature.active for stored in probing.signatures.all()] == [True, False]
    was_active = probing.signatures.delete(first)
    assert [stored.signature.id for stored in probing.signatures.all()] == [second]
    assert [stored.signature.id for stored in probing.signatures.deleted()] == [first]
    probing.signatures.restore(first, active=was_active)
    assert [stored.signature.active for stored in probing.signatures.all()] == [True, False]


def test_a_measurement_is_excluded_with_a_reason_that_is_kept(probing: Probing) -> None:
    run(probing, probing.sessions.start(small_plan(2)), (1000, 1000), (2000, 2000))
    (old,) = probing.signatures.all()
    odd, kept = old.signature.measurement_ids

    made = probing.signatures.exclude(old.signature.id, odd, "the fan had stopped")

    before, after = probing.signatures.all()
    assert before.signature.measurement_ids == (odd, kept)
    assert (after.signature.id, after.signature.measurement_ids) == (made, (kept,))
    assert [s.signature.active for s in (before, after)] == [False, True]
    assert after.facts.content["excluded"] == {odd: "the fan had stopped"}
    assert after.facts.content["host"] == {"processor": "A76"}
    for name, words in ((kept, "its only measurement"), (odd, "it has none of this id")):
        with pytest.raises(InputError, match=words):
            probing.signatures.exclude(made, name, "no reason")


def test_what_was_excluded_is_taken_in_again_and_its_reason_is_kept(probing: Probing) -> None:
    run(probing, probing.sessions.start(small_plan(2)), (1000, 1000), (2000, 2000))
    (first,) = probing.signatures.all()
    odd, kept = first.signature.measurement_ids
    without = probing.signatures.exclude(first.signature.id, odd, "the fan had stopped")
    assert [m.id for m in probing.signatures.excluded(without)] == [odd]

    again = probing.signatures.include(without, odd)

    *_, before, after = probing.signatures.all()
    assert (after.signature.id, set(after.signature.measurement_ids)) == (again, {odd, kept})
    assert [s.signature.active for s in (before, after)] == [False, True]
    assert before.facts.content["excluded"] == {odd: "the fan had stopped"}
    assert after.session_id == first.session_id
    assert after.facts.excluded == {}
    (once,) = after.facts.included_again_words()
    assert once.endswith("(was left out: the fan had stopped)")
    assert probing.signatures.excluded(again) == []
    for name in (odd, kept, "unknown"):
        with pytest.raises(InputError, match="was left out of it"):
            probing.signatures.include(again, name)

    third = probing.signatures.exclude(again, odd, "a backup ran")
    facts = probing.signatures.all()[-1].facts
    assert (facts.excluded, facts.included_again_words()) == ({odd: "a backup ran"}, [once])
    assert probing.signatures.include(third, odd)
    assert len(probing.signatures.all()[-1].facts.included_again_words()) == 2


def test_a_signature_that_took_a_place_gives_it_back_or_nothing_changes(probing: Probing) -> None:
    run(probing, probing.sessions.start(small_plan(2)), (1000, 1000), (2000, 2000))
    (old,) = probing.signatures.all()
    made = probing.signatures.exclude(old.signature.id, old.signature.measurement_ids[0], "odd")
    assert probing.signatures.give_back(made, old.signature.id)
    assert probing.signatures.all() == [old]
    probing.signatures.restore(made, active=True)

    probing.signatures.delete(old.signature.id)
    with pytest.raises(InputError, match="there is none of this id"):
        probing.signatures.give_back(made, old.signature.id)
    (left,) = probing.signatures.all()
    assert (left.signature.id, left.signature.active) == (made, True)


@pytest.mark.parametrize("odd", [[], "text", 3, None, {"a": None}, [None, 3, {}]])
def test_facts_that_another_program_wrote_are_words_too(odd: object) -> None:
    facts = ProbingFacts({"excluded": odd, "excluded_names": odd, "included_again": odd})
    words = [*facts.excluded_words(), *facts.included_again_words()]
    assert all(isinstance(word, str) for word in words)


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A store that made a kit, and the folder in which the kit was run."""
    folder = tmp_path_factory.mktemp("bench")
    store = folder / "store.sqlite"
    with open_probing(store) as probing:
        make_kit(probing.sessions, small_plan(2), folder / "kit.zip")
    with zipfile.ZipFile(folder / "kit.zip") as archive:
        archive.extractall(folder / "kit")
    command = [sys.executable, "-I", str(folder / "kit" / "ctm_runner.pyz")]
    subprocess.run(command, check=True, capture_output=True)
    return store, folder / "kit" / "results.json"


def copied(bench: tuple[Path, Path], folder: Path) -> tuple[Probing, Path]:
    """The store and the results, free to be changed."""
    store, results = bench
    (folder / "store.sqlite").write_bytes(store.read_bytes())
    (folder / "results.json").write_bytes(results.read_bytes())
    return open_probing(folder / "store.sqlite"), folder / "results.json"


def test_a_kit_comes_back_as_a_signature_once(bench: tuple[Path, Path], tmp_path: Path) -> None:
    probing, results = copied(bench, tmp_path)
    with probing:
        session = import_results(probing.sessions, results)
        assert session.state is SessionState.FINISHED
        assert states(session) == [ProbeState.MEASURED] * 2
        (stored,) = probing.signatures.all()
        (first, *_) = probing.signatures.measurements(stored.signature.id)
        provenance = first.provenance.content
        assert provenance["source"] == "kit"
        assert provenance["host"]["python"].startswith("3.")
        assert len(first.samples_ns) == sum(part["runs"] for part in provenance["blocks"])
        with pytest.raises(InputError, match="its results were taken over before"):
            import_results(probing.sessions, results)
        assert len(probing.signatures.all()) == 1


def test_results_of_another_kit_are_refused(bench: tuple[Path, Path], tmp_path: Path) -> None:
    with (
        open_probing(tmp_path / "other.sqlite") as probing,
        pytest.raises(InputError, match="which this store did not make"),
    ):
        import_results(probing.sessions, bench[1])


def test_results_of_a_session_that_is_no_kit_are_refused(
    bench: tuple[Path, Path], tmp_path: Path, probing: Probing
) -> None:
    session = probing.sessions.start(small_plan(2))
    results = tmp_path / "results.json"
    edit(bench[1], results, plan=session.id)
    with pytest.raises(InputError, match="which this store did not make"):
        import_results(probing.sessions, results)


def edit(source: Path, path: Path, **changes: object) -> None:
    """Write results with changes and a digest that fits them."""
    document = {**json.loads(source.read_text()), **changes}
    path.write_text(json.dumps({**document, "digest": digest(document)}))


def test_results_that_do_not_fit_the_kit_are_refused(
    bench: tuple[Path, Path], tmp_path: Path
) -> None:
    probing, results = copied(bench, tmp_path)
    document = json.loads(results.read_text())
    renamed = [{**document["networks"][0], "name": "another"}]
    settings = {**document["settings"], "least_runs": 1}
    with probing:
        for changes, words in (
            ({"plan_sha256": "0" * 64}, "the plan in the kit was changed after it was made"),
            ({"networks": renamed}, "network another is not what the kit was to measure"),
            ({"settings": settings}, "its protocol is not what the kit was to measure"),
        ):
            edit(bench[1], results, **changes)
            with pytest.raises(InputError, match=words):
                import_results(probing.sessions, results)
        assert probing.signatures.all() == []


def test_the_results_of_a_kit_that_was_stopped_leave_the_session_open(
    bench: tuple[Path, Path], tmp_path: Path
) -> None:
    probing, results = copied(bench, tmp_path)
    networks = json.loads(results.read_text())["networks"]
    with probing:
        edit(bench[1], results, networks=networks[:1], finished=False)
        assert import_results(probing.sessions, results).state is SessionState.RUNNING
        assert probing.signatures.all() == []
        done = import_results(probing.sessions, bench[1])
        assert done.state is SessionState.FINISHED
        assert len(probing.sessions.measurements(done.id)) == 2
