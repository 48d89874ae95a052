"""Makes the checkpoint that ships: trained without held-out parts, calibrated, trained on all."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch

from ctm_research.corpus import Corpus, HoldOut, draw_hold_out, open_corpus
from ctm_research.evaluation.engine.learned import (
    Calibration,
    HeldOut,
    LearnedEngine,
    calibrate,
    calibrate_by_half,
)
from ctm_research.evaluation.engine.page import page_part
from ctm_research.evaluation.engine.validation import Rows, Validation, joined, validate
from ctm_research.training.build import families_by_operator, train_network, write_checkpoint
from ctm_research.training.loop import Recipe
from ctm_research.training.signatures import published_rows
from predictor.calibration.deviation import DeviationPrior
from predictor.core.errors import HostError
from predictor.core.progress import CancelToken, Progress, ProgressCallback, no_progress
from predictor.core.records import Device
from predictor.engine.checkpoint import Widths

VALIDATION: Final = "validation.json"
PAGE: Final = "validation.md"
_WORK: Final = "work"  # states of trainings; may be deleted when they are done
# Always held out: a source with few devices would lose none by chance.
_ALWAYS: Final = ("rtx5090", "gtx1080-ti", "tesla-v100-pcie-32gb")
_KS: Final[Mapping[str, tuple[int, ...]]] = {"nas-fbnet": (0, 8, 20), "nas-nasbench201": (0, 8, 20)}
_QUERIES: Final = 200  # of a target at most


class EngineMaker:
    """Trains, validates and writes the learned engine."""

    def __init__(
        self,
        data: Path,
        devices: Mapping[str, Device],
        folder: Path,
        environment: Mapping[str, str],
        *,
        steps: int | None = None,
        seed: int = 0,
        progress: ProgressCallback = no_progress,
    ) -> None:
        """Open the corpus.

        Args:
            data: folder with one folder a source.
            devices: the catalogue, by id.
            folder: of the checkpoint.
            environment: command, version and date, for card and page.
            steps: of each training, None for as many as the recipe has.
            seed: of everything that is drawn.
            progress: of reading the data.

        Raises:
            InputError: the data cannot be read.
            HostError: the folder cannot be made.
        """
        torch.set_num_threads(1)  # the tensors are small: two threads wait for each other
        self._recipe = Recipe(seed=seed)
        if steps is not None:
            self._recipe = replace(self._recipe, steps=steps)
        self._folder, self._environment = folder, environment
        try:
            (folder / _WORK).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise HostError(
                str(folder), f"it cannot be made ({error.strerror})", "choose another folder"
            ) from error
        self._corpus = open_corpus(data, progress=progress)
        self._targets = self._corpus.target_list(devices)

    def validate(
        self, progress: ProgressCallback = no_progress, cancel: CancelToken | None = None
    ) -> None:
        """Train without held-out silicon and families, and write figures and calibration.

        Raises:
            CancelledError: a stop was asked for; finished steps are kept.
        """
        corpus, seed = self._corpus, self._recipe.seed
        left_out = draw_hold_out(corpus, seed, always=HoldOut.of(corpus, _ALWAYS))
        split = left_out.split(corpus)
        trained = train_network(
            corpus,
            self._targets,
            split.training,
            self._recipe,
            self._folder / _WORK / "validation.safetensors",
            progress,
            cancel,
        )
        progress(Progress(0, 1, "calibrating on what was held out"))
        unseen = np.concatenate([split.unseen_device, split.unseen_both])
        published = self._published(split.training)
        rows = np.concatenate([unseen, split.unseen_network, *published.values()])
        expected = trained.expected(corpus, rows)
        other = _of_targets(corpus, split.unseen_network, list(published))
        held_out = HeldOut(unseen, published, other)
        usual = calibrate(corpus, expected, held_out, seed)
        halves = calibrate_by_half(corpus, expected, held_out, seed)
        strange = {"unseen_device": split.unseen_device, "unseen_both": split.unseen_both}
        listed = {"unseen_network": other}
        validations = [
            validate(engine, corpus, parts, ks, queries=_QUERIES, progress=progress, cancel=cancel)
            for engine, parts, ks in (
                (LearnedEngine(corpus, expected, halves, usual), strange, _KS),
                (LearnedEngine(corpus, expected, halves, usual, published), listed, (0,)),
            )
        ]
        together = joined(validations)
        self._write(together, usual, left_out)

    def _published(self, rows: Rows) -> dict[int, Rows]:
        """Return the measurements that a prediction for each listed target reads from the start."""
        kept = published_rows(self._corpus, self._targets, rows, self._recipe.seed)
        return {
            index: kept[key]
            for index, target in enumerate(self._targets)
            if self._corpus.targets[index].is_listed and (key := str(target.id)) in kept
        }

    def ship(
        self, progress: ProgressCallback = no_progress, cancel: CancelToken | None = None
    ) -> None:
        """Train on everything, and write the checkpoint; the calibration is the validation's.

        Raises:
            CancelledError: a stop was asked for; finished steps are kept.
        """
        corpus, targets = self._corpus, self._targets
        rows = np.arange(len(corpus.measurements))
        validation = json.loads((self._folder / VALIDATION).read_text(encoding="utf-8"))
        calibration = _calibration(validation["calibration"])
        trained = train_network(
            corpus,
            targets,
            rows,
            replace(self._recipe, seed=self._recipe.seed + 1),
            self._folder / _WORK / "final.safetensors",
            progress,
            cancel,
        )
        write_checkpoint(
            self._folder,
            trained,
            families_by_operator(corpus, rows),
            calibration.prior,
            calibration.widths,
            {
                **self._environment,
                "recipe": asdict(self._recipe),
                "data": self._counts(),
                "held_out": validation["held_out"],
                "figures": validation["figures"],
            },
        )

    def _counts(self) -> dict[str, int]:
        """Return the measurements of each source."""
        counts = np.bincount(
            self._corpus.measurements.source, minlength=len(self._corpus.sources)
        ).tolist()
        return dict(zip(self._corpus.sources, counts, strict=True))

    def _write(self, validation: Validation, usual: Calibration, hold_out: HoldOut) -> None:
        held = {"silicon": sorted(hold_out.silicon), "families": sorted(hold_out.families)}
        content = {
            **self._environment,
            "recipe": asdict(self._recipe),
            "held_out": held,
            "calibration": {"prior": asdict(usual.prior), "widths": asdict(usual.widths)},
            "figures": validation.document(),
        }
        page = (
            "# The network on what it has not seen\n\n"
            "A network was trained without some silicon and some families of networks, which are "
            "held out in every source. Intervals are those of a calibration on the half of the "
            "held-out silicon that the predicted target is not in. Where the device is known, its "
            "published measurements of other families are read, as in predictions for a listed "
            "target.\n\n"
            + "\n".join(self._conditions(hold_out))
            + "\n\n"
            + page_part(validation)
            + "\n"
        )
        (self._folder / VALIDATION).write_text(
            json.dumps(content, indent=1, allow_nan=False, default=float) + "\n", encoding="utf-8"
        )
        (self._folder / PAGE).write_text(page, encoding="utf-8")

    def _conditions(self, hold_out: HoldOut) -> list[str]:
        """Return the conditions of the figures, the same on every page."""
        return [
            *(f"- {name}: {value}" for name, value in self._environment.items()),
            f"- silicon held out: {', '.join(sorted(hold_out.silicon))}",
            f"- families held out: {', '.join(sorted(hold_out.families))}",
        ]


def _of_targets(corpus: Corpus, rows: Rows, targets: list[int]) -> Rows:
    kept: Rows = rows[np.isin(corpus.measurements.target[rows], targets)]
    return kept


def _calibration(fitted: Mapping[str, Any]) -> Calibration:
    widths = fitted["widths"]
    return Calibration(
        DeviationPrior(**fitted["prior"]),
        Widths(**{name: tuple(pair) for name, pair in widths.items()}),
    )
