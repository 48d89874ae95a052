"""Names cut to a width, in a font of which each letter has ten pixels."""

from __future__ import annotations

from typing import Any

import pytest

from ctm_gui.widgets.elision import elided_distinct, elided_path

_PX = 10


class _Metrics:
    """Measures text as a font does whose letters are all as wide."""

    def horizontalAdvance(self, text: str) -> int:  # noqa: N802 (Qt's name)
        return _PX * len(text)

    def elidedText(self, text: str, mode: Any, width: float) -> str:  # noqa: N802
        count = int(width) // _PX
        if len(text) <= count:
            return text
        kept = max(count - 1, 0)
        if mode.name == "ElideLeft":
            return f"…{text[len(text) - kept :]}"
        if mode.name == "ElideRight":
            return f"{text[:kept]}…"
        return f"{text[: kept // 2]}…{text[len(text) - (kept - kept // 2) :]}"


METRICS: Any = _Metrics()


@pytest.mark.parametrize(
    ("path", "letters", "text"),
    [
        ("/conv1/Conv", 11, "/conv1/Conv"),
        ("/encoder/layer.3/attention/self/query/MatMul", 24, "…layer.3/…f/query/MatMul"),
        # The second of two parts says what the first does.
        ("/layer2/layer2.0/conv2/Conv", 22, "…layer2.0/conv2/Conv"),
        ("layer0.ffn.lin2.matmul", 15, "layer0.….matmul"),
        ("/encoder/embedding/word/Gather", 12, "…word/Gather"),
        # A number that leaves no room for the end.
        ("/block_with_a_long_name_12/conv/Conv", 12, "…2/conv/Conv"),
        ("1×192×28×28", 6, "…28×28"),
    ],
)
def test_blocks_keep_their_number_and_operators_their_end(
    path: str, letters: int, text: str
) -> None:
    assert elided_path(METRICS, path, letters * _PX) == text


def test_blocks_of_a_network_stay_apart() -> None:
    paths = [f"/encoder/layer.{n}/intermediate/dense/MatMul" for n in range(12)]
    assert len({elided_path(METRICS, path, 22 * _PX) for path in paths}) == len(paths)


def test_names_are_cut_at_their_ends_unless_that_makes_them_alike() -> None:
    widths = [8.0 * _PX] * 2
    assert elided_distinct(METRICS, ["resnet50_224", "mobilenet_224"], widths) == [
        "resnet5…",
        "mobilen…",
    ]
    alike = elided_distinct(METRICS, ["resnet50_fp32", "resnet50_int8"], widths)
    assert [text[-4:] for text in alike] == ["fp32", "int8"]
