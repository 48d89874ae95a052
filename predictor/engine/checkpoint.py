"""The shipped network with all that its predictions need: a folder of JSON, ONNX and arrays."""

from __future__ import annotations

import hashlib
import json
import math
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from predictor.calibration.deviation import DeviationPrior
from predictor.core.errors import InputError
from predictor.core.files import read_bytes
from predictor.engine.estimate import Estimate
from predictor.engine.estimate_file import read_estimate
from predictor.graph.operators import OPERATORS
from predictor.network.features import SCALE_FREE_NAMES
from predictor.network.reference_rates import Typical
from predictor.network.scaling import Scaling
from predictor.network.target_facts import CHOICE_KINDS
from predictor.network.work_terms import TERMS

CARD: Final = "engine.json"
ENCODER: Final = "encoder.onnx"
HEAD: Final = "head.onnx"
ESTIMATE: Final = "estimate.npz"
KIND: Final = "ctm-engine"
VERSION: Final = 1
_MAX_BYTES: Final = 1 << 28  # of one file
_AGAIN: Final = "install the program again, or predict with --engine roofline"


@dataclass(frozen=True, slots=True)
class Widths:
    """Factors that widen intervals to their nominal coverage on held-out targets.

    Attributes:
        zero_shot: factors of the 80 % and the 95 % interval where nothing was measured.
        probed: the same where the user measured something.
        published: the same where the published measurements of a listed target are read, and
            families of networks are asked about that are not among them.
    """

    zero_shot: tuple[float, float]
    probed: tuple[float, float]
    published: tuple[float, float]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class EngineCard:
    """The content of ``engine.json``.

    Attributes:
        name: of the engine with its version, as stored with predictions.
        responses: F.
        operators: number of the operator vocabulary that it knows.
        choices: runtimes, precisions and families that it was trained to distinguish, in the order
            of its inputs.
        facts: scaling of the metrics of targets.
        typical: rates where a fact is missing.
        prior: of deviations.
        widths: of intervals.
        families: number of families of architectures in its training data, by the operators that
            they have.
        blend: lambda of Eq. (9).
        residual: alpha_res of Eq. (8).
        notes: the model card's facts; plain JSON values.
    """

    name: str
    responses: int
    operators: int
    choices: tuple[str, ...]
    facts: Scaling
    typical: Typical
    prior: DeviationPrior
    widths: Widths
    families: Mapping[str, int]
    blend: float
    residual: float
    notes: Mapping[str, object] = field(default_factory=dict)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> EngineCard:
        """Read the values of the file.

        Raises:
            InputError, KeyError, TypeError, ValueError: a part is missing or wrong.
        """
        for name, ours in (
            ("features", list(SCALE_FREE_NAMES)),
            ("terms", list(TERMS)),
            ("operators", list(OPERATORS[: len(data["operators"])])),
        ):
            # Columns go by position: lists in another order would be read as other quantities.
            if data[name] != ours:
                raise ValueError(f"its {name} are not those of this program")
        if not all(str(choice).partition(" ")[0] in CHOICE_KINDS for choice in data["choices"]):
            raise ValueError("its choices are of no kind that this program knows")
        prior, widths = data["prior"], data["widths"]
        numbers = [
            float(number) for numbers in (prior.values(), *widths.values()) for number in numbers
        ]
        if not all(math.isfinite(number) and number > 0 for number in numbers):
            raise ValueError("a scale is not positive")
        return cls(
            name=str(data["name"]),
            responses=int(data["responses"]),
            operators=len(data["operators"]),
            choices=tuple(data["choices"]),
            facts=Scaling.from_json(data["facts"]),
            typical=Typical.from_json(data["typical"]),
            prior=DeviationPrior(
                **{name: float(prior[name]) for name in ("shift", "scale", "noise")}
            ),
            widths=Widths(**{name: _pair(widths[name]) for name in Widths.__annotations__}),
            families={str(k): int(v) for k, v in data["experience"]["operators"].items()},
            blend=float(data["blend"]),
            residual=float(data["residual"]),
            notes=dict(data["notes"]),
        )


def _pair(values: object) -> tuple[float, float]:
    if not isinstance(values, list | tuple):
        raise TypeError("a pair of numbers is missing")
    first, second = values
    return float(first), float(second)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LoadedCheckpoint:
    """A checkpoint in memory, but for its ONNX files, whose checksums were verified.

    Attributes:
        folder: that it was read from.
        engine: its card.
        estimate: the estimate.
        estimate_checksum: SHA-256 of the estimate's file.
    """

    folder: Path
    engine: EngineCard
    estimate: Estimate
    estimate_checksum: str


def read_checkpoint(folder: Path) -> LoadedCheckpoint:
    """Read a checkpoint, and check that its files are whole.

    Raises:
        InputError: it is missing, damaged, foreign, or newer than this program.
    """
    with _reading(folder):
        data = _read(folder)
        checksums = data["files"]
        for name in {ENCODER, HEAD, ESTIMATE, *checksums}:
            # Halves of two trainings would load side by side without an error, and predict
            # nonsense.
            if checksums[name] != checksum(folder / name):
                raise ValueError(f"{name} is not the file that belongs to it")
        engine = EngineCard.from_json(data)
        estimate = read_estimate(folder / ESTIMATE)
    return LoadedCheckpoint(
        folder=folder,
        engine=engine,
        estimate=estimate,
        estimate_checksum=checksums[ESTIMATE],
    )


def read_card(folder: Path) -> EngineCard:
    """Read the card of a checkpoint alone, whatever the form of its other files.

    Raises:
        InputError: it is missing, damaged, foreign, or newer than this program.
    """
    with _reading(folder):
        return EngineCard.from_json(_read(folder))


@contextmanager
def _reading(folder: Path) -> Iterator[None]:
    """Turn errors of reading a checkpoint into one for the user."""
    try:
        yield
    except OSError as error:
        raise InputError(str(folder), f"it cannot be read ({error.strerror})", _AGAIN) from error
    except (KeyError, TypeError, ValueError, AttributeError, zipfile.BadZipFile) as error:
        raise InputError(str(folder), f"it is no whole checkpoint ({error})", _AGAIN) from error


def _read(folder: Path) -> Mapping[str, Any]:
    """Return the content of a card whose format this program reads."""
    data: Mapping[str, Any] = json.loads(read_bytes(folder / CARD, _MAX_BYTES, _AGAIN))
    kind, _, version = str(data["format"]).partition("/")
    if kind != KIND or not version.isdecimal():
        raise ValueError(f"its format is {data['format']}")
    if int(version) > VERSION:
        raise InputError(
            str(folder),
            f"its format has version {version}, and this program reads up to {VERSION}",
            "update the program, or predict with --engine roofline",
        )
    return data


def checksum(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal digits."""
    return hashlib.sha256(read_bytes(path, _MAX_BYTES, _AGAIN)).hexdigest()
