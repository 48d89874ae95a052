"""The arithmetic of one run of an operator, and its window."""

from __future__ import annotations

from typing import NamedTuple


class Arithmetic(NamedTuple):
    """Arithmetic of one run of an operator.

    Attributes:
        macs: multiply-accumulates.
        gemm: groups, M, N, K with groups * M * N * K = macs, zeros where there is no such form.
        window: kernel height and width of convolution and pooling, else 0.
        stride: its strides, else 0.
        winograd: whether a fast convolution algorithm may serve it.
    """

    macs: int
    gemm: tuple[int, int, int, int] = (0, 0, 0, 0)
    window: tuple[int, int] = (0, 0)
    stride: tuple[int, int] = (0, 0)
    winograd: bool = False


NO_ARITHMETIC = Arithmetic(0)


def product_arithmetic(groups: int, rows: int, columns: int, inner: int) -> Arithmetic:
    """Return the arithmetic of ``groups`` products of [rows, inner] and [inner, columns]."""
    macs = groups * rows * columns * inner
    return Arithmetic(macs, (groups, rows, columns, inner)) if macs else NO_ARITHMETIC


def batch_first(dims: tuple[int, ...], trans_batch: bool) -> tuple[int, ...]:
    """Return [M, batch..., K] as [batch..., M, K] where FusedMatMul's transBatch is set."""
    return (*dims[1:-1], dims[0], dims[-1]) if trans_batch and len(dims) > 2 else dims
