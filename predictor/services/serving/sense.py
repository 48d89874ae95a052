"""Numbers of a load that make no sense, by the names of their options."""

from __future__ import annotations

import math
from typing import Final

from predictor.core.errors import InputError
from predictor.services.serving.records import Load

MAX_RATE: Final = 10_000.0  # requests a second
_MAX_SEQUENCES: Final = 65_536
_MAX_REQUESTS: Final = 1_000_000


def check_numbers(load: Load) -> None:
    """Refuse a load whose numbers make no sense.

    Raises:
        InputError: one does not, by the name of the option on the command line.
    """
    if not 0 < load.rate_per_s <= MAX_RATE:
        raise InputError(
            f"--rate {load.rate_per_s:g}",
            f"it is no rate over 0 and up to {MAX_RATE:,.0f} a second",
            "state another, such as 8/s or 90/min",
        )
    limits = load.limits
    for option, limit in (
        ("--slo-ttft", limits.first_ms),
        ("--slo-tpot", limits.token_ms),
        ("--max-joules", limits.joules),
        ("--max-cost", limits.cost),
    ):
        if limit is not None and not 0 < limit < math.inf:
            raise InputError(f"{option} {limit:g}", "it is not a number over 0", "state another")
    for option, share in (("--slo-share", limits.share), ("--prefix-hit", load.prefix_hit)):
        if not 0 <= share < 1:
            percent = f"{100 * share:g}"
            raise InputError(
                f"{option} {percent}", "it is not from 0 to under 100 percent", "state another"
            )
    for option, count, fewest, largest in (
        ("--max-sequences", load.max_sequences, 1, _MAX_SEQUENCES),
        ("--requests", load.requests, 1, _MAX_REQUESTS),
        ("--chunked-prefill", load.chunk, 0, _MAX_REQUESTS),
    ):
        if not fewest <= count <= largest:
            raise InputError(
                f"{option} {count}", f"it is not from {fewest} to {largest:,}", "state another"
            )
    for price in (load.price_per_hour, *load.prices.values()):
        if not 0 <= price < math.inf:
            raise InputError(f"--price-per-hour {price:g}", "it is no price", "state another")
