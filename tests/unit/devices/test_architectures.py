import json

import pytest

from predictor.core.errors import InputError
from predictor.core.metrics import Family
from predictor.core.records import Cluster, Device
from predictor.devices import names
from predictor.devices.architectures import (
    KINDS,
    SCHEMA,
    architecture_of,
    architectures,
    instruction_sets,
    kind,
    load_architectures,
    silicon,
)
from predictor.devices.catalogue import load_device_files


def device(family=Family.CPU, vendor="Example", **facts):
    return Device(id="board", name="Board", vendor=vendor, family=family, metrics={}, **facts)


def cluster(**facts):
    return Cluster(name="Fast", cores=4, clock_mhz=2400.0, **facts)


def test_every_fact_of_the_shipped_table_has_a_source():
    for row in architectures().values():
        named = set(row.numbers) | ({"in_order"} if row.in_order is not None else set())
        named |= {"matrix_lanes"} if row.matrix_lanes else set()
        assert named <= row.sources.keys(), row.id
        assert row.isa in KINDS


def test_a_design_follows_another_one_of_the_table():
    rows = architectures()
    assert {row.follows for row in rows.values()} - {""} <= rows.keys()
    for row in rows.values():
        before, seen = row.follows, {row.id}
        while before:
            assert before not in seen, row.id
            seen.add(before)
            before = rows[before].follows


def test_every_shipped_device_has_a_kind():
    assert {kind(entry.device) for entry in load_device_files()} <= set(KINDS)


def test_lanes_of_a_core_are_those_of_its_vector_units():
    rows = [r for r in architectures().values() if {"vector_bits", "fma_pipes"} <= r.numbers.keys()]
    assert rows
    for row in rows:
        if "fp32_lanes" in row.numbers:
            lanes = row.numbers["vector_bits"] / 32 * row.numbers["fma_pipes"]
            assert row.numbers["fp32_lanes"] == lanes, row.id


def test_the_table_is_not_read_with_the_catalogue(monkeypatch):
    def refuse(_folder):
        raise AssertionError("the table was read")

    def refuse_names():
        raise AssertionError("the names were read")

    monkeypatch.setattr("predictor.devices.architectures.load_architectures", refuse)
    monkeypatch.setattr("predictor.devices.names.read_rows", refuse_names)
    names._table.cache_clear()
    architectures.cache_clear()
    try:
        assert load_device_files()
    finally:
        architectures.cache_clear()


def test_a_device_has_the_architecture_of_its_fastest_cluster():
    slow = Cluster(name="Slow", cores=4, clock_mhz=1800.0, architecture="cortex-a55")
    assert architecture_of(device(architecture="zen-4")).id == "zen-4"
    parts = device(clusters=(cluster(architecture="cortex-a76"), slow))
    assert architecture_of(parts).id == "cortex-a76"
    assert architecture_of(slow).in_order is True
    assert architecture_of(device(architecture="no-such")) is None
    assert architecture_of(device()) is None


def test_instruction_sets_tell_the_kind_of_a_processor_of_unknown_design():
    assert kind(device(instruction_sets=("avx2",))) == "x86"
    assert kind(device(instruction_sets=("neon",))) == "arm"
    assert kind(device(instruction_sets=("none",))) == "cpu"


def test_own_instruction_sets_go_before_those_of_the_architecture():
    of_zen_4 = architectures()["zen-4"].instruction_sets
    assert instruction_sets(device(architecture="zen-4")) == of_zen_4
    assert instruction_sets(device(architecture="zen-4", instruction_sets=("avx2",))) == ("avx2",)
    fast = cluster(architecture="cortex-a76", instruction_sets=("neon",))
    slow = cluster(architecture="cortex-a55")
    parts = device(clusters=(fast, slow))
    assert instruction_sets(parts) == ("neon",)
    assert instruction_sets(parts, slow) == ("neon", "fp16", "dotprod")
    assert instruction_sets(device()) == ()


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({"architecture": "zen-4", "chip": "raphael"}, "zen-4"),
        ({"clusters": (cluster(architecture="cortex-a76"),), "chip": "rk3588"}, "cortex-a76"),
        ({"family": Family.GPU, "architecture": "ampere-ga10x", "chip": "ga102"}, "ga102"),
        ({"family": Family.GPU, "architecture": "ampere-ga10x"}, "ampere-ga10x"),
        ({"family": Family.GPU, "vendor": "NVIDIA", "architecture": "x", "chip": "gx1"}, "gx1"),
        (
            {"family": Family.MOBILE_GPU, "architecture": "adreno-6xx", "chip": "snapdragon-855"},
            "adreno-6xx",
        ),
        ({"family": Family.NPU, "architecture": "hailo-8"}, "hailo-8"),
        (
            {"family": Family.NPU, "architecture": "hexagon-v73", "chip": "qcm6690"},
            "qcm6690 hexagon-v73",
        ),
        (
            {"family": Family.ASIC, "architecture": "nvdla-orin", "chip": "orin"},
            "orin nvdla-orin",
        ),
        ({"family": Family.FPGA, "architecture": "dpu-b4096", "chip": "xck26"}, "dpu-b4096"),
        ({"family": Family.NPU, "chip": "rv1126"}, "rv1126"),
        ({}, "board"),
    ],
)
def test_silicon_is_the_design_or_the_die(facts, expected):
    assert silicon(device(**facts)) == expected


def test_accelerators_share_silicon_on_one_chip_alone():
    chips: dict[str, set[str]] = {}
    for entry in load_device_files():
        if kind(entry.device) == "npu" and entry.device.chip:
            chips.setdefault(silicon(entry.device), set()).add(entry.device.chip)
    assert all(len(of_silicon) == 1 for of_silicon in chips.values())
    assert chips["snapdragon-8-gen-2 hexagon-v73"] == {"snapdragon-8-gen-2"}


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({"architecture": "zen-4"}, "x86"),
        ({"family": Family.MOBILE_CPU, "architecture": "spacemit-x60"}, "riscv"),
        ({"family": Family.MOBILE_CPU}, "arm"),
        ({}, "cpu"),
        ({"family": Family.GPU, "architecture": "ampere-ga10x"}, "nvidia"),
        ({"family": Family.GPU, "vendor": "AMD"}, "amd-gpu"),
        ({"family": Family.GPU}, "gpu"),
        ({"family": Family.MOBILE_GPU, "architecture": "adreno-6xx"}, "mobile-gpu"),
        ({"family": Family.MCU, "architecture": "cortex-a55"}, "mcu"),
        ({"family": Family.FPGA}, "fpga"),
        ({"family": Family.ASIC}, "npu"),
    ],
)
def test_kind_is_the_isa_of_the_design_else_of_the_family(facts, expected):
    assert kind(device(**facts)) == expected


ROW = {"title": "A core", "vendor": "Arm", "isa": "arm"}
WRONG = {
    "no schema": ({"architectures": {}}, "schema is not"),
    "no table": ({"schema": SCHEMA}, "architectures is null where an object"),
    "id": ({"schema": SCHEMA, "architectures": {"A 1": ROW}}, "not a slug"),
    "isa": ({"a1": {**ROW, "isa": "z80"}}, 'a1.isa is "z80"; use one of x86,'),
    "title": ({"a1": {"vendor": "Arm", "isa": "arm"}}, "a1.title is missing"),
    "field": ({"a1": {**ROW, "colour": "red"}}, "a1.colour is no field"),
    "fact": ({"a1": {**ROW, "facts": {"speed": 1}}}, "a1.facts.speed is no fact"),
    "text": ({"a1": {**ROW, "facts": {"fp32_lanes": "8"}}}, "a1.facts.fp32_lanes is a text"),
    "zero": ({"a1": {**ROW, "facts": {"fp32_lanes": 0}}}, "a1.facts.fp32_lanes is not above 0"),
    "order": ({"a1": {**ROW, "facts": {"in_order": 1}}}, "a1.facts.in_order is neither"),
    "sets": ({"a1": {**ROW, "instruction_sets": ["mmx"]}}, 'instruction_sets 1 is "mmx"; use one'),
    "lanes": (
        {"a1": {**ROW, "facts": {"matrix_lanes": {"fp7": 1}}}},
        "a1.facts.matrix_lanes.fp7 is no fact",
    ),
}


@pytest.mark.parametrize(("content", "message"), WRONG.values(), ids=WRONG.keys())
def test_a_wrong_table_is_refused_in_one_sentence(tmp_path, content, message):
    if not content.keys() & {"schema", "architectures"}:
        content = {"schema": SCHEMA, "architectures": content}
    (tmp_path / "cpu.json").write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load_architectures(tmp_path)
    assert message in str(caught.value)
    assert str(caught.value).count(". ") == 0


def test_one_id_in_two_tables_is_refused(tmp_path):
    text = json.dumps({"schema": SCHEMA, "architectures": {"a1": ROW}})
    for name in ("one.json", "two.json"):
        (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"two\.json: .*a1 is in two tables"):
        load_architectures(tmp_path)
