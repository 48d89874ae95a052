"""Single operators of drawn sizes on a CUDA device."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final

import torch
from torch import Tensor
from torch.nn import functional

from ctm_research.cards.timing import longest_kernel, timed_ms

_MOST_FLOPS: Final = 4e11  # of a product: about 10 ms on the fastest cards of today
_MOST_ELEMENTS: Final = 4e8
_PRODUCTS: Final = 300  # of each kind
_VECTORS: Final = 40  # of each kind
_TILE: Final = re.compile(r"(\d{2,3})x(\d{2,3})")

_VECTOR_CALLS: Final[dict[str, Callable[[Tensor, Tensor], Tensor]]] = {
    "add": torch.add,
    "mul": torch.mul,
    "div": torch.div,
    "addu": lambda x, _: x + 2.0,
    "mulu": lambda x, _: x * 2.0,
    "powu": lambda x, _: x**3.0,
    "relu": lambda x, _: functional.relu(x),
    "gelu": lambda x, _: functional.gelu(x),
    "tanh": lambda x, _: torch.tanh(x),
    "softmax": lambda x, _: functional.softmax(x, dim=-1),
    "ln": lambda x, _: functional.layer_norm(x, x.shape[-1:]),
}
_TWO_INPUTS: Final = ("add", "mul", "div")


@dataclass(frozen=True, slots=True)
class TimedOperator:
    """One operator on the card.

    Attributes:
        op: ``linear``, ``bmm`` or a vector operator.
        batch, rows, columns: of the result.
        length: of the sums of a product; number of tensors that a vector operator reads.
        kernel: name of the longest.
        tile_rows, tile_columns: of the result that a block makes; 0 where the name does not say.
        latency_ms: measured.
    """

    op: str
    batch: int
    rows: int
    columns: int
    length: int
    kernel: str
    tile_rows: int
    tile_columns: int
    latency_ms: float


def timed_operators(seed: int) -> Iterator[TimedOperator]:
    """Yield operators of drawn sizes with their times."""
    rng = random.Random(seed)  # noqa: S311  # sizes, no secrets
    for op in ("linear", "bmm"):
        for _ in range(_PRODUCTS):
            yield _timed_product(op, _drawn_product(rng, op))
    for op in _VECTOR_CALLS:
        for _ in range(_VECTORS):
            yield _timed_vector(op, _drawn_vector(rng, op))


def _drawn_product(rng: random.Random, op: str) -> tuple[int, int, int, int]:
    while True:
        batch = _size(rng, 1, 1024) if op == "bmm" else 1
        most = 2048 if op == "bmm" else 16384
        rows, length = _size(rng, 1, most), _size(rng, 16, most)
        columns = _size(rng, 1, 2048 if op == "bmm" else 50257)
        read = batch * (rows * length + length * columns + rows * columns)
        if 2 * batch * rows * columns * length < _MOST_FLOPS and read < _MOST_ELEMENTS:
            return batch, rows, columns, length


def _drawn_vector(rng: random.Random, op: str) -> tuple[int, int]:
    least = 4096 if op in ("softmax", "ln") else 8192
    while True:
        rows, columns = _size(rng, least, 2**19), _size(rng, 512, 2**14)
        if rows * columns < _MOST_ELEMENTS:
            return rows, columns


def _size(rng: random.Random, least: int, most: int) -> int:
    """Draw a size even in the logarithm; half of them are multiples of 16, as of real networks."""
    drawn = round(least * math.exp(rng.random() * math.log(most / least)))
    return max(drawn // 16 * 16, least) if rng.random() < 0.5 else drawn


def _timed_product(op: str, sizes: tuple[int, int, int, int]) -> TimedOperator:
    batch, rows, columns, length = sizes
    shape = (batch,) if op == "bmm" else ()
    left = torch.randn(*shape, rows, length, device="cuda")
    if op == "bmm":
        call = partial(torch.bmm, left, torch.randn(batch, length, columns, device="cuda"))
    else:
        weight, bias = (
            torch.randn(*each, device="cuda") for each in ((columns, length), (columns,))
        )
        call = partial(functional.linear, left, weight, bias)
    with torch.inference_mode():
        latency_ms, kernel = timed_ms(call), longest_kernel(call)
    tile = _TILE.search(kernel)
    down, across = (int(tile[1]), int(tile[2])) if tile else (0, 0)
    return TimedOperator(op, batch, rows, columns, length, kernel, down, across, latency_ms)


def _timed_vector(op: str, sizes: tuple[int, int]) -> TimedOperator:
    rows, columns = sizes
    call = partial(
        _VECTOR_CALLS[op], *(torch.randn(rows, columns, device="cuda") for _ in range(2))
    )
    with torch.inference_mode():
        latency_ms, kernel = timed_ms(call), longest_kernel(call)
    inputs = 2 if op in _TWO_INPUTS else 1
    return TimedOperator(op, 1, rows, columns, inputs, kernel, 0, 0, latency_ms)
