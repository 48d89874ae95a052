"""Writers of the shipped checkpoint's files; :mod:`predictor.engine.checkpoint` reads them."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from predictor.calibration.evidence import Keys
from predictor.calibration.unknowns import MeasuredKinds
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
from predictor.engine.estimate import Estimate
from predictor.engine.estimate_file import FORMAT, NETWORK_ARRAYS, OPERATOR_ARRAYS
from predictor.graph.operators import OPERATORS
from predictor.network.features import SCALE_FREE_NAMES
from predictor.network.work_terms import TERMS


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
        **card_document(engine),
        "files": {
            name: checksum(path)
            for name, path in files.items()
            if name != ESTIMATE or path.exists()
        },
    }
    text = json.dumps(content, indent=1, allow_nan=False) + "\n"
    write_text(folder / CARD, text)


def card_document(engine: EngineCard) -> dict[str, object]:
    """Return a card as plain values, which :meth:`EngineCard.from_json` reads."""
    facts = engine.facts
    return {
        "name": engine.name,
        "responses": engine.responses,
        "operators": list(OPERATORS[: engine.operators]),
        "features": list(SCALE_FREE_NAMES),
        "choices": list(engine.choices),
        "terms": list(TERMS),
        "facts": {
            "names": list(facts.names),
            "mean": facts.mean.tolist(),
            "std": facts.std.tolist(),
        },
        "typical": asdict(engine.typical),
        "prior": asdict(engine.prior),
        "widths": asdict(engine.widths),
        "experience": {"operators": dict(engine.families)},
        "blend": engine.blend,
        "residual": engine.residual,
        "notes": dict(engine.notes),
    }


def write_estimate(path: Path, estimate: Estimate) -> None:
    """Write an estimate as a NumPy archive: numbers as arrays, names as one JSON text."""
    efficiencies, evidence = estimate.efficiencies, estimate.evidence
    words = {
        "format": FORMAT,
        "effects": {name: list(groups) for name, groups in efficiencies.effects.items()},
        "level": efficiencies.level,
        "groups": {name: list(names) for name, names in estimate.operators.names.items()},
        "typical": asdict(efficiencies.typical),
        "scales": asdict(evidence.scales),
        "tracks": {
            name: {group: asdict(track) for group, track in tracks.items()}
            for name, tracks in estimate.tracks.items()
        },
        "classes": list(estimate.networks.classes),
        "measured": {
            name: sorted(getattr(estimate.measured, name)) for name in MeasuredKinds.__slots__
        },
        "keys": {name: getattr(evidence.keys, name).tolist() for name in Keys.__slots__},
    }
    effects = [row for groups in efficiencies.effects.values() for row in groups.values()]
    operators: dict[str, Any] = {
        f"{OPERATOR_ARRAYS}{name}": array for name, array in estimate.operators.weights.items()
    }
    networks = estimate.networks
    of_networks: dict[str, Any] = {
        "products": networks.products,
        "product": networks.product.astype(np.uint16),
        "network": networks.network.astype(np.uint16),
        "shares": networks.shares.astype(np.float16),
        "weights": networks.weights.astype(np.float16),
    }
    with path.open("wb") as file:
        np.savez_compressed(
            file,
            words=np.frombuffer(json.dumps(words).encode(), np.uint8),
            mean=efficiencies.mean,
            directions=estimate.directions.astype(np.float32),
            effects=np.array(effects, np.float32),
            level=evidence.level.astype(np.float32),
            variance=evidence.variance.astype(np.float32),
            # A hundredth of a shape is nothing, and there are 64 numbers a target.
            shape=evidence.shape.astype(np.float16),
            networks=evidence.networks.astype(np.int32),
            covariance=evidence.covariance.astype(np.float32),
            **operators,
            **{f"{NETWORK_ARRAYS}{name}": array for name, array in of_networks.items()},
        )
