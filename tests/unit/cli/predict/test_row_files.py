"""Files of rows: what a torn one keeps, and Parquet with and without its library."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from predictor.cli.predict.row_files import (
    Finished,
    check_replaced,
    finished,
    form_of,
    writing,
)
from predictor.core.csv_style import CsvStyle
from predictor.core.errors import HostError, InputError
from predictor.services.rows.text import NAMES, Row, RowForm, rows_text

TARGETS = frozenset({("rpi5", "ncnn", "fp16", "4"), ("rpi4", "ncnn", "fp32", "4")})
ENGINE = "engine/1"


def rows_of(model: str) -> list[Row]:
    names = ("device", "runtime", "precision", "threads")
    return [
        {
            "model": model,
            "fingerprint": "f",
            "engine": ENGINE,
            **dict(zip(names, each, strict=True)),
        }
        for each in sorted(TARGETS)
    ]


@pytest.mark.parametrize("form", RowForm)
def test_whole_models_stay_wherever_the_last_one_is_torn(tmp_path: Path, form: RowForm) -> None:
    path = tmp_path / f"out.{form[:3]}"
    with writing(path, form, Finished()) as write:
        write(rows_text(rows_of('a, "quoted".onnx'), form))
        write(rows_text([{"model": "broken.onnx", "problem": "it is no model"}], form))
        write(rows_text(rows_of("c.onnx"), form))
    whole = path.read_bytes()
    ends = {0: 0}
    for end in [*range(0, len(whole), 11), len(whole)]:
        path.write_bytes(whole[:end])
        kept = finished(path, form, TARGETS, ENGINE)
        ends[len(kept.models)] = kept.end
        assert kept.end <= end
        assert kept.failed == ("broken.onnx" in kept.models)
    assert kept == Finished(frozenset({'a, "quoted".onnx', "broken.onnx", "c.onnx"}), 1, len(whole))
    path.write_bytes(whole[: ends[2] + 7])
    with writing(path, form, finished(path, form, TARGETS, ENGINE)) as write:
        write(rows_text(rows_of("c.onnx"), form))
    assert path.read_bytes() == whole


def test_parquet_has_the_types_of_the_values(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "out.parquet"
    with writing(path, RowForm.JSON_LINES, Finished()) as write:
        row = {**rows_of("a.onnx")[0], "threads": 4, "latency_ms": 0.1 + 0.2, "low80_ms": 5e-324}
        write(rows_text([row, {"model": 'ü "\u2028".onnx', "problem": "none"}], RowForm.JSON_LINES))
    table = parquet.read_table(path)
    empty = dict.fromkeys(NAMES)
    assert table.to_pylist() == [
        {**empty, **row}, {**empty, "model": 'ü "\u2028".onnx', "problem": "none"},
    ]  # fmt: skip
    assert table.column_names == list(NAMES)
    assert [str(table.schema.field(name).type) for name in ("model", "threads", "latency_ms")] == [
        "string", "int64", "double",
    ]  # fmt: skip
    assert [each.name for each in tmp_path.iterdir()] == ["out.parquet"]


def test_rows_stay_beside_a_parquet_file_that_cannot_be_written(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    path = tmp_path / "out.parquet"
    path.mkdir()  # cannot be replaced by a file
    rows = [{**row, "threads": 4} for row in rows_of("a.onnx")]
    with (
        pytest.raises(HostError, match="the rows cannot be written"),
        writing(path, RowForm.JSON_LINES, Finished()) as write,
    ):
        write(rows_text(rows, RowForm.JSON_LINES))
    assert len((tmp_path / "out.parquet.part").read_text().splitlines()) == 2
    assert not (tmp_path / "out.parquet.tmp").exists()


def test_without_pyarrow_a_parquet_file_is_refused_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    words = r"pyarrow is not installed; install closertome\[parquet\]"
    with (
        pytest.raises(HostError, match=words),
        writing(tmp_path / "out.parquet", RowForm.JSON_LINES, Finished()),
    ):
        pass
    assert not list(tmp_path.iterdir())


def test_decimal_commas_come_with_semicolons(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    form = form_of(path, CsvStyle.COMMA)
    row = {**rows_of("a;b.onnx")[0], "latency_ms": 12.5, "memory_bytes": 4096}
    with writing(path, form, Finished()) as write:
        write(rows_text([row], form))
    header, line = path.read_text(encoding="utf-8").splitlines()
    assert header == ";".join(NAMES)
    assert line.startswith('"a;b.onnx";f;')
    assert ";12,5;" in line
    assert ";4096;" in line
    with pytest.raises(InputError, match="rows of another form"):
        finished(path, RowForm.CSV, TARGETS, ENGINE)
    check_replaced(path)  # rows are rows in either style
    path.write_text("model|device\n", encoding="utf-8")
    with pytest.raises(InputError, match="something else than rows"):
        check_replaced(path)
