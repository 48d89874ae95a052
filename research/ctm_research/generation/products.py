"""Matrix products by their number of rows: how reading the weights and multiplying overlap.

``kernels/vidur`` has FP16 products of whole models on A100 and A40 by number of tokens. With one
share of the bandwidth and one of the arithmetic a card, three ways to join them are compared.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Final

import numpy as np

from ctm_research.sources.tables import read_rows

# GB/s and FP16 TFLOP/s as stated.
_CARDS: Final = {"a100": (2039.0, 311.87), "a40": (695.8, 149.67)}
_FEW, _MANY = 8, 2048  # rows at which weights alone, or arithmetic alone, bind


def product_figures(folder: Path) -> list[dict[str, object]]:
    """Return the median errors by card and way, in percent.

    Raises:
        InputError: the table is missing or damaged.
    """
    of_card: dict[str, list[tuple[int, float, float, float]]] = defaultdict(list)
    for row in read_rows(folder / "kernels" / "vidur" / "mlp_ops.csv.gz", ()):
        if row["op"] not in {"mlp_up_proj", "mlp_down_proj"} or row["gpu"] not in _CARDS:
            continue
        tokens, hidden = int(row["num_tokens"]), int(row["n_embd"])
        wide = int(row["n_expanded_embd"]) // int(row["tp"])
        gate = 2 if row["op"] == "mlp_up_proj" and row["use_gated_mlp"] == "True" else 1
        bandwidth, rate = _CARDS[row["gpu"]]
        weights = hidden * wide * gate
        read, work = 2 * weights / bandwidth / 1e9, 2 * weights * tokens / rate / 1e12
        of_card[row["gpu"]].append((tokens, read, work, row.positive("median_ms") / 1e3))
    return [_figure(card, np.array(rows)) for card, rows in of_card.items()]


def _figure(card: str, rows: np.ndarray) -> dict[str, object]:
    tokens, read, work, measured = rows.T
    few, many = tokens <= _FEW, tokens >= _MANY
    read = read * float(np.median(measured[few] / read[few]))
    work = work * float(np.median(measured[many] / work[many]))
    ways = {
        "root of squares": np.hypot(read, work),
        "the larger": np.maximum(read, work),
        "sum": read + work,
    }
    return {
        "card": card,
        "products": len(rows),
        "median_error_percent": {
            name: round(100 * float(np.median(np.abs(way / measured - 1))), 1)
            for name, way in ways.items()
        },
    }
