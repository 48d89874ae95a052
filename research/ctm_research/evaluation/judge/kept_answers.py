"""Answers of the folds of a training, kept until it ends, so that a stopped one goes on."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

import predictor
from ctm_research.evaluation.judge.engines import Predicted
from ctm_research.evaluation.judge.judged import Judged, Rows
from predictor.core.files import replaced

# What the answers depend on beside the measurements.
_CODE: Final = ("calibration", "cost", "devices", "engine", "network")  # rooms of the product
_ARRAYS: Final = ("rows", "log_ms", "deviation")


class Answered(NamedTuple):
    """Predictions of some measurements in one setting of a track record."""

    setting: str
    rows: Rows
    predicted: Predicted


class KeptAnswers:
    """A folder with a file for each finished fold of one training."""

    def __init__(self, folder: Path, judged: Judged, seed: int) -> None:
        """Use a folder, which need not be there.

        Args:
            folder: of this alone.
            judged: the corpus; its latencies, devices and this program's code name the files.
            seed: of the training.
        """
        digest = hashlib.sha256(f"{seed} {judged.targets!r}".encode())
        digest.update(judged.log_latency.tobytes())
        root = Path(predictor.__path__[0])
        rooms = [*(root / name for name in _CODE), Path(__file__).parent]
        for file in sorted(file for room in rooms for file in room.rglob("*.py")):
            digest.update(file.read_bytes())
        self._folder, self._key = folder, digest.hexdigest()[:16]

    def of(self, fold: int, answer: Callable[[], list[Answered]]) -> list[Answered]:
        """Return the answers of a fold: the kept ones, or those of ``answer``, which are then kept.

        Raises:
            HostError: they cannot be written.
        """
        path = self._folder / f"{self._key}-{fold}.npz"
        try:
            # NumPy leaves a damaged file open that it opened itself.
            with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
                return _read(arrays)
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            answers = answer()  # not there, or cut off
        self._folder.mkdir(parents=True, exist_ok=True)
        with replaced(path) as partial, partial.open("wb") as stream:
            np.savez(stream, allow_pickle=False, **_written(answers))
        return answers


def _read(arrays: np.lib.npyio.NpzFile) -> list[Answered]:
    return [
        Answered(setting, rows, Predicted(log_ms, deviation))
        for place, setting in enumerate(arrays["settings"].tolist())
        for rows, log_ms, deviation in [(arrays[f"{name}.{place}"] for name in _ARRAYS)]
    ]


def _written(answers: Sequence[Answered]) -> dict[str, np.ndarray[tuple[int], np.dtype]]:
    arrays = {"settings": np.array([each.setting for each in answers])}
    for place, each in enumerate(answers):
        values = each.rows, each.predicted.log_ms, each.predicted.deviation
        arrays |= {f"{name}.{place}": value for name, value in zip(_ARRAYS, values, strict=True)}
    return arrays
