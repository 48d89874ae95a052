"""The shipped targets prepared in a file: whose they are, and that they change no bit."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from ctm_research.training.prepared import write_prepared
from predictor.core.metrics import MEASURED_HERE, Family
from predictor.core.records import Cluster, Device, MeasuredRate, Precision, Target
from predictor.cost.rates.typical import Rates
from predictor.cost.roofline import PeakRates, RatedTargets
from predictor.engine.checkpoint import ESTIMATE, checksum, read_checkpoint
from predictor.engine.closertome import CloserToMeEngine
from predictor.engine.estimate import Estimate
from predictor.engine.operator_factors import Contexts
from predictor.engine.targets import lookup
from predictor.engine.targets.prepared import (
    FEWEST,
    PREPARED,
    PreparedTargets,
    key_of,
    read_prepared,
)
from predictor.services.devices.catalogue import load_catalogue
from predictor.services.prediction.targets import resolve_targets
from tests.support.estimates import SHIPPED, samples
from tests.support.graphs import make_target

pytestmark = pytest.mark.slow

MOST_BYTES = 1_500_000
ANEW = "write it anew: ctm train --targets-only --out resources/checkpoints/closertome"


@cache
def shipped_targets() -> tuple[Target, ...]:
    """Return the targets of ``--all``."""
    return resolve_targets(load_catalogue().devices)


@cache
def looked_up() -> PreparedTargets:
    return PreparedTargets.of(read_checkpoint(SHIPPED).estimate, shipped_targets())


def shipped_prepared() -> PreparedTargets:
    found = read_prepared(SHIPPED, checksum(SHIPPED / ESTIMATE), shipped_targets())
    assert found is not None, ANEW
    return found


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    """Return a copy of the checkpoint that ships, prepared on this machine."""
    folder = Path(shutil.copytree(SHIPPED, tmp_path / "checkpoint"))
    write_prepared(folder, shipped_targets())
    return folder


def arrays_of(known: PreparedTargets) -> dict[str, np.ndarray]:
    estimates = known.estimates
    own = ("usual", "factors", "ahead", "context", "variance", "unknown", "wide")
    records: Sequence[Rates | PeakRates | Contexts] = (
        estimates.rates,
        estimates.contexts,
        known.rated.rates,
    )
    return {name: getattr(estimates, name) for name in own} | {
        f"{type(record).__name__}.{field.name}": getattr(record, field.name)
        for record in records
        for field in fields(record)
    }


def words_of(known: PreparedTargets) -> list[object]:
    estimates, states, rated = known.estimates, known.states, known.rated
    of_estimates = [list(estimates.evidence), list(estimates.doubts), dict(estimates.fits)]
    of_states = [list(states)]
    return [*of_estimates, *of_states, list(estimates.targets), rated.columns, dict(rated.problems)]


def test_the_file_that_ships_belongs_to_the_estimate_and_the_catalogue() -> None:
    assert words_of(shipped_prepared()) == words_of(looked_up()), ANEW
    assert (SHIPPED / PREPARED).stat().st_size < MOST_BYTES


def test_its_numbers_are_those_of_this_program() -> None:
    """To the last bits of a product in FP32, which another processor may sum in another order."""
    ours, prepared = arrays_of(looked_up()), arrays_of(shipped_prepared())

    assert ours.keys() == prepared.keys()
    for name, array in ours.items():
        np.testing.assert_allclose(prepared[name], array, rtol=1e-5, atol=1e-6, err_msg=ANEW)


def test_what_is_written_is_read_to_the_last_bit(checkpoint: Path) -> None:
    known = read_prepared(checkpoint, checksum(checkpoint / ESTIMATE), shipped_targets())

    assert known is not None
    assert words_of(known) == words_of(looked_up())
    for name, array in arrays_of(looked_up()).items():
        prepared = arrays_of(known)[name]
        assert (prepared.dtype, prepared.shape) == (array.dtype, array.shape)
        assert prepared.tobytes() == array.tobytes(), name


def test_predictions_are_equal_to_the_last_bit_with_and_without_it(checkpoint: Path) -> None:
    graphs = list(samples().values())
    prepared = CloserToMeEngine(checkpoint).predict(graphs, shipped_targets(), {})
    (checkpoint / PREPARED).unlink()
    computed = CloserToMeEngine(checkpoint).predict(graphs, shipped_targets(), {})

    for field in fields(computed):
        with_it, without = getattr(prepared, field.name), getattr(computed, field.name)
        if isinstance(without, np.ndarray):
            assert with_it.tobytes() == without.tobytes(), field.name
        else:
            assert with_it == without, field.name


def test_all_shipped_devices_are_not_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("looked up")

    engine = CloserToMeEngine(SHIPPED)
    monkeypatch.setattr(lookup, "states_of", refuse)
    for kind in (RatedTargets, Estimate):
        monkeypatch.setattr(kind, "of", refuse)

    table = engine.predict([samples()["yolov3-tiny-416"]], shipped_targets(), {})

    assert table.latency_ms.shape == (1, len(shipped_targets()))


def test_other_targets_are_looked_up_as_ever(checkpoint: Path) -> None:
    """One device less, one with another fact, another order: whatever the file says is not read."""
    engine, graph = CloserToMeEngine(checkpoint), samples()["yolov3-tiny-416"]
    first, *rest = shipped_targets()
    faster = {name: 2 * value for name, value in first.device.metrics.items()}
    moved = Target(replace(first.device, metrics=faster), first.configuration)
    asked = ([*rest], [moved, *rest], [*rest, first])
    prepared = [engine.predict([graph], targets, {}) for targets in asked]
    (checkpoint / PREPARED).unlink()

    for targets, table in zip(asked, prepared, strict=True):
        computed = CloserToMeEngine(checkpoint).predict([graph], targets, {})
        # What is remembered of one list serves the next: equal but for the last bits.
        np.testing.assert_allclose(table.latency_ms, computed.latency_ms, rtol=1e-12)


def damage(folder: Path, content: bytes | None) -> None:
    if content is None:
        (folder / PREPARED).unlink()
    else:
        (folder / PREPARED).write_bytes(content)


@pytest.mark.parametrize(
    "content",
    [None, b"", b"no archive", (SHIPPED / PREPARED).read_bytes()[:100_000]],
    ids=["missing", "empty", "foreign", "cut"],
)
def test_a_file_that_is_not_whole_costs_time_alone(tmp_path: Path, content: bytes | None) -> None:
    folder = Path(shutil.copytree(SHIPPED, tmp_path / "checkpoint"))
    damage(folder, content)

    assert read_prepared(folder, checksum(folder / ESTIMATE), shipped_targets()) is None
    table = CloserToMeEngine(folder).predict([samples()["yolov3-tiny-416"]], shipped_targets(), {})
    assert np.isfinite(table.latency_ms).sum() > FEWEST


def test_a_file_of_another_estimate_is_passed_over() -> None:
    assert read_prepared(SHIPPED, "0" * 64, shipped_targets()) is None


# --- The key ---

DEVICE = replace(
    make_target(family=Family.CPU).device,
    clusters=(Cluster(name="big", cores=4, clock_mhz=2000.0),),
    measured={"launch_us": MeasuredRate(5.0, "a bench")},
)
CHANGES: list[Callable[[Device], Device]] = [
    lambda d: replace(d, id="other"),
    lambda d: replace(d, name="Other"),
    lambda d: replace(d, vendor="Other"),
    lambda d: replace(d, family=Family.GPU),
    lambda d: replace(d, system="other"),
    lambda d: replace(d, chip="other"),
    lambda d: replace(d, architecture="other"),
    lambda d: replace(d, instruction_sets=("avx2",)),
    lambda d: replace(d, host_architecture="other"),
    lambda d: replace(d, sources={"fp32_tflops": f"{MEASURED_HERE}: a product"}),
    lambda d: replace(d, metrics={**d.metrics, "dram_bw_gbps": 1.0}),
    lambda d: replace(d, configurations=()),
    lambda d: replace(d, clusters=()),
    lambda d: replace(d, clusters=(replace(d.clusters[0], clock_mhz=1.0),)),
    lambda d: replace(d, clusters=(replace(d.clusters[0], architecture="other"),)),
    lambda d: replace(d, measured={"launch_us": MeasuredRate(6.0, "a bench")}),
]


@pytest.mark.parametrize("change", CHANGES)
def test_the_key_is_of_every_fact(change: Callable[[Device], Device]) -> None:
    configuration = make_target().configuration

    def key(device: Device) -> str:
        return key_of("estimate", [Target(device, configuration)])

    assert key(DEVICE) == key(replace(DEVICE))
    assert key(change(DEVICE)) != key(DEVICE)


def test_the_key_is_of_the_configuration_the_order_and_the_estimate() -> None:
    one = Target(DEVICE, make_target().configuration)
    half = Target(DEVICE, replace(one.configuration, precision=Precision.FP16))
    keys = [
        key_of("estimate", [one]),
        key_of("other", [one]),
        key_of("estimate", [half]),
        key_of("estimate", [one, half]),
        key_of("estimate", [half, one]),
    ]

    assert len(set(keys)) == len(keys)
