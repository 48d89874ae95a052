import json
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from predictor.core.errors import InputError
from predictor.core.instruction_sets import INSTRUCTION_SETS
from predictor.core.metrics import MEASURABLE, METRICS, Family
from predictor.core.records import (
    Cluster,
    Configuration,
    Device,
    MeasuredRate,
    OperatingPoint,
    Precision,
)
from predictor.core.runtimes import RUNTIMES
from predictor.core.text import printable
from predictor.devices.configurations import implied_configurations
from predictor.devices.inference import stated_part
from predictor.devices.schema import (
    FIELDS,
    SCHEMA,
    device_from_object,
    device_to_json,
    read_device,
)
from tests.unit.devices.device_files import parse_device

RPI5 = {
    "schema": SCHEMA,
    "id": "rpi5",
    "name": "Raspberry Pi 5",
    "vendor": "Broadcom",
    "family": "mobile_cpu",
    "system": "raspberry-pi-5",
    "configurations": [{"runtime": "onnxruntime", "precision": "fp32", "threads": 4}],
    "clusters": [{"name": "Cortex-A76", "cores": 4, "clock_mhz": 2400, "fp32_au_per_core": 8}],
    "metrics": {"clock_mhz": 2400, "core_count": 4},
    "sources": {"clock_mhz": "datasheet", "core_count": "datasheet"},
    "notes": "first line\nsecond line",
}


def changed(**fields: object) -> dict[str, object]:
    return {**RPI5, **fields}


def refusal(content: object) -> str:
    with pytest.raises(InputError) as caught:
        parse_device(json.dumps(content).encode(), "my.json")
    return str(caught.value)


def refusal_or_nothing(content: dict[str, object]) -> str:
    try:
        device_from_object(content, "my.json")
    except InputError as error:
        return str(error)
    return ""


def test_a_device_file_becomes_a_device_with_every_field():
    result = device_from_object(RPI5, "my.json", as_stated=True)
    assert result.warnings == ()
    device = result.device
    assert (device.id, device.family, device.system) == (
        "rpi5",
        Family.MOBILE_CPU,
        "raspberry-pi-5",
    )
    assert device.configurations == (Configuration("onnxruntime", Precision.FP32, threads=4),)
    assert device.clusters == (
        Cluster(name="Cortex-A76", cores=4, clock_mhz=2400.0, fp32_au_per_core=8.0),
    )
    assert dict(device.metrics) == {"clock_mhz": 2400.0, "core_count": 4.0}
    assert device.notes == "first line\nsecond line"


def test_a_metric_that_is_not_named_is_absent_and_not_zero():
    device = device_from_object(RPI5, "my.json").device
    assert device.metric("dram_bw_gbps") is None


def test_an_unknown_metric_is_kept_apart_warned_about_and_written_back():
    content = changed(metrics={"clock_mhz": 2400, "future_metric": 7.5})
    result = device_from_object(content, "my.json")
    assert "future_metric" not in result.device.metrics
    assert dict(result.unknown_metrics) == {"future_metric": 7.5}
    assert any("future_metric" in warning for warning in result.warnings)
    again = parse_device(device_to_json(result.device, result.unknown_metrics).encode(), "x")
    assert again.unknown_metrics == result.unknown_metrics


def test_an_unknown_field_is_warned_about():
    result = device_from_object(changed(colour="green"), "my.json")
    assert result.warnings == ("field colour is no part of ctm-hcv/1 and was left out",)


def test_the_facts_beside_the_metrics_are_read():
    device = device_from_object(
        changed(
            chip="bcm2712",
            architecture="cortex-a76",
            instruction_sets=["neon", "dotprod"],
            measured={"dram_bw_gbps": {"value": 12.5, "source": "stream"}},
            operating_points=[{"name": "slow", "cpu_mhz": 1500, "cores": 2, "source": "vcgencmd"}],
        ),
        "my.json",
    ).device
    assert (device.chip, device.architecture) == ("bcm2712", "cortex-a76")
    assert device.instruction_sets == ("neon", "dotprod")
    assert dict(device.measured) == {"dram_bw_gbps": MeasuredRate(12.5, "stream")}
    assert device.operating_points == (
        OperatingPoint(name="slow", source="vcgencmd", cpu_mhz=1500.0, cores=2),
    )


def test_a_file_without_them_is_written_without_them():
    assert json.loads(device_to_json(device_from_object(RPI5, "x").device)) == RPI5


def test_without_configurations_the_facts_imply_them():
    content = {key: value for key, value in RPI5.items() if key != "configurations"}
    device = device_from_object(content, "x").device
    assert device.configurations == implied_configurations(device)


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_each_metric_is_refused_outside_of_its_range_with_value_range_and_unit(metric):
    for inside in (metric.low, metric.high):
        device_from_object(changed(metrics={metric.name: inside}), "x")
    for outside in (metric.low / 2, metric.high * 2, 0, -1):
        message = refusal(changed(metrics={metric.name: outside}))
        assert message.startswith(f"my.json: metrics.{metric.name} is ")
        assert "outside of" in message
        assert not metric.unit or f" {metric.unit};" in message


WRONG = {
    "number is text": (
        changed(metrics={"clock_mhz": "fast"}),
        "metrics.clock_mhz is a text where a number",
    ),
    "number is true": (changed(metrics={"clock_mhz": True}), "metrics.clock_mhz is true or false"),
    "number is null": (
        changed(metrics={"clock_mhz": None}),
        "is null where a number was expected; leave the field out where it is not known.",
    ),
    "number too large for a float": (
        changed(metrics={"clock_mhz": 10**400}),
        "metrics.clock_mhz is not a finite number",
    ),
    "unknown metric is text": (changed(metrics={"new": "x"}), "metrics.new is a text"),
    "metrics is a list": (changed(metrics=[1]), "metrics is a list where an object"),
    "id with space": (changed(id="rpi 5"), 'id is "rpi 5", which is not a slug'),
    "id upper case": (changed(id="RPi5"), "not a slug"),
    "id is path": (changed(id="../rpi5"), "not a slug"),
    "id empty": (changed(id=""), "id is empty"),
    "id ends in newline": (changed(id="rpi5\n"), "id holds hidden"),
    "id too long": (changed(id="a" * 65), "id has 65 characters, more than 64"),
    "name with NUL": (
        changed(name="Pi\x00"),
        r"name holds hidden or direction characters (Pi\x00)",
    ),
    "name right to left": (changed(name="Pi\u202e5"), r"(Pi\u202e5)"),
    "name half of a pair": (changed(name="Pi\ud800"), r"(Pi\ud800)"),
    "name is number": (changed(name=5), "name is a number where a text"),
    "family unknown": (changed(family="toaster"), 'family is "toaster"; use one of gpu, cpu,'),
    "runtime unknown": (
        changed(configurations=[{"runtime": "abacus"}]),
        'configurations 1.runtime is "abacus"; use one of onnxruntime,',
    ),
    "precision unknown": (
        changed(configurations=[{"precision": "fp7"}]),
        'configurations 1.precision is "fp7"; use one of fp32,',
    ),
    "precision is list": (changed(configurations=[{"precision": []}]), "is a list where a text"),
    "threads negative": (
        changed(configurations=[{"threads": -1}]),
        "configurations 1.threads is -1, outside of 0 to 100000",
    ),
    "threads half": (changed(configurations=[{"threads": 1.5}]), "where a whole number"),
    "configuration twice": (changed(configurations=[{}, {}]), "configurations 2 is listed twice"),
    "configuration field": (
        changed(configurations=[{"device": "x"}]),
        'configurations 1 has an unknown field "device"; use runtime, precision,',
    ),
    "no configuration": (changed(configurations=[]), "configurations is empty"),
    "cluster without clock": (
        changed(clusters=[{"name": "A", "cores": 1}]),
        "clusters 1.clock_mhz is missing",
    ),
    "cluster without cores": (
        changed(clusters=[{"name": "A", "cores": 0, "clock_mhz": 1}]),
        "clusters 1.cores is 0, outside of 1",
    ),
    "cluster field": (
        changed(clusters=[{"name": "A", "cores": 1, "clock_mhz": 1, "colour": "red"}]),
        'clusters 1 has an unknown field "colour"; use name, cores, clock_mhz, fp32_au_per_core,',
    ),
    "chip is number": (changed(chip=2712), "chip is a number where a text"),
    "chip empty": (changed(chip=""), "chip is empty"),
    "architecture no slug": (changed(architecture="Zen 4"), 'architecture is "Zen 4", which is'),
    "host architecture no slug": (changed(host_architecture="Z 4"), 'host_architecture is "Z 4"'),
    "architecture of a cluster": (
        changed(clusters=[{"name": "A", "cores": 1, "clock_mhz": 1, "architecture": []}]),
        "clusters 1.architecture is a list where a text",
    ),
    "instruction set unknown": (
        changed(instruction_sets=["avx2", "mmx"]),
        'instruction_sets 2 is "mmx"; use one of sse4, avx,',
    ),
    "instruction set twice": (changed(instruction_sets=["avx", "avx"]), "2 is listed twice"),
    "instruction set is list": (changed(instruction_sets=[[]]), "sets 1 is a list where a text"),
    "no instruction set": (changed(instruction_sets=[]), "instruction_sets is empty; leave it out"),
    "instruction sets are a text": (changed(instruction_sets="avx"), "is a text where a list"),
    "measured unknown": (
        changed(measured={"tdp_w": {"value": 5, "source": "x"}}),
        'measured has the rate "tdp_w"; use fp32_tflops,',
    ),
    "measured is number": (
        changed(measured={"dram_bw_gbps": 5}),
        "measured.dram_bw_gbps is a number where an object",
    ),
    "measured without source": (
        changed(measured={"dram_bw_gbps": {"value": 5}}),
        "measured.dram_bw_gbps.source is missing; add the field.",
    ),
    "measured out of range": (
        changed(measured={"launch_us": {"value": 0, "source": "x"}}),
        "measured.launch_us.value is 0, outside of 0.001 to 1000000 µs",
    ),
    "operating point without source": (
        changed(operating_points=[{"name": "15W"}]),
        "operating_points 1.source is missing",
    ),
    "operating point of unknown kind": (
        changed(operating_points=[{"name": "15W", "source": "x", "npu_mhz": 5}]),
        'operating_points 1 has an unknown field "npu_mhz"; use name, source, power_w,',
    ),
    "operating point out of range": (
        changed(operating_points=[{"name": "a", "source": "x", "cpu_mhz": 1.5e9}]),
        "operating_points 1.cpu_mhz is 1500000000, outside of 1 to 10000 MHz",
    ),
    "cores of an operating point": (
        changed(operating_points=[{"name": "a", "source": "x", "cores": 1.5}]),
        "operating_points 1.cores is 1.5 where a whole number",
    ),
    "source is number": (changed(sources={"clock_mhz": 1}), "sources.clock_mhz is a number"),
    "schema of a later version": (
        changed(schema="ctm-hcv/2"),
        'schema is "ctm-hcv/2", which this version cannot read',
    ),
    "of a box": (changed(schema="ctm-box/1"), "schema is that of a box; name a device; ctm load"),
    "no schema": ({"id": "x"}, 'this JSON is not a device file (it has no field "schema"'),
    "no id": ({"schema": SCHEMA}, "id is missing; add the field."),
    "notes too long": (changed(notes="a" * 4001), "notes has 4,001 characters"),
    "a metric's name is hostile": (changed(metrics={"a\u202e": 1}), "hidden or direction"),
}


@pytest.mark.parametrize(("content", "reason"), WRONG.values(), ids=WRONG.keys())
def test_a_wrong_field_is_refused_in_one_printable_sentence(content, reason):
    message = refusal(content)
    assert reason in message
    assert message.startswith("my.json: ")
    assert message.isprintable()
    assert message.endswith(".")


def test_too_many_metrics_are_refused():
    assert "has 201 entries, more than 200" in refusal(
        changed(metrics={f"m{i}": 1 for i in range(201)})
    )


def test_reading_names_the_file(tmp_path: Path):
    path = tmp_path / "rpi5.json"
    path.write_text(json.dumps(RPI5), encoding="utf-8")
    assert read_device(path).device.id == "rpi5"
    path.write_text(json.dumps(changed(vendor=3)), encoding="utf-8")
    with pytest.raises(InputError, match="vendor is a number") as caught:
        read_device(path)
    assert caught.value.subject == str(path)


texts = st.text(
    st.characters(max_codepoint=0x58F, categories=("Lu", "Ll", "Nd", "Po", "Sm")),
    min_size=1,
    max_size=20,
)
metric_values = st.fixed_dictionaries(
    {}, optional={m.name: st.floats(m.low, m.high) | st.just(float(int(m.high))) for m in METRICS}
)
configurations = st.lists(
    st.builds(
        Configuration,
        st.sampled_from(list(RUNTIMES)),
        st.sampled_from(Precision),
        st.integers(0, 64),
        st.integers(0, 64),
    ),
    min_size=1,
    max_size=6,
    unique=True,
).map(tuple)
slugs = st.from_regex(r"[a-z0-9]{1,8}(-[a-z0-9]{1,8}){0,3}", fullmatch=True)
sets = st.lists(st.sampled_from(list(INSTRUCTION_SETS)), max_size=4, unique=True).map(tuple)
clusters = st.lists(
    st.builds(
        Cluster,
        name=texts,
        cores=st.integers(1, 64),
        clock_mhz=st.floats(1, 10_000),
        fp32_au_per_core=st.none() | st.floats(1, 1e5),
        architecture=slugs | st.just(""),
        instruction_sets=sets,
    ),
    max_size=4,
).map(tuple)
measured = st.fixed_dictionaries(
    {},
    optional={
        metric.name: st.builds(MeasuredRate, st.floats(metric.low, metric.high), texts)
        for metric in MEASURABLE.values()
    },
)
megahertz = st.none() | st.floats(1, 10_000)
points = st.lists(
    st.builds(
        OperatingPoint,
        name=texts,
        source=texts,
        power_w=st.none() | st.floats(1, 1000),
        cpu_mhz=megahertz,
        gpu_mhz=megahertz,
        memory_mhz=megahertz,
        cores=st.none() | st.integers(1, 64),
    ),
    max_size=3,
).map(tuple)
devices = st.builds(
    Device,
    id=slugs,
    name=texts,
    vendor=texts,
    family=st.sampled_from(Family),
    metrics=metric_values,
    sources=st.dictionaries(st.sampled_from([m.name for m in METRICS]), texts),
    configurations=configurations,
    clusters=clusters,
    system=texts | st.just(""),
    notes=texts | st.just("") | st.just("a\nb"),
    chip=slugs | st.just(""),
    architecture=slugs | st.just(""),
    host_architecture=slugs | st.just(""),
    instruction_sets=sets,
    measured=measured,
    operating_points=points,
)


@pytest.mark.slow
@given(devices)
def test_a_device_written_and_read_again_is_the_same(device: Device):
    read = parse_device(device_to_json(device).encode(), "x").device

    assert stated_part(read) == device


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.sampled_from([*FIELDS, "extra"]), json_values)
@example("metrics", {"0\xa0": None})  # a space that may not break misleads nobody
def test_any_value_of_any_field_is_either_read_or_refused_in_a_sentence(field, value):
    sentence = refusal_or_nothing({**RPI5, field: value})

    assert printable(sentence) == sentence
