"""This machine with its rates: kept by hardware, measured where none are."""

from __future__ import annotations

import json
import os
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from predictor.core.errors import CancelledError, HostError
from predictor.core.metrics import COMPUTED_HERE, Family
from predictor.core.progress import CancelToken, Progress
from predictor.core.records import Device, SustainedRates
from predictor.services.devices.this_machine import (
    MachineRates,
    describe_this_machine,
    hardware_of,
    is_this_machine,
    lacks_rates,
    machine_title,
    measure_rates,
    this_machine,
)

RATES = SustainedRates(20.0, 0.1, 0.35, "2026-01-31")
MACHINE = Device(
    id="this-machine",
    name="This machine (Core X)",
    vendor="V",
    family=Family.CPU,
    metrics={"core_count": 4, "clock_mhz": 3000, "fp32_tflops": 0.9},
    sources={"core_count": "this machine: /sys", "fp32_tflops": COMPUTED_HERE},
)


@pytest.fixture
def kept(tmp_path: Path) -> MachineRates:
    return MachineRates(tmp_path / "new" / "store.db")


def file_of(tmp_path: Path) -> Path:
    return tmp_path / "new" / "machine-rates.json"


def with_cores(count: int, source: str = "this machine: /sys") -> Device:
    return replace(
        MACHINE,
        metrics={**MACHINE.metrics, "core_count": count},
        sources={**MACHINE.sources, "core_count": source},
    )


def refuse(machine: Device) -> SustainedRates:
    raise AssertionError(f"{machine.name} is measured")


def test_rates_are_kept_for_hardware(kept: MachineRates):
    others = (with_cores(8), replace(MACHINE, name="This machine (Core Y)"))
    kept.keep(others[0], replace(RATES, copy_gbps=30.0))
    assert kept.of(MACHINE) is None
    kept.keep(MACHINE, RATES)
    assert kept.of(MACHINE) == RATES
    assert kept.of(others[0]) == replace(RATES, copy_gbps=30.0)
    assert kept.of(others[1]) is None


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such rights")
def test_the_folder_that_is_made_is_the_users_alone(kept: MachineRates, tmp_path: Path):
    kept.keep(MACHINE, RATES)
    assert stat.S_IMODE(file_of(tmp_path).parent.stat().st_mode) == 0o700


def test_a_clock_that_a_virtual_machine_states_as_it_is_now_is_no_other_hardware(
    kept: MachineRates,
):
    kept.keep(MACHINE, RATES)
    assert kept.of(replace(MACHINE, metrics={**MACHINE.metrics, "clock_mhz": 1200})) == RATES


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[" * 100_000,
        "[]",
        '{"machines": 1}',
        '{"machines": {"KEY": 1}}',
        '{"machines": {"KEY": {"copy_gbps": 1, "day": ""}}}',
        '{"machines": {"KEY": {"copy_gbps": -1, "product_tflops": 1, "day": ""}}}',
        '{"machines": {"KEY": {"copy_gbps": NaN, "product_tflops": 1, "day": ""}}}',
    ],
)
def test_a_damaged_file_keeps_nothing_and_is_written_anew(
    kept: MachineRates, tmp_path: Path, text: str
):
    kept.keep(MACHINE, RATES)
    (key,) = json.loads(file_of(tmp_path).read_text(encoding="utf-8"))["machines"]
    file_of(tmp_path).write_text(text.replace("KEY", key), encoding="utf-8")
    assert kept.of(MACHINE) is None
    kept.keep(MACHINE, RATES)
    assert kept.of(MACHINE) == RATES


@pytest.mark.slow
def test_rates_are_measured_once_and_each_second_of_it_is_told(kept: MachineRates):
    seconds: list[Progress] = []
    measured: list[SustainedRates] = []

    def measure(machine: Device) -> SustainedRates:
        measured.append(measure_rates(machine, kept, pytest.fail, progress=seconds.append))
        return measured[-1]

    device = this_machine(None, kept, measure)
    assert not lacks_rates(device)
    assert device.measured.keys() == {"dram_bw_gbps", "fp32_tflops", "core_fp32_tflops"}
    assert [p.done for p in seconds] == sorted({p.done for p in seconds})
    assert (seconds[0].done, seconds[-1].done, seconds[-1].total) == (0, 2, 2)
    assert this_machine(None, kept, refuse) == device
    assert kept.of(describe_this_machine()) == measured[0]


def test_a_cancelled_measurement_keeps_nothing(kept: MachineRates, tmp_path: Path):
    token = CancelToken()
    with pytest.raises(CancelledError):
        # The first progress comes once the child runs.
        measure_rates(MACHINE, kept, pytest.fail, token, lambda _: token.cancel())
    assert not file_of(tmp_path).exists()


@pytest.mark.slow
def test_rates_that_cannot_be_written_are_used_all_the_same(tmp_path: Path):
    (tmp_path / "new").write_text("a file where the folder should be", encoding="utf-8")
    errors: list[HostError] = []
    rates = measure_rates(MACHINE, MachineRates(tmp_path / "new" / "store.db"), errors.append)
    assert rates.copy_gbps > 0
    assert "make the folder writable" in str(errors[0])


def test_nothing_is_measured_where_nobody_asks(kept: MachineRates, tmp_path: Path):
    device = this_machine(None, kept)
    assert "dram_bw_gbps" not in device.metrics
    assert not file_of(tmp_path).exists()


def test_the_users_own_device_of_this_hardware_gets_kept_rates(kept: MachineRates):
    machine = describe_this_machine()
    kept.keep(machine, RATES)
    own = replace(machine, name="My desk", notes="under the desk")
    device = this_machine(own, kept, refuse)
    assert (device.name, device.notes) == ("My desk", "under the desk")
    assert device.metric("dram_bw_gbps") == RATES.copy_gbps


def test_rates_that_the_user_states_are_not_measured(kept: MachineRates):
    machine = describe_this_machine()
    stated = {"dram_bw_gbps": 51.2, "fp32_tflops": 1.5}
    sources = {**machine.sources, "dram_bw_gbps": "datasheet", "fp32_tflops": "datasheet"}
    own = replace(machine, metrics={**machine.metrics, **stated}, sources=sources)
    assert this_machine(own, kept, refuse) == own


def test_the_users_own_device_of_other_hardware_is_not_this_machine(kept: MachineRates):
    machine = describe_this_machine()
    kept.keep(machine, RATES)
    more = {**machine.metrics, "core_count": 1000.0}
    assert this_machine(replace(machine, metrics=more), kept, refuse).metric("core_count") != 1000
    # The user's word counts, what was detected once does not.
    said = replace(machine, metrics=more, sources={**machine.sources, "core_count": "I say so"})
    assert this_machine(said, kept, refuse).metric("core_count") == 1000


def test_another_processor_or_core_count_is_other_hardware():
    assert is_this_machine(MACHINE, MACHINE)
    assert not is_this_machine(with_cores(8), MACHINE)
    assert is_this_machine(with_cores(8, "me"), MACHINE)
    assert not is_this_machine(replace(MACHINE, name="This machine (Core Y)"), MACHINE)
    assert is_this_machine(replace(MACHINE, name="My desk"), MACHINE)


def test_the_name_of_earlier_versions_is_the_same_machine(kept: MachineRates):
    now = replace(MACHINE, name="This PC (Core X)")
    assert is_this_machine(MACHINE, now)
    assert not is_this_machine(replace(MACHINE, name="This machine (Core Y)"), now)
    kept.keep(MACHINE, RATES)
    assert kept.of(now) == RATES
    assert hardware_of(now) == hardware_of(MACHINE)


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("This machine (Core X (R) 7)", "This PC (Core X (R) 7)"),
        ("This PC (Core X)", "This PC (Core X)"),
        ("This machine", "This PC"),
        ("This PC", "This PC"),
        ("My desk", "This PC (My desk)"),
    ],
)
def test_its_title_names_the_processor(name: str, title: str):
    assert machine_title(replace(MACHINE, name=name)) == title


def test_a_rate_that_was_only_computed_is_lacking():
    assert lacks_rates(MACHINE)
    both = {**MACHINE.metrics, "dram_bw_gbps": 20.0}
    assert lacks_rates(replace(MACHINE, metrics=both))
    assert not lacks_rates(replace(MACHINE, metrics=both, sources={}))
