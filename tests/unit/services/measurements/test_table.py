"""Tables of measured latencies: what is read, and every way in which one can be wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from predictor.core.errors import InputError
from predictor.core.records import Precision
from predictor.services.measurements.table import MeasuredRow, Problems, Role, read_table

HEADER = "target,model,latency_ms"
FULL = "target,model,latency_ms,runtime,precision,threads,batch,role"


def table(folder: Path, *lines: str, encoding: str = "utf-8") -> Path:
    path = folder / "t.csv"
    path.write_text("\n".join(lines) + "\n", encoding=encoding)
    return path


def error(folder: Path, *lines: str) -> str:
    with pytest.raises(InputError) as raised:
        read_table(table(folder, *lines))
    return str(raised.value).removeprefix(f"{folder / 't.csv'}")


def test_a_row_with_everything(tmp_path: Path) -> None:
    (row,) = read_table(table(tmp_path, FULL, "rpi5,resnet50.onnx, 12.5 ,ncnn,fp16,4,8,probe"))

    assert row == MeasuredRow(
        line=2,
        target="rpi5",
        model="resnet50",
        latency_ms=12.5,
        runtime="ncnn",
        precision=Precision.FP16,
        threads=4,
        batch=8,
        role=Role.PROBE,
    )


def test_what_is_left_empty_is_what_is_usual(tmp_path: Path) -> None:
    (row,) = read_table(table(tmp_path, FULL, "rpi5,resnet50,12.5,,,,,"))

    assert (row.runtime, row.precision, row.threads, row.batch, row.role) == (
        None,
        None,
        0,
        None,
        None,
    )


def test_semicolons_and_decimal_commas(tmp_path: Path) -> None:
    path = table(tmp_path, "target;model;latency_ms", "rpi5;a;12,5", "rpi5;b;13.5", "rpi5;c;14")

    assert [row.latency_ms for row in read_table(path)] == [12.5, 13.5, 14.0]
    assert "not a number" in error(tmp_path, "target;model;latency_ms", "rpi5;a;1.234,5")


def test_columns_stand_in_any_order_and_empty_lines_are_none(tmp_path: Path) -> None:
    path = table(tmp_path, "model,latency_ms,target", "a,1,x", "", "b,2,x", encoding="utf-8-sig")

    assert [(r.line, r.target, r.model) for r in read_table(path)] == [(2, "x", "a"), (4, "x", "b")]


@pytest.mark.parametrize("value", ["-3", "0", "nan", "inf", "-inf", "", "fast", "1,5", "1e999"])
def test_a_latency_is_a_number_above_0(tmp_path: Path, value: str) -> None:
    text = error(tmp_path, HEADER, "x,a,1", f'x,b,"{value}"')

    assert text == f", line 3: latency_ms is {value!r}, not a number above 0; correct the table."


@pytest.mark.parametrize("value", ["12 ms", "0.2s", "340us", "340 µs", "30 FPS"])
def test_units_are_not_mixed(tmp_path: Path, value: str) -> None:
    text = error(tmp_path, HEADER, "x,a,1", f"x,b,{value}")

    assert text.startswith(f", line 3: latency_ms is {value!r} with a unit of its own")


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (["target,model,latency_us", "x,a,1"], "column latency_ms is missing"),
        (["target|model|latency_ms", "x|a|1"], "parted by commas or by semicolons"),
        ([f"{HEADER},latency_us", "x,a,1,1000"], "column 'latency_us' is not known"),
        ([f"{HEADER},model", "x,a,1,a"], "column model stands twice"),
        ([HEADER], "no row follows the header"),
        ([""], "column target is missing"),
    ],
)
def test_a_wrong_header_names_its_line(tmp_path: Path, lines: list[str], words: str) -> None:
    text = error(tmp_path, *lines)

    assert text.startswith(", line 1: ")
    assert words in text


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("x,a", "it has 2 cells, the header has 8"),
        (",a,1,,,,,", "target is empty"),
        ("x,,1,,,,,", "model is empty"),
        ("../x,a,1,,,,,", "target is '../x', which is no name of a file"),
        ("x,a/b,1,,,,,", "model is 'a/b', which is no name of a file"),
        ("x,..,1,,,,,", "model is '..', which is no name of a file"),
        ("x,a,1,torch,,,,", "runtime is 'torch', not one of onnxruntime, ncnn"),
        ("x,a,1,,fp8,,,", "precision is 'fp8', not one of fp32"),
        ("x,a,1,,,-1,,", "threads is '-1', not a whole number from 0"),
        ("x,a,1,,,1.5,,", "threads is '1.5', not a whole number from 0"),
        ("x,a,1,,,,0,", "batch is '0', not a whole number from 1"),
        ("x,a,1,,,,,train", "role is 'train', not one of probe, test"),
    ],
)
def test_a_wrong_cell_names_its_line(tmp_path: Path, row: str, words: str) -> None:
    text = error(tmp_path, FULL, "y,a,1,,,,,", row)

    assert text.startswith(f", line 3: {words}")


def test_all_wrong_lines_are_in_one_sentence(tmp_path: Path) -> None:
    text = error(tmp_path, HEADER, "x,a,-1", "x,b,2", "x,c,0", "x,d")

    assert text == (
        ", line 2: latency_ms is '-1', not a number above 0; line 4: latency_ms is '0', not a "
        "number above 0; line 5: it has 2 cells, the header has 3; correct the table."
    )


def test_many_wrong_lines_are_counted(tmp_path: Path) -> None:
    text = error(tmp_path, HEADER, *(f"x,m{i},-1" for i in range(9)))

    assert "line 6: " in text
    assert "line 7: " not in text
    assert "; and 4 more lines; correct the table." in text


def test_a_row_that_stands_twice_names_both_lines(tmp_path: Path) -> None:
    text = error(tmp_path, HEADER, "x,a,1", "x,b,1", "x,a,2")

    assert text == (
        ", line 4: it is the target, configuration, model and batch of line 2 again; "
        "correct the table."
    )


def test_another_configuration_or_batch_is_another_row(tmp_path: Path) -> None:
    rows = ["x,a,1,,,1,,", "x,a,1,,,2,,", "x,a,1,,,1,4,", "x,a,1,ncnn,,1,,", "x,a,1,,int8,1,,"]

    assert len(read_table(table(tmp_path, FULL, *rows))) == 5


def test_roles_are_of_all_rows_or_of_none(tmp_path: Path) -> None:
    text = error(tmp_path, FULL, "x,a,1,,,,,probe", "x,b,1,,,,,")

    assert text.startswith(", line 3: role is empty, while other rows have one")


def test_what_is_no_table_is_said(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"target,model,latency_ms\n\xff\xfe\n")
    with pytest.raises(InputError, match="line 2 is not text in UTF-8"):
        read_table(path)
    with pytest.raises(InputError, match="there is no such file"):
        read_table(tmp_path / "nowhere.csv")
    with pytest.raises(InputError, match="it is a folder"):
        read_table(tmp_path)


def test_nothing_wrong_raises_nothing(tmp_path: Path) -> None:
    Problems(tmp_path).check()
