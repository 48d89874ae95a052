"""Watts of a card while a language model runs, from what takes the time.

Reading, multiplying and waiting take different shares of the stated power. They were fitted to the
average power of A100 and H100 under vLLM and TensorRT-LLM at 1 to 64 sequences (Argonne), and of
A100 at 2, 4 and 8 cards (Splitwise), by ``ctm evaluate generation``; of other cards nothing was
found, so their interval is wider.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final, NamedTuple

from predictor.core.records import Device
from predictor.cost.rates.power import rated_watts
from predictor.language.deviations import silicon_of
from predictor.language.memory import is_card
from predictor.language.rates import Part

READING: Final = frozenset({Part.WEIGHTS, Part.CACHE})
WAITING: Final = frozenset({Part.STEP, Part.SEQUENCES, Part.REDUCE, Part.LINK})
OF_READING: Final = 0.71
OF_MULTIPLYING: Final = 1.11
OF_WAITING: Final = 0.26
_MEASURED: Final = frozenset({"ga100", "gh100"})
_WIDTH: Final = math.log(1.13)  # 80 % of the measured runs
_WIDTH_OF_OTHERS: Final = math.log(1.35)  # assumed


class Power(NamedTuple):
    """Watts of all cards with their 80 % interval."""

    median: float
    low: float
    high: float


def power_share(shares: Mapping[Part, float]) -> float:
    """Return the share of the stated power that a run takes, at most 1.

    Args:
        shares: of each part in its time.
    """
    reading = sum(share for part, share in shares.items() if part in READING)
    waiting = sum(share for part, share in shares.items() if part in WAITING)
    return share_of_parts(reading, waiting)


def share_of_parts(reading: float, waiting: float) -> float:
    """Return the share of the stated power, at most 1, by shares of the time; the rest multiplies.

    Cards that the fit never saw, on kernels of other kinds: research/docs/results/power.md.
    """
    rest = max(1 - reading - waiting, 0.0)
    return min(OF_READING * reading + OF_MULTIPLYING * rest + OF_WAITING * waiting, 1.0)


def power_of(device: Device, share: float, cards: int = 1) -> Power | None:
    """Return the watts of cards at a share of their power; None of what is no card or states none.

    Of a board's limit nothing exceeds what is stated.
    """
    stated = rated_watts(device)
    if stated is None or not is_card(device):
        return None
    width = math.exp(_WIDTH if silicon_of(device) in _MEASURED else _WIDTH_OF_OTHERS)
    watts = cards * stated * share
    return Power(watts, watts / width, min(watts * width, cards * stated))
