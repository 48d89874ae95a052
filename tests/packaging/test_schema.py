import json

import pytest
from make_schema import FILE, device_json_schema, json_schema_text

from predictor.core.errors import InputError
from predictor.core.metrics import METRICS
from predictor.devices.catalogue import devices_dir
from predictor.devices.schema import FIELDS, device_from_object

EXAMPLE = json.loads((devices_dir() / "rk3588-cpu.json").read_text(encoding="utf-8"))


def test_the_shipped_file_is_the_generated_one():
    assert FILE.read_text(encoding="utf-8") == json_schema_text()


def test_it_names_every_field_and_metric():
    properties = device_json_schema()["properties"]
    assert tuple(properties) == FIELDS
    assert list(properties["metrics"]["properties"]) == [metric.name for metric in METRICS]


def test_what_it_requires_is_required():
    schema = device_json_schema()
    for name in schema["required"]:
        content = {key: value for key, value in EXAMPLE.items() if key != name}
        with pytest.raises(InputError):
            device_from_object(content, "x")
    kept = {key: EXAMPLE[key] for key in schema["required"]}
    assert device_from_object(kept, "x").device.id == "rk3588-cpu"


def test_its_ranges_are_those_of_the_validation():
    for name, rule in device_json_schema()["properties"]["metrics"]["properties"].items():
        for value in (rule["minimum"], rule["maximum"]):
            device_from_object({**EXAMPLE, "metrics": {name: value}}, "x")
        for value in (rule["minimum"] * 0.99, rule["maximum"] * 1.01):
            with pytest.raises(InputError):
                device_from_object({**EXAMPLE, "metrics": {name: value}}, "x")


def test_its_choices_are_those_of_the_validation():
    properties = device_json_schema()["properties"]
    for family in properties["family"]["enum"]:
        assert device_from_object({**EXAMPLE, "family": family}, "x").device.family == family
    rules = properties["configurations"]["items"]["properties"]
    for name in ("runtime", "precision"):
        for choice in rules[name]["enum"]:
            content = {**EXAMPLE, "configurations": [{name: choice}]}
            (configuration,) = device_from_object(content, "x").device.configurations
            assert getattr(configuration, name) == choice
