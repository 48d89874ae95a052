"""Fields of a device that follow from its names, and stated ones, which stay."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from predictor.core.metrics import Family
from predictor.core.records import Cluster, Device
from predictor.devices.architectures import instruction_sets, kind
from predictor.devices.form import check_form, fields_of
from predictor.devices.inference import (
    inference_sentences,
    name_contradictions,
    stated_part,
    with_inferred,
)
from predictor.devices.schema import DeviceFile, device_from_object, device_to_object

I7 = "Intel(R) Core(TM) i7-8700K CPU @ 3.70GHz"
HYBRID = "12th Gen Intel(R) Core(TM) i7-1260P"
BASIC = {"clock_mhz": 3700.0, "core_count": 6.0, "dram_bw_gbps": 41.6}


def device(name: str = I7, family: Family = Family.CPU, **facts: Any) -> Device:
    base = Device(id="a-pc", name=name, vendor="Intel", family=family, metrics=BASIC)
    return replace(base, **facts)


def clusters(*names: str) -> tuple[Cluster, ...]:
    return tuple(
        Cluster(name=name, cores=4 + 4 * place, clock_mhz=4700.0 - 1300 * place)
        for place, name in enumerate(names)
    )


def test_a_processor_gets_design_and_lanes_with_their_reason() -> None:
    made = with_inferred(device())
    assert (made.architecture, made.metric("fp32_au_per_core")) == ("skylake-client", 16)
    assert kind(made) == "x86"
    assert instruction_sets(made) == ("sse4", "avx", "avx2")
    assert made.sources["fp32_au_per_core"] == "inferred: lanes of the design Intel Skylake, client"
    assert inference_sentences(made) == (
        (
            "not stated, so taken from i7-8700K: 8th generation, Coffee Lake and its kin: "
            "architecture skylake-client, 16 FP32 lanes a core"
        ),
    )


def test_what_is_stated_stays_and_the_contradiction_is_said() -> None:
    made = with_inferred(device(architecture="zen-3", chip="vermeer"))
    assert (made.architecture, made.chip) == ("zen-3", "vermeer")
    assert name_contradictions(made) == (
        (
            "architecture is zen-3, but the name means skylake-client (i7-8700K: 8th generation, "
            "Coffee Lake and its kin); the stated one is used"
        ),
    )
    content = device_to_object(made)
    assert content["architecture"] == "zen-3"
    read = device_from_object(content, "my.json")
    assert any("but the name means skylake-client" in text for text in read.warnings)


def test_stated_lanes_and_sets_stay() -> None:
    made = with_inferred(
        device("Intel Xeon Gold 6248", instruction_sets=("avx2",), metrics={"fp32_au_per_core": 8})
    )
    assert made.architecture == "skylake-server"
    assert (made.instruction_sets, made.metric("fp32_au_per_core")) == (("avx2",), 8)


def test_a_product_has_sets_and_lanes_beside_its_design() -> None:
    made = with_inferred(device("Intel(R) Xeon(R) Silver 4210R CPU @ 2.40GHz"))
    assert "avx512-vnni" in made.instruction_sets
    assert made.metric("fp32_au_per_core") == 16


def test_clusters_have_the_designs_of_their_names() -> None:
    made = with_inferred(device("My phone", Family.MOBILE_CPU, clusters=clusters("A78", "A55")))
    assert [(c.architecture, c.fp32_au_per_core) for c in made.clusters] == [
        ("cortex-a78", 8),
        ("cortex-a55", 4),
    ]


def test_clusters_without_names_have_those_of_the_processor() -> None:
    made = with_inferred(device(HYBRID, clusters=clusters("P-cores", "E-cores")))
    assert [c.architecture for c in made.clusters] == ["golden-cove", "gracemont"]
    assert made.architecture == ""


def test_a_hybrid_whose_cores_are_all_counted_gets_its_clusters() -> None:
    made = with_inferred(device(HYBRID, metrics={"boost_clock_mhz": 4700, "core_count": 12}))
    assert [(c.name, c.cores, c.clock_mhz) for c in made.clusters] == [
        ("Intel Golden Cove", 4, 4700),
        ("Intel Gracemont", 8, 3400),
    ]


def test_a_hybrid_with_another_number_of_cores_has_the_design_of_the_fastest_alone() -> None:
    made = with_inferred(device(HYBRID, metrics={"boost_clock_mhz": 4700, "core_count": 4}))
    assert (made.clusters, made.architecture) == ((), "golden-cove")
    assert made.metric("fp32_au_per_core") is None


def test_a_card_gets_its_chip() -> None:
    made = with_inferred(device("NVIDIA GeForce RTX 3070 Ti Laptop GPU", Family.GPU))
    assert (made.chip, made.architecture) == ("ga104", "ampere-ga10x-geforce")
    assert made.metric("fp32_au_per_core") == 128
    # 512 multiply-adds of an SM a clock, two operations each.
    assert made.metric("fp16_tflops") == pytest.approx(512 * 6 * 3700 * 2e-6, rel=1e-3)
    assert made.sources["fp16_tflops"].startswith("inferred: clock x cores")
    assert "FP16 peak 22.73 TFLOP/s" in inference_sentences(made)[0]


def test_a_stated_rate_stays_and_the_others_follow() -> None:
    made = with_inferred(
        device("NVIDIA L4", Family.GPU, vendor="NVIDIA", metrics={**BASIC, "int8_tops": 242.0})
    )
    assert made.metric("int8_tops") == 242
    assert made.metric("fp16_tflops") is not None
    assert stated_part(made).metrics == {**BASIC, "int8_tops": 242.0}


@pytest.mark.parametrize("field", ["system", "chip"])
def test_the_system_and_the_chip_are_names_too(field: str) -> None:
    made = with_inferred(device("My board", Family.MOBILE_CPU, **{field: "BCM2711".lower()}))
    assert made.architecture == "cortex-a72"


def test_a_name_that_means_nothing_changes_nothing() -> None:
    plain = device("My computer")
    assert with_inferred(plain) == plain


@pytest.mark.parametrize(
    "plain",
    [
        device(),
        device(HYBRID, clusters=clusters("P-cores", "E-cores")),
        device(HYBRID, metrics={"core_count": 12}),
        device("Xeon Silver 4210R"),
        device("Snapdragon 888", Family.MOBILE_CPU, metrics={"core_count": 8}),
        device("RTX 3090", Family.GPU),
    ],
    ids=lambda plain: plain.name,
)
def test_only_what_is_stated_is_written_and_reading_it_infers_the_same(plain: Device) -> None:
    made = with_inferred(plain)
    assert made != plain
    assert stated_part(made) == plain
    assert with_inferred(made) == made
    content = device_to_object(made)
    assert {"architecture", "chip", "instruction_sets"}.isdisjoint(content)
    assert device_from_object(content, "x").device.inferences == made.inferences


def test_a_value_that_was_changed_since_is_a_stated_one() -> None:
    made = with_inferred(device())
    changed = replace(made, metrics={**made.metrics, "fp32_au_per_core": 8.0})
    assert stated_part(changed).metric("fp32_au_per_core") == 8.0


def test_the_printed_inferences_of_a_file_are_no_unknown_field() -> None:
    content = {**device_to_object(device()), "inferred": [{"field": "architecture"}]}
    assert device_from_object(content, "x").unknown_fields == ()


def test_the_form_shows_what_is_stated_and_its_device_has_the_rest() -> None:
    fields = fields_of(DeviceFile(with_inferred(device())))
    assert fields.architecture == ""
    assert "fp32_au_per_core" not in fields.available
    check = check_form(fields)
    assert check.entry is not None
    assert check.entry.device.architecture == "skylake-client"
    check = check_form(replace(fields, architecture="zen-3"))
    assert any("but the name means" in finding.sentence for finding in check.findings)
