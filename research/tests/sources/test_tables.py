"""Tables of a data folder: what is wrong with one is said with file and line."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from ctm_research.sources.tables import read_rows
from predictor.core.errors import InputError


def table(folder: Path, text: str) -> Path:
    path = folder / "table.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_rows_come_with_their_line_and_cells(tmp_path: Path) -> None:
    path = table(tmp_path, 'name,ms\na,1.5\n"b,\nc",2\n')

    rows = list(read_rows(path, ["name", "ms"]))

    assert [(row.line, row["name"], row.positive("ms")) for row in rows] == [
        (2, "a", 1.5),
        (4, "b,\nc", 2.0),
    ]


def test_a_gzipped_table_is_read(tmp_path: Path) -> None:
    path = tmp_path / "table.csv.gz"
    path.write_bytes(gzip.compress(b"n\n3\n"))

    assert [row.count("n") for row in read_rows(path, ["n"])] == [3]


@pytest.mark.parametrize("text", ["-1", "0", "nan", "inf", "", "quick", "1e999"])
def test_a_latency_that_is_no_number_above_0_names_file_line_and_value(
    tmp_path: Path, text: str
) -> None:
    path = table(tmp_path, f"name,ms\na,1\nb,{text}\n")

    with pytest.raises(InputError) as caught:
        [row.positive("ms") for row in read_rows(path, ["ms"])]

    assert caught.value.subject == f"{path}, line 3"
    assert caught.value.reason == f"ms is {text!r}, not a number above 0"


@pytest.mark.parametrize("text", ["-1", "0", "1.5", "", "²"])
def test_a_count_is_a_whole_number_above_0(tmp_path: Path, text: str) -> None:
    path = table(tmp_path, f"name,n\na,{text}\n")

    with pytest.raises(InputError, match="not a whole number above 0"):
        [row.count("n") for row in read_rows(path, ["n"])]


def test_a_missing_column_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="column ms is missing"):
        list(read_rows(table(tmp_path, "name\na\n"), ["name", "ms"]))


def test_an_empty_file_has_no_columns(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="column name is missing"):
        list(read_rows(table(tmp_path, ""), ["name"]))


def test_a_row_of_another_length_names_its_line(tmp_path: Path) -> None:
    path = table(tmp_path, "name,ms\na,1\nb\n")

    with pytest.raises(InputError, match="line 3: it has 1 cells, the header has 2"):
        list(read_rows(path, ["name"]))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere\.csv: it cannot be read"):
        list(read_rows(tmp_path / "nowhere.csv", ["name"]))


@pytest.mark.parametrize("content", [b"name\n\xff\n", b'name\n"a\n'])
def test_what_is_no_csv_in_utf_8_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(content)

    with pytest.raises(InputError):
        list(read_rows(path, ["name"]))


def test_a_cut_off_gzip_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "table.csv.gz"
    path.write_bytes(gzip.compress(b"n\n" + b"3\n" * 5000)[:-20])

    with pytest.raises(InputError, match="no CSV table"):
        list(read_rows(path, ["n"]))
