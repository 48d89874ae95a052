"""What a load costs on a box, from prices that the user states, in the user's currency."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from predictor.services.loads.records import Box, Load
from predictor.services.serving.records import Between

_HOURS_A_YEAR: Final = 8766.0
_MILLION: Final = 1e6
_SECONDS_AN_HOUR: Final = 3600.0
_WATTS_OF_KILOWATT: Final = 1000.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadCost:
    """What a load costs.

    Attributes:
        per_hour: with the 80 % interval of its electricity.
        per_million: of items of all streams together.
        parts: in words, what is in it.
    """

    per_hour: Between
    per_million: Between
    parts: tuple[str, ...]


def load_cost(load: Load, box: Box, watts: Between | None) -> LoadCost | None:
    """Return what a load costs at its stated rates; None where no price is stated.

    Args:
        load: with its prices.
        box: with its own price.
        watts: that the runs draw on average; None where it is not known.
    """
    prices = load.prices
    per_hour = prices.per_hour
    parts = ["rent"] if prices.per_hour else []
    if box.price is not None:
        per_hour += box.price / prices.years / _HOURS_A_YEAR
        parts.append(f"the box over {prices.years:g} years")
    ends = [per_hour] * 3
    if prices.per_kwh and watts is not None:
        drawn = (watts.median, watts.low, watts.high)
        ends = [per_hour + prices.per_kwh * w / _WATTS_OF_KILOWATT for w in drawn]
        parts.append("electricity of its runs")
    if not parts:
        return None
    items = sum(stream.rate_per_s * stream.count for stream in load.streams) * _SECONDS_AN_HOUR
    return LoadCost(
        per_hour=Between(*ends),
        per_million=Between(*(end * _MILLION / items for end in ends)),
        parts=tuple(parts),
    )
