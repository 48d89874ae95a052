"""Names as people and tools write them, and the designs that they mean."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predictor.core.errors import InputError
from predictor.core.instruction_sets import INSTRUCTION_SETS
from predictor.core.metrics import Family
from predictor.core.records import Device
from predictor.devices.architectures import architectures
from predictor.devices.catalogue import shipped_devices
from predictor.devices.inference import with_inferred
from predictor.devices.names import CORE, UNITS, cores_named, design_named, names_dir, read_rows

CPU, GPU, NPU, MCU = Family.CPU, Family.GPU, Family.NPU, Family.MCU
PHONE, MOBILE_GPU = Family.MOBILE_CPU, Family.MOBILE_GPU

# Devices whose name means no one design: several dies, or a processor that its host hides.
OPEN_NAMES = {"xeon-amx-vm-2"}


@pytest.mark.parametrize(
    ("text", "family", "architecture"),
    [
        ("i7-8700K", CPU, "skylake-client"),
        ("Intel(R) Core(TM) i7-8700K CPU @ 3.70GHz", CPU, "skylake-client"),
        ("12th Gen Intel(R) Core(TM) i5-12400", CPU, "golden-cove"),
        ("11th Gen Intel(R) Core(TM) i7-1165G7 @ 2.80GHz", CPU, "sunny-cove"),
        ("Intel(R) Core(TM) i7-1065G7 CPU @ 1.30GHz", CPU, "sunny-cove"),
        ("Intel Core i9-7900X", CPU, "skylake-server"),
        ("Intel(R) Core(TM) Ultra 7 155H", CPU, "redwood-cove"),
        ("Intel(R) N100", CPU, "gracemont"),
        ("Intel(R) Celeron(R) N5105 @ 2.00GHz", CPU, "tremont"),
        ("Intel(R) Pentium(R) CPU N4200 @ 1.10GHz", CPU, "goldmont"),
        ("Intel(R) Xeon(R) CPU E5-2670 0 @ 2.60GHz", CPU, "sandy-bridge"),
        ("Intel(R) Xeon(R) CPU E5-2686 v4 @ 2.30GHz", CPU, "broadwell"),
        ("Intel(R) Xeon(R) CPU           X5650  @ 2.67GHz", CPU, "nehalem"),
        ("Intel(R) Xeon(R) Gold 6248 CPU @ 2.50GHz", CPU, "skylake-server"),
        ("Intel(R) Xeon(R) Platinum 8375C CPU @ 2.90GHz", CPU, "sunny-cove-server"),
        ("Intel(R) Xeon(R) Platinum 8380H CPU @ 2.90GHz", CPU, "skylake-server"),
        ("INTEL(R) XEON(R) PLATINUM 8592+", CPU, "golden-cove-server"),
        ("Intel(R) Xeon(R) 6980P", CPU, "redwood-cove-server"),
        ("AMD Ryzen 7 5800X 8-Core Processor", CPU, "zen-3"),
        ("AMD Ryzen 7 5700U with Radeon Graphics", CPU, "zen-2"),
        ("AMD Ryzen 5 3400G with Radeon Vega Graphics", CPU, "zen"),
        ("AMD Ryzen 5 3600 6-Core Processor", CPU, "zen-2"),
        ("AMD Ryzen 7 PRO 7730U", CPU, "zen-3"),
        ("AMD Ryzen AI 9 HX 370 w/ Radeon 890M", CPU, "zen-5-mobile"),
        ("AMD EPYC 7B13", CPU, "zen-3"),
        ("AMD EPYC 9654 96-Core Processor", CPU, "zen-4"),
        ("AMD EPYC 7542 32-Core Processor", CPU, "zen-2"),
        ("c6i.12xlarge", CPU, "sunny-cove-server"),
        ("AWS c7g.xlarge", CPU, "neoverse-v1"),
        ("AWS Graviton @ 2.4 GHz", CPU, "cortex-a72"),
        ("Neoverse-N1", CPU, "neoverse-n1"),
        ("Snapdragon 8 Gen 2", PHONE, "cortex-x3"),
        ("SM8550", PHONE, "cortex-x3"),
        ("kalama", PHONE, "cortex-x3"),
        ("GS101", PHONE, "cortex-x1"),
        ("MT6989", PHONE, "cortex-x4"),
        ("Raspberry Pi 4 Model B Rev 1.4", PHONE, "cortex-a72"),
        ("BCM2711", PHONE, "cortex-a72"),
        ("RK3588S", PHONE, "cortex-a76"),
        ("RK3588 (Cortex-A55 cores)", PHONE, "cortex-a55"),
        ("RK3588 (4x Cortex-A76 + 4x Cortex-A55)", PHONE, "cortex-a76"),
        ("Redmi 6 Pro (SD625, 8xA53@2.0)", PHONE, "cortex-a53"),
        ("Apple M2 Pro", CPU, "apple-avalanche"),
        ("GeForce RTX 3070 Ti", GPU, "ampere-ga10x-geforce"),
        ("rtx3090", GPU, "ampere-ga10x-geforce"),
        ("NVIDIA GeForce RTX 3070 Ti Laptop GPU", GPU, "ampere-ga10x-geforce"),
        ("NVIDIA RTX A4000", GPU, "ampere-ga10x"),
        ("Quadro RTX 8000", GPU, "turing"),
        ("Tesla V100-SXM2-32GB", GPU, "volta"),
        ("NVIDIA A100-SXM4-40GB", GPU, "ampere-ga100"),
        ("NVIDIA L4", GPU, "ada"),
        ("AMD Radeon RX 7900 XTX", GPU, "rdna-3"),
        ("gfx90a", GPU, "cdna-2"),
        ("Intel(R) Iris(R) Xe Graphics", GPU, "xe-lp"),
        ("Intel(R) Arc(TM) A770 Graphics", GPU, "xe-hpg"),
        ("Adreno (TM) 640", MOBILE_GPU, "adreno-6xx"),
        ("Mali-G76", MOBILE_GPU, "mali-bifrost"),
        ("Immortalis-G720 MC12", MOBILE_GPU, "mali-5th-gen"),
        ("Snapdragon 8 Gen 3", NPU, "hexagon-v75"),
        ("Google Coral USB Accelerator", NPU, "edgetpu"),
        ("STM32F746 Discovery", MCU, "cortex-m7"),
    ],
)
def test_a_name_means_a_design(text: str, family: Family, architecture: str) -> None:
    named = design_named(text, family)
    assert named is not None
    assert named.architecture == architecture
    assert named.reason


@pytest.mark.parametrize(
    ("text", "family"),
    [
        ("My computer", CPU),
        ("Intel(R) Xeon(R) Processor @ 2.60GHz", CPU),
        ("Samsung Galaxy A55", PHONE),  # no Cortex-A55
        ("A10 Fusion", GPU),  # no NVIDIA A10
        ("NVIDIA TITAN X (Maxwell or Pascal)", GPU),
        ("i7-8700K or Ryzen 7 5800X", CPU),
        ("Model 8700", CPU),
        ("", CPU),
        ("Процессор №1", CPU),
    ],
)
def test_a_name_that_means_none_or_several_means_nothing(text: str, family: Family) -> None:
    named = design_named(text, family)
    assert named is None or named.architecture == ""


@pytest.mark.parametrize(
    ("text", "architecture"),
    [
        ("Cortex-A76 2.6 GHz", "cortex-a76"),
        ("A78", "cortex-a78"),
        ("X925", "cortex-x925"),
        ("Kryo 585 Gold", "cortex-a77"),
        ("Kryo 280 Silver", "cortex-a53"),
        ("Firestorm", "apple-firestorm"),
        ("Lion Cove", "lion-cove"),
        ("Oryon, prime", "oryon"),
    ],
)
def test_the_name_of_a_cluster_means_its_cores(text: str, architecture: str) -> None:
    named = cores_named(text)
    assert named is not None
    assert named.architecture == architecture


def test_the_reason_has_the_name_as_it_is_written() -> None:
    named = design_named("Intel(R) Core(TM) i7-8700K CPU @ 3.70GHz", CPU)
    assert named is not None
    assert named.reason == "i7-8700K: 8th generation, Coffee Lake and its kin"


def test_the_table_names_designs_and_instruction_sets_that_there_are() -> None:
    for row in read_rows():
        assert row["names"]
        assert row.keys() <= {*UNITS, CORE, "names", "as", "chip", "sets", "lanes", "vendor"}, row
        assert row.keys() & {*UNITS, CORE}, row
        for unit in {*UNITS, CORE} & row.keys():
            stated = row[unit]
            designs = [stated] if isinstance(stated, str) else [kind[0] for kind in stated]
            assert designs[0]
            assert set(designs) - {""} <= architectures().keys(), row
        assert set(row.get("sets", "").split()) <= INSTRUCTION_SETS.keys()


def test_a_table_of_another_schema_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "new.json").write_text('{"schema": "ctm-names/2", "groups": []}')
    monkeypatch.setattr("predictor.devices.names.names_dir", lambda: tmp_path)
    with pytest.raises(InputError, match='is not "ctm-names/1"'):
        read_rows()


@given(st.text(max_size=200), st.sampled_from(Family))
def test_any_text_is_a_name_or_none(text: str, family: Family) -> None:
    named, lower = design_named(text, family), design_named(text.lower(), family)
    assert named is None or named.architecture or named.chip
    if text.isascii():
        assert (named and named.architecture) == (lower and lower.architecture)


def test_each_group_of_the_table_has_a_source() -> None:
    for path in names_dir().glob("*.json"):
        for group in json.loads(path.read_text(encoding="utf-8"))["groups"]:
            assert group["title"]
            assert len(group["source"]) >= 8


def stripped(device: Device) -> Device:
    """Return a device with its name, family, vendor, clock and cores alone."""
    basic = ("clock_mhz", "boost_clock_mhz", "core_count", "dram_bw_gbps")
    clusters = (
        replace(cluster, architecture="", instruction_sets=(), fp32_au_per_core=None)
        for cluster in device.clusters
    )
    return Device(
        id="a-device",
        name=device.name,
        vendor=device.vendor,
        family=device.family,
        metrics={name: device.metrics[name] for name in basic if name in device.metrics},
        clusters=tuple(clusters),
    )


def designs(device: Device) -> list[str]:
    return [device.architecture, *(cluster.architecture for cluster in device.clusters)]


def test_the_names_of_shipped_devices_mean_what_they_state() -> None:
    wrong = {}
    stating = [device for device in shipped_devices() if any(designs(device))]
    for device in stating:
        inferred = with_inferred(stripped(device))
        if designs(inferred) != designs(device):
            wrong[device.id] = designs(inferred)
    assert wrong.keys() <= OPEN_NAMES
    assert all(not any(found) for found in wrong.values())
    assert len(wrong) <= 0.05 * len(stating)


def test_a_chip_that_a_name_means_is_the_one_that_is_stated() -> None:
    for device in shipped_devices():
        inferred = with_inferred(stripped(device))
        if device.chip:
            assert inferred.chip in {"", device.chip}, device.id
