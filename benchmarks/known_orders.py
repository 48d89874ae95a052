"""Known orders: pairs of runs of which an engineer knows the faster one, and what we predict.

``python -m benchmarks.known_orders --output docs/results`` predicts the pairs of
``tests/orders/known_orders.csv`` and lists both latencies of each. With ``--mark`` it also writes
the marks of the test anew: a pair that is not predicted so is expected to fail, one that is
predicted so has to hold from then on.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks.common import Table, publish
from predictor.core.units import significant
from predictor.services.prediction.engines import CLOSERTOME, open_engine
from tests.orders.orders import KINDS, Outcome, outcomes, read_orders, write_marks

_WRITTEN = (
    "The pairs and margins were written from public knowledge before any was predicted, but the "
    "two of the H100 and the A100 PCIe, which were added after a wrong order was seen, and twenty "
    "of phones, laptops and boards, which were added with their devices."
)
_HEADER = ("", "faster", "ms", "slower", "ms", "times", "at least", "as known", "because")


def main() -> int:
    """Predict all pairs, print them and write what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, help="also write known-orders.json and .md here")
    parser.add_argument("--mark", action="store_true", help="write the marks of the test anew")
    options = parser.parse_args()
    predicted = outcomes(read_orders())
    if options.mark:
        write_marks(predicted)
    publish(
        "known-orders",
        "Known orders",
        Table(_HEADER, [_row(outcome) for outcome in predicted]),
        [_figure(outcome) for outcome in predicted],
        options.output,
        _notes(predicted),
        engine=CLOSERTOME,
    )
    return 0


def _row(outcome: Outcome) -> tuple[str, ...]:
    order = outcome.order
    return (
        order.kind,
        _side(order.faster, outcome.targets[0]),
        _number(outcome.faster_ms),
        _side(order.slower, outcome.targets[1]),
        _number(outcome.slower_ms),
        _number(outcome.ratio),
        f"{order.at_least:g}",
        "yes" if outcome.holds else outcome.problem or "NO",
        order.reason,
    )


def _side(text: str, target: str) -> str:
    """Return a side with the configuration that it ran in."""
    return f"{text.partition(' on ')[0]} on {target.removesuffix('/t0')}"


def _number(value: float | None) -> str:
    return "" if value is None else significant(value)


def _figure(outcome: Outcome) -> dict[str, object]:
    return {**asdict(outcome), "ratio": outcome.ratio, "holds": outcome.holds}


def _notes(predicted: Sequence[Outcome]) -> list[str]:
    counts = []
    for kind in KINDS:
        of_kind = [outcome for outcome in predicted if outcome.order.kind == kind]
        counts.append(f"{kind}: {sum(o.holds for o in of_kind)} of {len(of_kind)}")
    held = sum(outcome.holds for outcome in predicted)
    return [
        f"Predicted by {open_engine().name}, devices by default where a pair names no other.",
        f"As known: {held} of {len(predicted)} ({', '.join(counts)}).",
        _WRITTEN,
        "*times*: the slower over the faster, an item of the batch each.",
    ]


if __name__ == "__main__":
    sys.exit(main())
