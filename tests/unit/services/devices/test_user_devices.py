from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from predictor.core.errors import HostError, InputError
from predictor.core.metrics import Family
from predictor.core.records import Cluster, Configuration, Device, Precision
from predictor.devices.configurations import implied_configurations
from predictor.devices.schema import DeviceFile
from predictor.services.devices.catalogue import Catalogue, load_catalogue
from predictor.services.devices.user_devices import (
    copy_of,
    export_device,
    import_device,
    stored_devices,
    unused_id,
    user_devices_of,
)
from predictor.services.history.history import History, open_history
from predictor.store.database import open_database
from predictor.store.devices import load_all, put

BOARD = Device(
    id="my-board",
    name="My Board",
    vendor="Acme",
    family=Family.MOBILE_CPU,
    metrics={"clock_mhz": 1800.0, "core_count": 4.0, "dram_bw_gbps": 12.8},
    sources={"clock_mhz": "board manual, page 3"},
    configurations=(Configuration("ncnn", Precision.FP16, 4), Configuration("ncnn")),
    clusters=(Cluster(name="Big core", cores=4, clock_mhz=1800.0, fp32_au_per_core=8.0),),
    notes="first line\nsecond line",
)
NEUSIGHT = {
    "Device": "NVIDIA Test 1",
    "Dev_Mem": 8,
    "Mem_Bw": 320,
    "Num_Sm": 20,
    "Core_Per_SM": 128,
    "Freq": 1500,
    "SingleFLOPs": 7680,
    "L2Cache": 4,
}


@pytest.fixture
def history(tmp_path: Path) -> Iterator[History]:
    with open_history(tmp_path / "store.db") as history:
        yield history


def write(path: Path, content: object) -> Path:
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_what_is_saved_comes_back_equal_from_another_opening(tmp_path: Path) -> None:
    entry = DeviceFile(BOARD, unknown_metrics={"cache_lines": 12.0})
    with open_history(tmp_path / "store.db") as history:
        history.devices.save(entry)
    with open_history(tmp_path / "store.db") as history:
        (back,) = history.devices.all()
    assert back.device == BOARD
    assert dict(back.unknown_metrics) == {"cache_lines": 12.0}
    assert any("core_count has no source" in warning for warning in back.warnings)


def test_a_stored_device_is_inferred_when_it_is_read_and_stored_as_stated(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    plain = replace(BOARD, name="Intel Core i7-8700K", family=Family.CPU, clusters=())
    with open_history(path) as history:
        saved = history.devices.save(DeviceFile(plain))
        (back,) = history.devices.all()
    with closing(open_database(path)) as database:
        (raw,) = load_all(database)
    (read,) = stored_devices(path)

    assert saved.device == back.device == read
    assert (read.architecture, read.metric("fp32_au_per_core")) == ("skylake-client", 16)
    assert (raw.architecture, raw.metric("fp32_au_per_core")) == ("", None)
    assert raw == plain


def test_a_device_of_which_nobody_said_what_it_runs_runs_what_its_facts_imply(
    tmp_path: Path,
) -> None:
    path = tmp_path / "store.sqlite"
    gpu = Device(
        id="g",
        name="G",
        vendor="V",
        family=Family.GPU,
        metrics={"fp32_tflops": 10.0, "fp16_tflops": 20.0},
    )
    with closing(open_database(path)) as database:
        put(database, gpu)  # as an older version stored it
    (kept,) = stored_devices(path)
    assert kept.configurations == implied_configurations(gpu)
    with open_history(path) as history:
        (entry,) = history.devices.all()
        saved = history.devices.save(DeviceFile(gpu))
    assert entry.device == saved.device == kept


def test_a_wrong_device_is_refused_and_nothing_is_stored(history: History) -> None:
    wrong = replace(BOARD, metrics={"clock_mhz": 1e9})
    with pytest.raises(InputError, match=r"clock_mhz is 1000000000, outside of 1 to 10000 MHz"):
        history.devices.save(DeviceFile(wrong))
    assert history.devices.all() == ()


def test_a_new_id_takes_the_place_of_the_old_one(history: History) -> None:
    history.devices.save(DeviceFile(BOARD))
    history.devices.save(DeviceFile(replace(BOARD, id="board-b")), replacing="my-board")
    assert [entry.device.id for entry in history.devices.all()] == ["board-b"]


def test_deleting_and_restoring(history: History) -> None:
    saved = history.devices.save(DeviceFile(BOARD))
    history.devices.delete("my-board")
    assert history.devices.all() == ()
    history.devices.save(saved)
    assert [entry.device for entry in history.devices.all()] == [BOARD]


def test_export_and_import_give_the_same_device(tmp_path: Path) -> None:
    entry = DeviceFile(BOARD, unknown_metrics={"cache_lines": 12.0})
    path = tmp_path / "board.json"
    export_device(entry, path)
    back = import_device(path, ())
    assert back.device == BOARD
    assert dict(back.unknown_metrics) == {"cache_lines": 12.0}
    assert [p.name for p in tmp_path.iterdir()] == ["board.json"]


def test_export_where_a_file_is_in_the_way_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "missing").touch()  # a file in the way of a folder
    with pytest.raises(HostError, match=r"could not be written \(File exists"):
        export_device(DeviceFile(BOARD), tmp_path / "missing" / "board.json")


def test_neusights_description_is_imported(tmp_path: Path) -> None:
    device = import_device(write(tmp_path / "gpu.json", NEUSIGHT), ()).device
    assert (device.id, device.family) == ("nvidia-test-1", Family.GPU)
    assert device.metric("fp32_tflops") == pytest.approx(7.68)
    assert device.metric("l2_kb") == 4096


def test_an_import_never_takes_the_place_of_a_device(tmp_path: Path) -> None:
    path = write(tmp_path / "gpu.json", NEUSIGHT)
    assert import_device(path, {"nvidia-test-1"}).device.id == "nvidia-test-2"
    assert import_device(path, {"nvidia-test-1", "nvidia-test-2"}).device.id == "nvidia-test-3"


def test_a_duplicate_gets_an_id_of_its_own() -> None:
    first = copy_of(DeviceFile(BOARD), {"my-board"})
    assert (first.device.id, first.device.name) == ("my-board-copy", "My Board (copy)")
    assert copy_of(DeviceFile(BOARD), {"my-board", "my-board-copy"}).device.id == "my-board-copy-2"
    longest = replace(BOARD, id="a" * 64, name="n" * 120)
    copied = copy_of(DeviceFile(longest), {longest.id}).device
    assert len(copied.id) <= 64
    assert len(copied.name) <= 120


def test_an_id_in_use_gets_the_next_number() -> None:
    assert unused_id("board-9", {"board-9", "board-2"}) == "board-3"


class TestLookUp:
    """``--device`` finds the user's devices, and opens the store only where it must."""

    def test_by_id_by_name_and_by_part(self) -> None:
        with open_history() as history:
            history.devices.save(DeviceFile(BOARD))
        catalogue = load_catalogue(user_devices_of(None))
        for text in ("my-board", "My Board", "myboa"):
            assert catalogue.find(text) == BOARD

    def test_the_store_is_left_alone_for_a_shipped_id(self) -> None:
        def unreadable() -> tuple[Device, ...]:
            raise HostError("store", "was opened", "do not")

        catalogue = Catalogue([replace(BOARD, id="shipped", name="Shipped")], unreadable)
        assert catalogue.find("shipped").id == "shipped"
        assert catalogue.find("shipp").id == "shipped"
        with pytest.raises(HostError, match="was opened"):
            catalogue.find("another")

    def test_an_own_id_wins_over_a_part_of_shipped_names(self) -> None:
        shipped = [replace(BOARD, id=f"board-{n}", name=f"Board {n}") for n in (1, 2)]
        own = replace(BOARD, id="board")
        assert Catalogue(shipped, lambda: [own]).find("board") == own

    def test_without_a_store_none_is_made(self, own_store: Path) -> None:
        assert stored_devices() == ()
        assert not own_store.exists()

    def test_an_id_that_a_later_version_ships_gets_a_number(self) -> None:
        newer = replace(BOARD, name="Shipped Board")
        both = Catalogue([newer]).with_devices([BOARD])
        assert [device.name for device in both.devices] == ["Shipped Board", "My Board"]
        assert both.devices[1].id == "my-board-2"


def test_a_store_whose_name_is_too_long_holds_no_device(tmp_path: Path) -> None:
    assert stored_devices(tmp_path / ("a" * 5000)) == ()
