"""Generated weights: the same bytes for the same name, on every machine and with every numpy.

Values are made from the raw stream of PCG64, which numpy keeps stable, and not from its
distributions, which it may change (NEP 19). They differ from element to element, because some
processors run faster on constant data.
"""

from __future__ import annotations

import hashlib
import math

import numpy as np
from numpy.typing import NDArray

# A float32 holds integers of so many bits exactly, so no platform rounds differently.
_MANTISSA_BITS = 24


def uniform(name: str, shape: tuple[int, ...], bound: float) -> NDArray[np.float32]:
    """Return float32 values, evenly spread over [-bound, bound).

    Args:
        name: decides the values, together with nothing else.
        shape: of the result.
        bound: largest magnitude.
    """
    count = math.prod(shape)
    seed = int.from_bytes(hashlib.sha256(name.encode()).digest(), "little")
    stream = np.random.PCG64(seed).random_raw(-(-count // 2))
    # Two 32-bit words of each 64-bit output, low one first on every machine.
    words = np.asarray(stream, dtype="<u8").view("<u4")[:count]
    half = np.float32(2 ** (_MANTISSA_BITS - 1))
    fractions = (words >> (32 - _MANTISSA_BITS)).astype(np.float32) / half - np.float32(1)
    values: NDArray[np.float32] = (fractions * np.float32(bound)).reshape(shape)
    return values


def unit_gain_bound(fan_in: int) -> float:
    """Return the bound of weights that give a sum over ``fan_in`` inputs the variance of one.

    A uniform value in [-b, b) has the variance b^2 / 3, so b = sqrt(3 / fan_in).
    """
    return math.sqrt(3 / fan_in)
