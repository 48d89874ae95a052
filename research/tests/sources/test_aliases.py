"""Aliases: the row that names more is taken; a wrong table is refused by file and line."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctm_research.sources import SOURCES
from ctm_research.sources.aliases import FOLDER, UNKNOWN, alias_files, read_aliases
from predictor.core.errors import InputError

HEADER = "device,unit,runtime,device_id,note\n"


def write(folder: Path, text: str, name: str = "bench.csv") -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_every_shipped_alias_is_of_a_device_of_the_catalogue() -> None:
    assert sum(len(read_aliases(name)) for name in SOURCES) > 100


def test_every_shipped_table_is_of_a_source() -> None:
    read = {path for name in SOURCES for path in alias_files(name)}

    assert read == set(alias_files())
    for path in alias_files():
        text = path.read_bytes().decode("utf-8")
        assert "\r" not in text
    assert read == set(FOLDER.glob("*.csv"))


def test_the_row_that_names_more_is_taken(tmp_path: Path) -> None:
    write(
        tmp_path,
        HEADER
        + "board,*,*,rpi4,\n"
        + "board,gpu,*,rk3399-mali,\n"
        + "board,gpu,tflite,rk3588-mali,\n"
        + "board,*,ncnn,rpi5,\n",
    )
    aliases = read_aliases("bench", tmp_path)

    def of(unit: str, runtime: str) -> str:
        return aliases.find("board", unit, runtime).device_id

    assert of("gpu", "tflite") == "rk3588-mali"
    assert of("gpu", "ncnn") == "rk3399-mali"
    assert of("cpu", "ncnn") == "rpi5"
    assert of("cpu", "tflite") == "rpi4"
    assert aliases.find("another", "cpu", "ncnn") is UNKNOWN


def test_a_unit_that_is_not_told_apart_needs_a_row_of_its_own(tmp_path: Path) -> None:
    write(tmp_path, HEADER + "phone,*,*,rpi4,\nboard,soc,*,rpi5,\n")
    aliases = read_aliases("bench", tmp_path)

    assert aliases.find("phone", "soc", "tflite") is UNKNOWN
    assert aliases.find("board", "soc", "tflite").device_id == "rpi5"


def test_a_row_without_a_device_says_why(tmp_path: Path) -> None:
    write(tmp_path, HEADER + "phone,*,*,,two chips have this name\n")

    alias = read_aliases("bench", tmp_path).find("phone", "cpu", "tflite")

    assert (alias.device_id, alias.left_out) == ("", "two chips have this name")
    assert not UNKNOWN.left_out


def test_tables_of_one_source_are_joined(tmp_path: Path) -> None:
    write(tmp_path, HEADER + "a,*,*,rpi4,\n")
    write(tmp_path, HEADER + "b,*,*,rpi5,\n", "bench-boards.csv")
    write(tmp_path, HEADER + "c,*,*,rpi5,\n", "other.csv")

    assert len(read_aliases("bench", tmp_path)) == 2


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        (HEADER + "a,*,*,rpi4,\nb,*,*,rpi9000,\n", "line 3", "lacks the device 'rpi9000'"),
        (HEADER + "a,*,*,rpi4,\na,*,*,rpi5,\n", "line 3", "stands in it twice"),
        (HEADER + "a,*,*,,\n", "line 2", "neither a device nor a reason"),
        (HEADER + "a,,*,rpi4,\n", "line 2", "unit is empty"),
        (HEADER + "a,*,rpi4\n", "line 2", "it has 3 cells, the header has 5"),
        ("device,unit,runtime,device_id\na,*,*,rpi4\n", "bench.csv", "column note is missing"),
        (HEADER[:-1] + ",chip\na,*,*,rpi4,,\n", "line 1", "column 'chip' is not known"),
    ],
)
def test_a_wrong_table_is_refused(tmp_path: Path, text: str, place: str, words: str) -> None:
    write(tmp_path, text)

    with pytest.raises(InputError, match=words) as caught:
        read_aliases("bench", tmp_path)

    assert caught.value.subject.endswith(place)
    assert caught.value.exit_code == 2
