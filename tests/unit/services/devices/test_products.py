"""The shipped products, and the look-up of devices by the name on the box."""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import MappingProxyType

import pytest

from predictor.core.errors import InputError
from predictor.core.metrics import Family
from predictor.core.records import Device
from predictor.services.devices import products as module
from predictor.services.devices.catalogue import Catalogue, load_catalogue
from predictor.services.devices.products import (
    Product,
    ProductKind,
    Unit,
    exact_products,
    product_entry,
    product_sentence,
    search_products,
    shipped_products,
    split_unit,
)

FAMILIES = {
    Unit.CPU: {Family.CPU, Family.MOBILE_CPU, Family.MCU},
    Unit.GPU: {Family.GPU, Family.MOBILE_GPU},
    Unit.NPU: {Family.NPU, Family.FPGA, Family.ASIC},
}
CHIPS = {
    "Dragon 2": {Unit.CPU: "dragon-2", Unit.GPU: "dragon-2-gpu", Unit.NPU: "dragon-2-npu"},
    "Exa 9": {Unit.CPU: "exa-9", Unit.GPU: ""},
    "Exa 10": {Unit.CPU: "", Unit.GPU: "", Unit.NPU: ""},
}


def product(name: str, chip: str, region: str = "", *aliases: str) -> Product:
    return Product(
        name=name,
        aliases=aliases,
        maker="Samsung",
        kind=ProductKind.PHONE,
        year=2023,
        chip=chip,
        region=region,
        source="example.org",
        device_ids=MappingProxyType(CHIPS[chip]),
    )


PRODUCTS = (
    product("Galaxy S23", "Dragon 2", "", "SM-S911B"),
    product("Galaxy S23+", "Dragon 2", "", "SM-S916B"),
    product("Galaxy S22", "Exa 9", "Europe", "SM-S901B"),
    product("Galaxy S22", "Dragon 2", "America", "SM-S901U"),
    product("Galaxy A54", "Exa 10"),
    product("Galaxy A50", "Exa 10"),
)


def device(id_: str, name: str, family: Family = Family.MOBILE_CPU) -> Device:
    return Device(id=id_, name=name, vendor="", family=family, metrics={})


def catalogue(products: Callable[[], Sequence[Product]] = lambda: PRODUCTS) -> Catalogue:
    return Catalogue(
        [
            device("dragon-2", "Dragon 2 (CPU)"),
            device("dragon-2-gpu", "Dragon 2 (GPU)", Family.MOBILE_GPU),
            device("dragon-2-npu", "Dragon 2 (NPU)", Family.NPU),
            device("exa-9", "Exa 9 of the Galaxy S23 Active (CPU)"),
            device("galaxy-a50", "Galaxy A50 (CPU)"),
        ],
        products=products,
    )


SMALL = catalogue()


def ids(devices: Iterable[Device]) -> set[str]:
    return {item.id for item in devices}


def refusal(text: str) -> str:
    with pytest.raises(InputError) as caught:
        SMALL.match(text)
    return str(caught.value)


def words_text(name: str) -> str:
    return " ".join(re.findall(r"[a-z]+|[0-9]+", name.casefold()))


def test_there_are_products_of_all_kinds_with_sources_and_years() -> None:
    products = shipped_products()

    assert len({item.name for item in products}) >= 200
    assert {item.kind for item in products} == set(ProductKind)
    assert [item.name for item in products if not re.match(r"[\w.-]+\.\w+[/:]", item.source)] == []
    this_year = dt.datetime.now(dt.UTC).year
    assert [item.name for item in products if not 2010 <= item.year <= this_year] == []


def test_every_unit_of_a_product_is_a_device_of_that_family() -> None:
    by_id = load_catalogue().by_id
    units = {(unit, id_) for item in shipped_products() for unit, id_ in item.device_ids.items()}

    assert [id_ for unit, id_ in units if id_ and by_id[id_].family not in FAMILIES[unit]] == []
    assert all(item.device_ids for item in shipped_products())


# Variants of a chip by whole names; others say theirs in brackets.
VARIANTS = {"Snapdragon 855+", "Snapdragon X Elite X1E-80-100", "Core i5-1240P"}


@pytest.mark.slow
def test_a_product_has_each_unit_that_the_catalogue_has_of_its_chip() -> None:
    devices = load_catalogue().devices
    for product in shipped_products():
        if "(" in product.chip or product.chip in VARIANTS:
            continue
        own = [d for d in devices if d.id in product.device_ids.values()]
        chips, systems = {d.chip for d in own} - {""}, {d.system for d in own} - {""}
        for device in devices:
            unit = next((u for u, kinds in FAMILIES.items() if device.family in kinds), None)
            if unit and (device.chip in chips or device.system in systems):
                assert product.device_ids.get(unit), (product.chip, device.id)


def test_a_processor_is_that_of_the_chip_of_its_name() -> None:
    named = {words_text(product.chip): product for product in shipped_products()}
    for device in load_catalogue().devices:
        product = named.get(words_text(device.id))
        if product and device.family is Family.MOBILE_CPU:
            assert product.device_ids[Unit.CPU] == device.id


def test_most_products_have_a_device() -> None:
    matches = load_catalogue().products()

    assert sum(bool(match.devices) for match in matches) > len(matches) * 0.7


def test_products_of_one_name_differ_in_chip_and_say_where() -> None:
    products = shipped_products()
    names = Counter(item.name.casefold() for item in products)
    several = [item for item in products if names[item.name.casefold()] > 1]

    assert several
    assert len({(item.name, item.chip) for item in several}) == len(several)
    assert [item.name for item in several if not item.region] == []
    assert [item.name for item in products if item.region and item not in several] == []


def test_no_name_or_model_number_means_two_products() -> None:
    owners: dict[str, set[str]] = {}
    for item in shipped_products():
        for key in item.keys:
            owners.setdefault(key, set()).add(item.name)

    assert {key: names for key, names in owners.items() if len(names) > 1} == {}


@pytest.mark.slow
def test_every_product_is_found_by_its_name_maker_and_model_numbers() -> None:
    shipped = load_catalogue()
    for match in shipped.products():
        item = match.product
        assert item is not None
        if item.region or not match.devices:
            continue
        for text in (item.name, f"{item.maker} {item.name}", *item.aliases):
            assert ids(shipped.match(text).devices) <= ids(match.devices), text


def test_a_product_is_all_its_devices_and_a_unit_is_one() -> None:
    assert [d.id for d in SMALL.match("galaxy-s23").devices] == [
        *("dragon-2", "dragon-2-gpu", "dragon-2-npu")
    ]
    assert SMALL.match("Samsung GALAXY S23").product is PRODUCTS[0]
    assert SMALL.match("sm-s916b").product is PRODUCTS[1]
    assert SMALL.match("galaxy s23 plus").product is PRODUCTS[1]
    assert [d.id for d in SMALL.match("galaxy s23 npu").devices] == ["dragon-2-npu"]
    assert SMALL.find("Galaxy S23 (GPU)").id == "dragon-2-gpu"


def test_one_device_is_named_where_one_is_wanted() -> None:
    with pytest.raises(InputError) as caught:
        SMALL.find("galaxy s23")

    assert str(caught.value) == (
        "galaxy s23: the Galaxy S23 is 3 devices: dragon-2, dragon-2-gpu, dragon-2-npu; "
        "name one of them."
    )
    assert SMALL.find("galaxy s22 exa").id == "exa-9"


def test_an_id_of_the_store_is_no_part_and_no_product() -> None:
    assert SMALL.stored("exa-9").id == "exa-9"
    for identity in ("exa9", "s23-active", "galaxy-s23"):
        with pytest.raises(InputError):
            SMALL.stored(identity)


def test_a_name_of_a_device_stays_the_device() -> None:
    match = SMALL.match("galaxy a50")

    assert (match.product, match.devices[0].id) == (None, "galaxy-a50")
    assert SMALL.match("s23 active").devices[0].id == "exa-9"


def test_the_whole_name_of_a_product_comes_before_a_part_of_a_device() -> None:
    assert SMALL.match("galaxy s23").product is PRODUCTS[0]


def test_products_of_one_name_are_asked_apart() -> None:
    assert refusal("galaxy s22") == (
        "galaxy s22: the Galaxy S22 is sold with Exa 9 (Europe) and Dragon 2 (America); "
        'add the chip, such as "Galaxy S22 Exa 9".'
    )
    for text in ("Galaxy S22 Exa 9", "SM-S901B", "galaxy s22 europe"):
        assert SMALL.match(text).product is PRODUCTS[2]


def test_words_that_products_of_several_chips_have_list_them() -> None:
    assert "fits 3 products: Galaxy S22, Galaxy A54, Galaxy A50; name one" in refusal("samsung exa")


def test_words_that_devices_and_products_have_list_both() -> None:
    assert refusal("dragon") == (
        "dragon: fits 3 devices: dragon-2, dragon-2-gpu, dragon-2-npu; "
        "name one device, or run `ctm devices list`."
    )
    assert "fits 2 devices: exa-9, galaxy-a50, and 5 products: Galaxy S23, Galaxy S23+, " in (
        refusal("galaxy")
    )


def test_words_that_products_of_one_chip_have_mean_its_devices() -> None:
    assert len(SMALL.match("samsung dragon s23").devices) == 3


def test_a_chip_that_the_catalogue_lacks_is_named() -> None:
    assert refusal("galaxy a54").startswith(
        "galaxy a54: the Galaxy A54 is built on the Exa 10, which the catalogue does not have;"
    )
    assert "whose GPU the catalogue does not have" in refusal("galaxy s22 exa gpu")
    assert "the Exa 9, which has no NPU" in refusal("galaxy s22 exa npu")


def test_a_misspelt_product_suggests_the_nearest() -> None:
    assert "did you mean Galaxy S23 or " in refusal("galxy s23")
    assert "did you mean" not in refusal("zzzzzz")


def test_a_shipped_misspelling_suggests_products() -> None:
    with pytest.raises(InputError, match="Orange Pi 5 or "):
        load_catalogue().match("orangepi 55")


def test_an_id_reads_no_product() -> None:
    def unread() -> Sequence[Product]:
        raise AssertionError("the table was read")

    without = catalogue(unread)
    assert without.match("dragon-2").devices == without.match("Dragon 2 (CPU)").devices
    assert [d.id for d in without.search("dragon npu")] == ["dragon-2-npu"]


def test_user_devices_are_named_beside_products() -> None:
    both = Catalogue(
        SMALL.devices, lambda: [device("my-s23", "Galaxy S23")], products=lambda: PRODUCTS
    )

    assert both.find("galaxy s23").id == "my-s23"
    assert both.match("sm-s911b").product is PRODUCTS[0]


def test_a_search_begins_words_and_puts_the_newest_first() -> None:
    phones = [match.product for match in load_catalogue().products("phone")]
    years = [item.year for item in phones if item is not None]

    assert len(years) == len(phones) > 100
    assert years == sorted(years, reverse=True)
    assert years[0] - years[-1] >= 5
    assert [item.name for item in search_products("S22 dragon", PRODUCTS)] == ["Galaxy S22"]
    assert search_products("alaxy", PRODUCTS) == ()
    assert search_products("exa", (PRODUCTS[2], product("Exa Note", "Dragon 2")))[1] is PRODUCTS[2]
    assert search_products("", PRODUCTS) == PRODUCTS


def test_the_name_itself_comes_before_longer_ones() -> None:
    assert exact_products("galaxy s23", PRODUCTS) == PRODUCTS[:1]
    assert exact_products("galaxy", PRODUCTS) == ()


@pytest.mark.parametrize(
    ("text", "name", "unit"),
    [
        ("rock 5b npu", "rock 5b", Unit.NPU),
        ("Pixel 8 (GPU)", "Pixel 8", Unit.GPU),
        ("cpu", "cpu", None),
        ("rock 5b", "rock 5b", None),
    ],
)
def test_the_unit_stands_last(text: str, name: str, unit: Unit | None) -> None:
    assert split_unit(text) == (name, unit)


def test_a_sentence_says_what_stands_for_a_product_and_what_lacks() -> None:
    exa = SMALL.match("galaxy s22 exa")
    one = SMALL.match("galaxy s23 npu")

    assert product_sentence(PRODUCTS[2], exa.devices) == (
        "The Galaxy S22 has the Exa 9: exa-9; the catalogue does not have its GPU."
    )
    assert product_sentence(PRODUCTS[0], one.devices) == (
        "The Galaxy S23 has the Dragon 2: dragon-2-npu."
    )
    assert product_entry(PRODUCTS[2], exa.devices)["devices"] == ["exa-9"]


def test_a_damaged_table_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "products"
    folder.mkdir()
    (folder / "chips.csv").write_text("chip,cpu,gpu,npu\nExa 9,exa-9,,-\n", encoding="utf-8")
    row = "Galaxy S22,,Samsung,phone,2022,Exa 9,,example.org/s22"
    header = "name,aliases,maker,kind,year,chip,region,source"
    monkeypatch.setattr(module, "resources_dir", lambda: tmp_path)
    read = shipped_products.__wrapped__

    (folder / "products.csv").write_text(f"{header}\n{row}\n", encoding="utf-8")
    (item,) = read()
    assert (item.aliases, item.device_ids) == ((), {Unit.CPU: "exa-9", Unit.GPU: ""})
    for wrong in (row.replace("2022", "new"), row.replace("Exa 9", "Exa 8"), "Galaxy S22", ""):
        (folder / "products.csv").write_text(f"{header}\n{wrong}\n" if wrong else "", "utf-8")
        with pytest.raises(InputError, match="is no table of products"):
            read()
