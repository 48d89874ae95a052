"""FiLM fine-tuned to a signature, in a child process where torch is installed."""

from __future__ import annotations

import importlib.util
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from predictor.core.child_process import ChildProcess, result_of
from predictor.core.errors import InputError
from predictor.core.progress import CancelToken, Progress, ProgressCallback, no_progress
from predictor.core.records import Measurement, Target
from predictor.core.text import plural
from predictor.cost.engine import FilmBiases, FilmTuning, TargetMeasurements
from predictor.engine.closertome import CloserToMeEngine
from predictor.services.prediction.engines import open_engine
from predictor.services.signatures.assessment import LeftOut, left_out

_SUBJECT: Final = "FiLM fine-tuning"
_MIN_NETWORKS: Final = 3  # networks: fewer determine the fit alone
_MODULE: Final = "predictor.network.film_tuning.child"


@dataclass(frozen=True, slots=True)
class Adaptations:
    """Both ways to adapt predictions to a signature, each network predicted from the others.

    Attributes:
        film: fine-tuned to the signature.
        by_posterior: with the network as it ships.
        by_film: with FiLM fine-tuned to the others too.
    """

    film: FilmTuning
    by_posterior: tuple[LeftOut, ...]
    by_film: tuple[LeftOut, ...]

    @property
    def film_is_better(self) -> bool:
        """Whether the median error is smaller with FiLM fine-tuned."""
        return median_error(self.by_film) < median_error(self.by_posterior)


def median_error(fits: Sequence[LeftOut]) -> float:
    """Return the median of the errors, without their signs."""
    return float(np.median([abs(fit.error) for fit in fits]))


def adaptations(
    target: Target,
    measured: TargetMeasurements,
    measurements: Sequence[Measurement],
    progress: ProgressCallback = no_progress,
    cancel: CancelToken | None = None,
) -> Adaptations:
    """Fine-tune FiLM to a signature, and predict each of its networks from the others both ways.

    Args:
        target: of the signature.
        measured: measurements of the signature as engines take them.
        measurements: the same records, those of which the graph is known.
        progress: called after each fit.
        cancel: ends the child within a tenth of a second.

    Raises:
        InputError, HostError, CancelledError: as of :func:`fine_tune`.
    """
    # Without earlier fine-tuning, which would count as the network as it ships.
    plain = replace(measured, film=None)
    film = fine_tune(target, plain, progress, cancel)
    tuned = replace(plain, film=film)
    fits = [
        left_out(target, measurements_used, measurements, cancel)
        for measurements_used in (plain, tuned)
    ]
    return Adaptations(film, *fits)


def can_fine_tune() -> bool:
    """Whether torch is installed, which nothing else of the program needs; it is not loaded."""
    # A frozen program has no ``-m`` to start the child with.
    frozen = getattr(sys, "frozen", False)
    return not frozen and importlib.util.find_spec("torch") is not None


def obstacle(networks: int) -> InputError | None:
    """Return the obstacle to fine-tuning FiLM; None where there is none.

    Args:
        networks: number of measured networks.
    """
    if not can_fine_tune():
        install = "install CloserToMe by pip with its train extra, closertome[train]"
        return InputError(_SUBJECT, "torch is not installed", install)
    if networks < _MIN_NETWORKS:
        reason = f"the signature has {plural(networks, 'network')}, fewer than {_MIN_NETWORKS}"
        return InputError(_SUBJECT, reason, "probe more networks")
    return None


def fine_tune(
    target: Target,
    measured: TargetMeasurements,
    progress: ProgressCallback = no_progress,
    cancel: CancelToken | None = None,
) -> FilmTuning:
    """Fit FiLM to the measurements of a target, and to all but one of them in turn.

    Args:
        target: of the measurements.
        measured: at least three graphs.
        progress: called after each fit.
        cancel: ends the child within a tenth of a second.

    Raises:
        InputError: torch is not installed, the engine has no FiLM, or there are too few graphs.
        HostError: the child fails.
        CancelledError: it was cancelled.
    """
    engine = _tunable(measured)
    graphs = [graph.fingerprint for graph in measured.graphs]
    with tempfile.TemporaryDirectory(prefix="ctm-film-") as folder:
        inputs = Path(folder) / "inputs.npz"
        arrays: dict[str, Any] = {
            f"{name}/{place}": array
            for place, head_inputs in enumerate(engine.network.head_inputs(measured.graphs, target))
            for name, array in head_inputs.items()
        }
        # By file: as JSON the arrays would be many times as large.
        np.savez(inputs, **arrays)
        request = {
            "head": str(engine.network.head),
            "latency_ms": measured.latency_ms.tolist(),
            "inputs": str(inputs),
        }
        fitted = _fitted(request, progress, cancel)
    # The fit to all comes first, then one without each graph, for predictions of that graph.
    full_fit, *partial_fits = [FilmBiases.from_json(entry) for entry in fitted]
    return FilmTuning(
        engine.network.checksum, full_fit, dict(zip(graphs, partial_fits, strict=True))
    )


def _tunable(measured: TargetMeasurements) -> CloserToMeEngine:
    if (problem := obstacle(len(measured.graphs))) is not None:
        raise problem
    engine = open_engine()
    if not isinstance(engine, CloserToMeEngine):
        raise InputError(_SUBJECT, "the learned engine is not in use", "install the program again")
    return engine


def _fitted(
    request: dict[str, object], progress: ProgressCallback, cancel: CancelToken | None
) -> Sequence[dict[str, Any]]:
    command = [sys.executable, "-P", "-X", "utf8", "-m", _MODULE]
    child = ChildProcess(command, _SUBJECT, "try again, or keep the posterior")

    def report(payload: dict[str, Any]) -> None:
        progress(Progress(payload["done"], payload["total"], "Fine-tuning FiLM"))

    return list(result_of(child, request, cancel, report)["fitted"])
