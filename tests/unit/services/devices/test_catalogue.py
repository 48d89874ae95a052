import json
from pathlib import Path

import pytest

from predictor.core.errors import InputError
from predictor.core.metrics import Family
from predictor.core.records import Device
from predictor.devices.catalogue import devices_dir
from predictor.services.devices.catalogue import (
    DEFAULT_DEVICE_IDS,
    Catalogue,
    load_catalogue,
)


def device(id_: str, name: str, vendor: str = "NVIDIA") -> Device:
    return Device(id=id_, name=name, vendor=vendor, family=Family.GPU, metrics={})


SMALL = Catalogue(
    [
        device("rtx3090-ti", "NVIDIA GeForce RTX 3090 Ti"),
        device("rtx3090", "NVIDIA GeForce RTX 3090"),
        device("rx6900-xt", "AMD Radeon RX 6900 XT", "AMD"),
        device("a100-pcie", "NVIDIA A100 PCIe 40 GB"),
        device("a100-sxm", "NVIDIA A100 SXM4 40 GB"),
    ]
)


def refusal(text: str, catalogue: Catalogue = SMALL) -> str:
    with pytest.raises(InputError) as caught:
        catalogue.find(text)
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("rtx3090", "rtx3090"),
        ("RTX 3090", "rtx3090"),
        ("rtx-3090", "rtx3090"),
        ("rtx3090ti", "rtx3090-ti"),
        ("3090 ti", "rtx3090-ti"),
        ("nvidia geforce rtx 3090", "rtx3090"),
        ("radeon", "rx6900-xt"),
        ("a100 sxm", "a100-sxm"),
        ("SXM4", "a100-sxm"),
        ("sxm4 nvidia", "a100-sxm"),
    ],
)
def test_a_device_is_found_by_id_name_or_unique_part(text: str, found: str):
    assert SMALL.find(text).id == found


def test_a_part_that_several_devices_have_lists_them():
    assert refusal("a100") == (
        "a100: fits 2 devices: a100-pcie, a100-sxm; name one device, or run `ctm devices list`."
    )


def test_a_long_list_of_candidates_is_cut():
    many = Catalogue(device(f"gpu-{number:02}", f"GPU {number}") for number in range(20))
    assert "fits 20 devices: gpu-00, gpu-01" in refusal("gpu", many)
    assert "gpu-07 and 12 more;" in refusal("gpu", many)


def test_a_misspelt_device_suggests_the_nearest():
    assert "did you mean rtx3090 or rtx3090-ti" in refusal("rtx-3091")
    assert "did you mean rx6900-xt" in refusal("rx-6800-xt")


def test_nonsense_suggests_nothing_and_says_what_to_do():
    assert refusal("zzzzzz") == (
        "zzzzzz: is no device of the catalogue; name one device, or run `ctm devices list`."
    )


@pytest.mark.parametrize("text", ["", "   ", "--", "\u202e"])
def test_a_text_without_a_letter_names_no_device(text: str):
    message = refusal(text)
    assert "names no device" in message
    assert message.isprintable()


@pytest.mark.parametrize(
    "text",
    ["THIS", "this pc", "This PC", "this machine", "this-machine", "my machine", "My Computer"],
)
def test_this_is_this_machine(text: str):
    found = load_catalogue().find(text)
    assert found.id == "this-machine"
    assert found.metric("core_count") >= 1


def test_a_path_is_read_as_a_device_file(tmp_path: Path):
    content = json.loads((devices_dir() / "rpi5.json").read_text(encoding="utf-8"))
    path = tmp_path / "mine.json"
    path.write_text(json.dumps({**content, "id": "mine"}), encoding="utf-8")
    assert SMALL.find(str(path)).id == "mine"


def test_a_missing_device_file_is_named(tmp_path: Path):
    path = str(tmp_path / "none.json")
    assert refusal(path).startswith(f"{path}: there is no such file")


def test_a_path_that_is_too_long_is_no_device():
    assert "is no device of the catalogue" in refusal("/" + "a" * 5000)


def test_search_wants_every_word_in_any_order_and_case():
    assert [d.id for d in SMALL.search("40 a100")] == ["a100-pcie", "a100-sxm"]
    assert [d.id for d in SMALL.search("AMD gpu")] == ["rx6900-xt"]
    assert SMALL.search("nothing such") == ()


def test_an_empty_search_finds_every_device_in_order_of_id():
    ids = [d.id for d in SMALL.search("")]
    assert ids == sorted(ids) == list(SMALL.by_id)


def test_two_devices_of_one_id_are_a_defect():
    with pytest.raises(ValueError, match="one id"):
        Catalogue([device("a", "A"), device("a", "B")])


def test_every_shipped_device_is_found_by_its_id_and_by_its_name():
    catalogue = load_catalogue()
    for shipped in catalogue.devices:
        assert catalogue.find(shipped.id) is shipped
        assert catalogue.find(shipped.name) is shipped


def test_every_default_device_is_in_the_catalogue():
    devices = load_catalogue().cross_section

    assert tuple(device.id for device in devices) == DEFAULT_DEVICE_IDS
    assert len({device.family for device in devices}) >= 3, "a cross-section of classes"
    assert Catalogue([]).cross_section == ()
