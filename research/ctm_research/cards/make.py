"""Writes the tables of this machine's CUDA card."""

from __future__ import annotations

import csv
import gzip
import io
import json
import platform
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import torch

from ctm_research.cards.networks import timed_images, timed_transformers
from ctm_research.cards.operators import timed_operators

_SEED: Final = 0


def has_card() -> bool:
    """Return whether torch can use a CUDA card here."""
    return torch.cuda.is_available()


def write_tables(folder: Path, device: str) -> None:
    """Time networks and operators on the card.

    Args:
        folder: of the tables.
        device: id of the card in the catalogue.

    Raises:
        OSError: a table cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    _describe(folder / "card.json")
    columns = {"target": device, "runtime": "pytorch"}
    for name, timed in {"transformers": timed_transformers, "images": timed_images}.items():
        text = _table(columns | asdict(row) for row in timed())
        (folder / f"{name}.csv").write_text(text, encoding="utf-8")
    operators = _table(asdict(row) for row in timed_operators(_SEED))
    packed = gzip.compress(operators.encode(), mtime=0)  # the same bytes for the same rows
    (folder / "operators.csv.gz").write_bytes(packed)


def _describe(path: Path) -> None:
    properties = torch.cuda.get_device_properties(0)
    document = {
        "card": properties.name,
        "units": properties.multi_processor_count,
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "python": platform.python_version(),
        "matrix_tf32": torch.backends.cuda.matmul.allow_tf32,
        "convolution_tf32": torch.backends.cudnn.allow_tf32,
    }
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def _table(rows: Iterable[dict[str, Any]]) -> str:
    text = io.StringIO()
    table = None
    for row in rows:
        if table is None:
            table = csv.DictWriter(text, row, lineterminator="\n")
            table.writeheader()
        table.writerow(row)
    return text.getvalue()
