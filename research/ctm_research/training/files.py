"""Writers of the shipped checkpoint's files; :mod:`predictor.engine.checkpoint` reads them."""

from __future__ import annotations

import json
from pathlib import Path

from predictor.core.files import write_text
from predictor.engine.checkpoint import (
    CARD,
    ENCODER,
    ESTIMATE,
    HEAD,
    KIND,
    VERSION,
    EngineCard,
    checksum,
)


def write_card(folder: Path, engine: EngineCard, estimate: Path | None = None) -> None:
    """Write ``engine.json`` beside the other files, whose checksums it holds.

    Args:
        folder: of the checkpoint.
        engine: the content.
        estimate: file that is to take the place of the estimate; None for the one in the folder.

    Raises:
        OSError: a file cannot be read or written.
    """
    files = {name: folder / name for name in (ENCODER, HEAD, ESTIMATE)}
    files[ESTIMATE] = estimate or files[ESTIMATE]
    content = {
        "format": f"{KIND}/{VERSION}",
        **engine.to_json(),
        "files": {
            name: checksum(path)
            for name, path in files.items()
            if name != ESTIMATE or path.exists()
        },
    }
    text = json.dumps(content, indent=1, allow_nan=False) + "\n"
    write_text(folder / CARD, text)
