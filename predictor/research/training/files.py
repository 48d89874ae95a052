"""Writers of the shipped checkpoint's files; :mod:`predictor.engine.checkpoint` reads them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from predictor.core.files import write_text
from predictor.engine.checkpoint import (
    CARD,
    ENCODER,
    ESTIMATE,
    HEAD,
    KIND,
    SIGNATURES,
    VERSION,
    EngineCard,
    ShippedSignatures,
    checksum,
)


def write_card(folder: Path, engine: EngineCard) -> None:
    """Write ``engine.json`` beside the other files, whose checksums it holds.

    Raises:
        OSError: a file cannot be read or written.
    """
    names = [ENCODER, HEAD, SIGNATURES, *([ESTIMATE] if (folder / ESTIMATE).exists() else [])]
    content = {
        "format": f"{KIND}/{VERSION}",
        **engine.to_json(),
        "files": {name: checksum(folder / name) for name in names},
    }
    text = json.dumps(content, indent=1, allow_nan=False) + "\n"
    write_text(folder / CARD, text)


def write_signatures(folder: Path, signatures: ShippedSignatures) -> None:
    """Write the signatures.

    Raises:
        OSError: the file cannot be written.
    """
    np.savez_compressed(
        folder / SIGNATURES,
        keys=np.array(signatures.keys),
        mean=signatures.mean,
        covariance=signatures.covariance,
        noise=signatures.noise,
        graphs=signatures.graphs,
    )
