from __future__ import annotations

import pytest

from tests.support.import_samples import CSV_TABLE
from tests.support.importing import changed, line_of, read, refusal


def test_every_column_is_read() -> None:
    first, second, third = read(CSV_TABLE).latencies

    assert (first.network, first.value_ms, first.statistic) == ("resnet50", 23.4, "median")
    assert (first.runtime, first.precision, first.threads) == ("onnxruntime", "fp32", 4)
    assert (first.device, first.batch) == ("my board", 1)
    assert (second.network, second.value_ms, second.runtime) == ("net, quantised", 15.0, None)
    assert second.threads is None
    assert (third.threads, third.batch) == (0, 0)
    assert third.place == "line 4"


def test_two_columns_will_do_in_any_order_with_a_byte_order_mark_and_windows_line_ends() -> None:
    file = read(b"\xef\xbb\xbfLatency_ms,Model\r\n3.5,a\r\n\r\n4.5,b\r\n")

    assert [(one.network, one.value_ms) for one in file.latencies] == [("a", 3.5), ("b", 4.5)]


def test_a_statistic_may_be_told() -> None:
    file = read("model,latency_ms,statistic\na,3,minimum\nb,4,\n")

    assert [one.statistic for one in file.latencies] == ["minimum", "median"]


def test_columns_that_are_not_read_are_said() -> None:
    assert read("model,latency_ms,remark\na,3,hot\n").notes == (
        "These columns are not read: remark.",
    )


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("23.4", "-23.4", "latency_ms is '-23.4', not a time above 0"),
        ("23.4", "0", "not a time above 0"),
        ("23.4", "nan", "not a number"),
        ("23.4", "inf", "not a number"),
        ("23.4", "23.4 ms", "not a number"),
        ("23.4", "2_3", "not a number"),
        ("23.4", "23400000000", "over an hour"),
        ("23.4", "23,4", "it has 8 cells, the header has 7"),
        ("latency_ms", "latency_us", "it has latency_us instead"),
        ("latency_ms", "latency", "it has latency instead"),
        ("runtime,", "model,", "column model stands twice"),
        ("onnxruntime", "onnx", "runtime is 'onnx'"),
        ("fp16", "float16", "precision is 'float16'"),
        (",4,1", ",4.5,1", "threads is '4.5'"),
        (",4,1", ",-4,1", "threads is '-4'"),
        ("resnet50,", ",", "the cell of model is empty"),
        ('"net, quantised"', '"net, quantised', "no CSV"),
        ("mobilenetv2,7,my board,ncnn,fp16,0,0", "resnet50,9,my board,onnxruntime,fp32,4,1",
         "it repeats line 2"),
        (CSV_TABLE.split("\n", 1)[1], "", "a header and no row"),
        ("23.4", '"23,456"', "not a number"),
    ],
)  # fmt: skip
def test_a_broken_table_is_refused_whole(old: str, new: str, said: str) -> None:
    assert said in refusal(changed(CSV_TABLE, old, new))


def test_the_error_names_the_line() -> None:
    assert line_of(refusal(changed(CSV_TABLE, "1.5e1", "x"))) == 3


@pytest.mark.parametrize("mark", [";", "\t"])
def test_other_separators_read_the_same(mark: str) -> None:
    table = CSV_TABLE.replace(",", mark)

    assert [one.value_ms for one in read(table).latencies] == [
        one.value_ms for one in read(CSV_TABLE).latencies
    ]


@pytest.mark.parametrize(
    ("cell", "latency_ms"),
    [
        ("12,5", 12.5),
        ("1 234,5", 1234.5),
        ("1\u00a0234,5", 1234.5),
        ("1\u202f234,567", 1234.567),
        ("1.234,5", 1234.5),
        ("0,001", 0.001),
        ("12.5", 12.5),
    ],
)
def test_a_decimal_comma_is_read(cell: str, latency_ms: float) -> None:
    (latency,) = read(f"model;latency_ms;threads\nresnet18.onnx;{cell};4\n").latencies

    assert (latency.value_ms, latency.threads) == (latency_ms, 4)


def test_a_quoted_decimal_comma_is_read_between_commas() -> None:
    assert read('model,latency_ms\na,"12,5"\n').latencies[0].value_ms == 12.5


@pytest.mark.parametrize("head", ["sep=;\n", "SEP=;\r\n", "\nsep=;\n\n"])
def test_a_spreadsheets_separator_line_is_no_header(head: str) -> None:
    text = f"{head}model;latency_ms\na;1,5\nb;x\n"

    assert line_of(refusal(text)) == text.count("\n", 0, text.index("b;x")) + 1
    assert read(text.replace("b;x\n", "")).latencies[0].value_ms == 1.5
