"""This machine in ten seconds: what is stored, when it is refused, cancelled or replaced."""

from __future__ import annotations

import uuid
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from predictor.core.errors import CancelledError
from predictor.core.progress import CancelToken, Progress
from predictor.probing.networks.quick import load_quick
from predictor.services.devices.this_machine import describe_this_machine, hardware_of
from predictor.services.probing import quick as subject
from predictor.services.probing.open import open_probing
from predictor.services.probing.other_load import OtherLoad, OtherPrograms
from predictor.services.probing.quick import (
    MIN_NETWORKS,
    QUICK_S,
    Obstacle,
    QuickProbing,
    Refusal,
    on_battery,
    probe_quickly,
)
from predictor.services.signatures import quick as signatures
from predictor.services.signatures.quick import has_signature, is_quick
from predictor.services.signatures.user_signatures import read_user_signatures, stored_signatures
from predictor.store import signatures as records
from predictor.store.database import open_database
from tests.support.quick_probing import OneBlock, store_rates

pytestmark = pytest.mark.slow

IDLE = OtherLoad(0.0, 2)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "folder" / "store.sqlite"
    store_rates(path)
    return path


@pytest.fixture(autouse=True)
def idle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this machine be plugged in, without other programs."""
    monkeypatch.setattr(psutil, "sensors_battery", lambda: None, raising=False)
    monkeypatch.setattr(OtherPrograms, "since", lambda _: IDLE)


def counts() -> list[int]:
    return list(dict.fromkeys((describe_this_machine().threads_in_use(0), 1)))


def measured(store: Path, runner: OneBlock | None = None) -> QuickProbing:
    probing = probe_quickly(store, runner=runner or OneBlock())
    assert isinstance(probing, QuickProbing), probing
    return probing


def networks_in_use(store: Path) -> dict[int, int]:
    """Return the number of measured networks by threads that predictions use."""
    used = stored_signatures(store).measured
    return {target.threads: len(values.graphs) for target, values in used.items()}


def files(store: Path) -> set[str]:
    return {path.name for path in store.parent.iterdir()}


def test_all_threads_and_one_are_measured_in_one_block_of_each_network(store: Path) -> None:
    runner, reported = OneBlock(), list[Progress]()
    before = files(store)
    probing = probe_quickly(store, progress=reported.append, runner=runner)

    assert isinstance(probing, QuickProbing)
    names = [network.name for network in load_quick()]
    assert [[n.name for n in plan.networks] for plan in runner.plans] == [names] * len(counts())
    assert [plan.configuration.threads for plan in runner.plans] == counts()
    assert all(plan.sentinel is None and plan.settings.blocks == 1 for plan in runner.plans)
    assert networks_in_use(store) == dict.fromkeys(counts(), len(names))
    assert (probing.networks, len(probing.signature_ids)) == (len(names), len(counts()))
    assert {"dram_bw_gbps", "fp32_tflops"} <= probing.device.measured.keys()
    assert reported[0] == Progress(0, QUICK_S, "seconds of measuring this machine")
    assert reported[-1].done == QUICK_S
    assert has_signature(store, probing.device)
    assert files(store) == before | {store.name}, "the networks are removed"


def test_a_machine_on_its_battery_is_refused_at_once(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    battery = SimpleNamespace(power_plugged=False)
    monkeypatch.setattr(psutil, "sensors_battery", lambda: battery, raising=False)
    runner = OneBlock()
    refusal = probe_quickly(store, runner=runner)
    assert isinstance(refusal, Refusal)
    assert (refusal.obstacle, runner.plans) == (Obstacle.BATTERY, [])
    assert "battery" in refusal.words
    battery.power_plugged = None  # the system does not say
    assert on_battery() is None


def test_a_machine_that_other_programs_use_is_refused(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(OtherPrograms, "since", lambda _: OtherLoad(1.2, 2, {"firefox": 1.1}))
    runner = OneBlock()
    refusal = probe_quickly(store, runner=runner)
    assert isinstance(refusal, Refusal)
    assert refusal.obstacle is Obstacle.LOAD
    assert refusal.words.startswith("Other programs use 1.2 of 2 cores (firefox 1.1).")
    assert runner.plans == []
    assert not has_signature(store, describe_this_machine())


def test_networks_whose_process_was_stopped_do_not_look_like_other_programs(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loads = iter([IDLE, OtherLoad(1.2, 2, {})])
    monkeypatch.setattr(OtherPrograms, "since", lambda _: next(loads))

    assert len(measured(store).signature_ids) == len(counts())


def test_disturbed_blocks_are_not_stored(store: Path) -> None:
    refusal = probe_quickly(store, runner=OneBlock(contended=True))
    assert isinstance(refusal, Refusal)
    assert refusal.obstacle is Obstacle.UNSTEADY
    assert "other programs disturbed" in refusal.words
    with open_probing(store) as probing:
        assert (probing.signatures.all(), probing.sessions.all()) == ([], [])


def test_a_cancel_stores_nothing(store: Path) -> None:
    cancel, before = CancelToken(), files(store)
    with pytest.raises(CancelledError):
        probe_quickly(store, cancel, runner=OneBlock(lambda place: place == 2 and cancel.cancel()))
    with open_probing(store) as probing:
        assert (probing.signatures.all(), probing.sessions.all()) == ([], [])
    assert files(store) == before | {store.name}


def test_what_does_not_fit_into_the_time_is_left_out(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now_s = 0.0

    def go_on(seconds: float) -> None:
        nonlocal now_s
        now_s += seconds

    clock = SimpleNamespace(monotonic=lambda: now_s, sleep=go_on)
    monkeypatch.setattr(subject, "time", clock)
    probing = measured(store, OneBlock(lambda _: go_on(60.0)))
    assert probing.networks == MIN_NETWORKS
    assert networks_in_use(store) == dict.fromkeys(counts(), MIN_NETWORKS)


def probed(store: Path) -> str:
    """Store a signature of the user's own for all threads; return its id."""
    with open_probing(store) as probing:
        stored = next(entry for entry in probing.signatures.all() if is_quick(entry))
        facts = stored.facts.without("hardware")
        made = replace(stored.signature, id=uuid.uuid4().hex, active=True)
    with closing(open_database(store)) as database:
        records.add(database, made, facts)
    return made.id


def ids_in_use(store: Path) -> set[str]:
    return {ids[0] for ids in stored_signatures(store).ids.values()}


def test_a_probing_of_the_users_replaces_it_and_never_the_other_way_round(store: Path) -> None:
    first = measured(store)
    assert ids_in_use(store) == set(first.signature_ids)
    own = probed(store)
    rest = set(first.signature_ids[1:])
    assert ids_in_use(store) == {own, *rest}

    again = measured(store)
    assert ids_in_use(store) == {own, *again.signature_ids[1:]}
    with open_probing(store) as probing:
        probing.signatures.delete(own)
    assert ids_in_use(store) == set(again.signature_ids), "the ten seconds stand in"


def test_it_counts_on_the_hardware_that_was_measured(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = measured(store)
    other = replace(describe_this_machine(), name="This machine (another)")
    monkeypatch.setattr(signatures, "this_hardware", lambda: hardware_of(other))
    monkeypatch.setattr(subject, "describe_this_machine", lambda: other)
    assert ids_in_use(store) == set()
    assert not has_signature(store, other)
    second = measured(store)
    assert ids_in_use(store) == set(second.signature_ids)

    monkeypatch.undo()
    with closing(open_database(store)) as database:
        used = read_user_signatures(database)
    assert {ids[0] for ids in used.ids.values()} == set(first.signature_ids)
