"""Models split between a card and its host, against published tokens a second.

    python -m benchmarks.offload --output docs/results

Nothing is fitted to these rows. They are averages of whole requests, prompt included, so a little
under the rates of tokens alone.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import median
from typing import NamedTuple

from benchmarks.common import Table, parse_arguments, publish
from predictor.services.devices.catalogue import load_catalogue
from predictor.services.generation.generate import generate
from predictor.services.generation.offload import Offload
from predictor.services.generation.records import GenerationRequest
from predictor.services.models.language import read_language_model

# github.com/AlexsJones/llmfit, pull requests 774, 775 and 778 (2026-07): llama.cpp, Q4_K_M, one
# request; RTX 2080 with 8 GB beside a Core i9-10900X.
CARD, HOST, WEIGHTS = "rtx2080", "core-i9-10900x", "q4_k_m"
SOURCE = "github.com/AlexsJones/llmfit, pull requests 774, 775 and 778"
_BASE = {"tie_word_embeddings": False, "max_position_embeddings": 16384}
_GEMMA = {"num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 256}
_SIZES = ("hidden_size", "num_hidden_layers", "intermediate_size", "vocab_size")
_HEADS = ("num_attention_heads", "num_key_value_heads")


def _config(kind: str, sizes: tuple[int, ...], **rest: object) -> Mapping[str, object]:
    return {"model_type": kind, **_BASE, **dict(zip(_SIZES, sizes, strict=True)), **rest}


def _heads(*numbers: int) -> dict[str, int]:
    return dict(zip(_HEADS, numbers, strict=True))


CONFIGS = {
    "Gemma 3 12B": _config(
        "gemma3_text", (3840, 48, 15360, 262208), tie_word_embeddings=True, sliding_window=1024,
        sliding_window_pattern=6, **_GEMMA,
    ),
    "Qwen3 14B": _config("qwen3", (5120, 40, 17408, 151936), head_dim=128, **_heads(40, 8)),
    "Phi-4 14B": _config("phi3", (5120, 40, 17920, 100352), **_heads(40, 10)),
    "Gemma 2 9B": _config(
        "gemma2", (3584, 42, 14336, 256000), tie_word_embeddings=True, sliding_window=4096, **_GEMMA
    ),
    "Qwen2.5 14B": _config("qwen2", (5120, 48, 13824, 152064), **_heads(40, 8)),
    "Mistral Small 24B": _config(
        "mistral", (5120, 40, 32768, 131072), head_dim=128, **_heads(32, 8)
    ),
}  # fmt: skip


class Row(NamedTuple):
    """A published rate in tokens a second, and the number of layers on the card."""

    model: str
    card_layers: int
    tokens_per_s: float


ROWS = (
    Row("Gemma 3 12B", 44, 26.1),
    Row("Gemma 2 9B", 36, 23.7),
    Row("Qwen2.5 14B", 42, 20.8),
    Row("Qwen3 14B", 32, 16.9),
    Row("Phi-4 14B", 32, 16.7),
    Row("Mistral Small 24B", 16, 5.2),
)


class Judged(NamedTuple):
    """A published rate beside the predicted one with its 80 % interval, tokens a second."""

    model: str
    card_layers: int
    published: float
    predicted: float
    low80: float
    high80: float

    @property
    def error(self) -> float:
        """Predicted over published, less 1."""
        return self.predicted / self.published - 1

    @property
    def holds(self) -> bool:
        """Whether the published rate is in the interval."""
        return self.low80 <= self.published <= self.high80

    def cells(self) -> list[str]:
        """Return the row of the table."""
        return [
            self.model,
            str(self.card_layers),
            f"{self.published:g}",
            f"{self.predicted:.1f}",
            f"{self.low80:.1f} to {self.high80:.1f}",
            f"{self.error:+.0%}",
        ]


def judged() -> Iterator[Judged]:
    """Predict each row."""
    catalogue = load_catalogue()
    card, host = catalogue.find(CARD), catalogue.find(HOST)
    request = GenerationRequest(prompt=128, new=256, weights=WEIGHTS)
    with tempfile.TemporaryDirectory() as folder:
        for row in ROWS:
            path = Path(folder, "config.json")
            path.write_text(json.dumps(CONFIGS[row.model]), encoding="utf-8")
            model = read_language_model(str(path)).architecture
            offload = Offload(host, row.card_layers)
            (result,) = generate(model, [card], request, offload=offload)
            if result.token is None:
                raise RuntimeError(result.problem)
            low, median_ms, high = result.token.low, result.token.median, result.token.high
            yield Judged(*row, 1000 / median_ms, 1000 / high, 1000 / low)


def main() -> None:
    """Predict the rows, and publish the table."""
    options = parse_arguments(__doc__, repeats=1)
    rows = list(judged())
    error = median(abs(row.error) for row in rows)
    count = sum(row.holds for row in rows)
    header = ("model", "layers on the card", "published", "predicted", "80 % interval", "error")
    notes = [
        f"Median error {error:.0%}; {count} of {len(rows)} within the 80 % interval.",
        "In tokens a second; the published ones are of whole requests, prompt included.",
        f"Source: {SOURCE}.",
    ]
    title = "Language models split between an RTX 2080 and a Core i9-10900X"
    table = Table(header, [row.cells() for row in rows])
    publish("offload", title, table, [row._asdict() for row in rows], options.output, notes)


if __name__ == "__main__":
    main()
