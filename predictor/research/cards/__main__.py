"""Time this machine's CUDA card; see the package."""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import json
import platform
import sys
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import torch

from predictor.research.cards.networks import timed_images, timed_transformers
from predictor.research.cards.operators import timed_operators

_SEED: Final = 0


def main() -> int:
    """Write the tables of this machine's card; the exit code is 3 where it has none."""
    parser = argparse.ArgumentParser(prog="python -m predictor.research.cards")
    parser.add_argument("output", type=Path, help="folder of the tables")
    parser.add_argument("--device", required=True, help="id of the card in the catalogue")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        sys.stderr.write("This machine has no CUDA card that torch can use: run it on one.\n")
        return 3
    options.output.mkdir(parents=True, exist_ok=True)
    _describe(options.output / "card.json")
    known = {"target": options.device, "runtime": "pytorch"}
    for name, timed in {"transformers": timed_transformers, "images": timed_images}.items():
        text = _table(known | asdict(row) for row in timed())
        (options.output / f"{name}.csv").write_text(text, encoding="utf-8")
    operators = _table(asdict(row) for row in timed_operators(_SEED))
    packed = gzip.compress(operators.encode(), mtime=0)  # the same bytes for the same rows
    (options.output / "operators.csv.gz").write_bytes(packed)
    return 0


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


if __name__ == "__main__":
    sys.exit(main())
