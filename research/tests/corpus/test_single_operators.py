"""Single operators: their graphs have the sizes of the table, and wrong rows are named."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from ctm_research.corpus.single_operators import SingleOperator, operator_rows
from predictor.core.errors import InputError
from research.tests.corpus.small_corpus import OPERATORS, write_data


@pytest.mark.parametrize(
    ("operator", "op_type", "macs", "read", "weights", "written"),
    [
        (SingleOperator("linear", (2, 8, 16, 32)), "Gemm", 8192, 256, 544, 512),
        (SingleOperator("bmm", (2, 8, 16, 32)), "MatMul", 8192, 1280, 0, 512),
        (SingleOperator("conv", (1, 4, 8, 3, 10, 1, 1)), "Conv", 28800, 400, 288, 800),
        (SingleOperator("conv", (2, 4, 8, 3, 10, 2, 0)), "Conv", 9216, 800, 288, 256),
        (SingleOperator("add", (64, 128)), "Add", 0, 16384, 0, 8192),
        (SingleOperator("powu", (64, 128)), "Pow", 0, 8192, 1, 8192),
        (SingleOperator("gelu", (64, 128)), "Gelu", 0, 8192, 0, 8192),
        (SingleOperator("tanh", (64, 128)), "Tanh", 0, 8192, 0, 8192),
        (SingleOperator("softmax", (64, 128)), "Softmax", 0, 8192, 0, 8192),
        (SingleOperator("ln", (64, 128)), "LayerNormalization", 0, 8192, 256, 8192),
    ],
)
def test_an_operator_by_hand(
    operator: SingleOperator, op_type: str, macs: int, read: int, weights: int, written: int
) -> None:
    graph = operator.graph()

    assert graph.op_types == (op_type,)
    counted = (graph.macs, graph.bytes_read, graph.weight_bytes, graph.bytes_written)
    assert [int(column[0]) for column in counted] == [macs, 4 * read, 4 * weights, 4 * written]


def test_every_size_has_a_fingerprint_of_its_own() -> None:
    sizes = [(rows, cols) for rows in (1, 2, 3) for cols in (1, 2, 3)]
    kinds = ("add", "addu", "mul", "div", "pow", "relu", "gelu", "tanh", "softmax", "ln")
    graphs = [SingleOperator(kind, size).graph() for kind in kinds for size in sizes]

    assert len({graph.fingerprint for graph in graphs}) == len(graphs)


def test_rows_are_read_with_their_device(tmp_path: Path) -> None:
    write_data(tmp_path)

    rows = list(operator_rows(tmp_path))

    assert len(rows) == len(OPERATORS)
    assert rows[1].operator == SingleOperator("linear", (2, 8, 16, 32))
    assert (rows[1].device_id, rows[1].latency_ms) == ("tesla-p4", 0.03)


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (",bmm,", ",fft,", "op is 'fft', not one of bmm"),
        ("2,8,16,32", "2,8,16,", "mm_cols is '', not a whole number above 0"),
        ("0.02", "-1", "latency_ms is '-1', not a number above 0"),
    ],
)
def test_a_wrong_cell_is_refused_with_its_line(
    tmp_path: Path, before: str, after: str, words: str
) -> None:
    write_data(tmp_path)
    path = tmp_path / "neusight/ops_train.csv.gz"
    text = gzip.decompress(path.read_bytes()).decode()
    path.write_bytes(gzip.compress(text.replace(before, after, 1).encode()))

    with pytest.raises(InputError, match=words) as caught:
        list(operator_rows(tmp_path))

    assert "ops_train.csv.gz, line" in caught.value.subject


def test_a_folder_without_the_table_has_no_operators(tmp_path: Path) -> None:
    assert list(operator_rows(tmp_path)) == []
