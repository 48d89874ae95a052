"""A corpus as the judge sees it: classes, silicon and networks of its measurements as arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ctm_research.corpus import Corpus
from ctm_research.corpus.ledger import Ledger
from ctm_research.corpus.single_operators import OPERATOR_FAMILY
from ctm_research.evaluation.judge.parts import Parts, parts_of
from ctm_research.training.statistics import fit_typical
from predictor.core.errors import InputError
from predictor.core.records import Device, Target
from predictor.devices.architectures import kind, silicon

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

NO_CLASS = -1


@dataclass(frozen=True, slots=True, order=True)
class Class:
    """Targets that are judged together.

    Attributes:
        runtime: name.
        kind: of device, such as ``x86`` or ``nvidia``.
    """

    runtime: str
    kind: str

    def __str__(self) -> str:
        return f"{self.kind} x {self.runtime}"


@dataclass(frozen=True, eq=False)
class Judged:
    """M measurements of a corpus on T targets.

    Attributes:
        corpus: the measurements.
        targets: T, with their devices.
        classes: C, sorted.
        klass: int64 [T], class of a target; NO_CLASS where the catalogue lacks the device.
        silicon: int64 [T].
        silicon_names: by their numbers.
        device: int64 [T], number of the device: boards that a source tells apart are one.
        graph: int64 [M].
        target: int64 [M].
        network: int64 [M], the same at every batch.
        family: int64 [M], of architectures.
        log_latency: float64 [M], ln(latency in ms).
        parts: the roofline's.
        rows: int64 [J], measurements that are judged: of networks on devices of the catalogue.
        ledger: account of what the sources publish; None where it was not read.
    """

    corpus: Corpus
    targets: Sequence[Target]
    classes: tuple[Class, ...]
    klass: Rows
    silicon: Rows
    silicon_names: tuple[str, ...]
    device: Rows
    graph: Rows
    target: Rows
    network: Rows
    family: Rows
    log_latency: Floats
    parts: Parts
    rows: Rows
    ledger: Ledger | None = None

    def class_of(self, rows: Rows) -> Rows:
        """Return the class of each of some measurements."""
        numbers: Rows = self.klass[self.target[rows]]
        return numbers

    def silicon_of(self, rows: Rows) -> Rows:
        """Return the silicon of each of some measurements."""
        numbers: Rows = self.silicon[self.target[rows]]
        return numbers


def judged_of(
    corpus: Corpus, devices: Mapping[str, Device], ledger: Ledger | None = None
) -> Judged:
    """Return a corpus for the judge.

    Args:
        corpus: the measurements.
        devices: the catalogue by id.
        ledger: account of what the sources publish.

    Raises:
        InputError: no measurement is of a network on a device of the catalogue.
    """
    targets = corpus.target_list(devices)
    keys = [
        Class(target.configuration.runtime, kind(target.device)) if listed.is_listed else None
        for target, listed in zip(targets, corpus.targets, strict=True)
    ]
    classes = tuple(sorted({key for key in keys if key is not None}))
    numbers = {key: place for place, key in enumerate(classes)}
    klass = np.array([NO_CLASS if key is None else numbers[key] for key in keys], np.int64)
    names, of_target = np.unique(
        [
            silicon(target.device) if listed.is_listed else target.device.id
            for target, listed in zip(targets, corpus.targets, strict=True)
        ],
        return_inverse=True,
    )
    _, device = np.unique(np.array([target.device.id for target in targets]), return_inverse=True)
    m = corpus.measurements
    graph, target = m.graph.astype(np.int64), m.target.astype(np.int64)
    family = corpus.graphs.family.astype(np.int64)[graph]
    judged = klass[target] != NO_CLASS
    if OPERATOR_FAMILY in corpus.families:
        judged &= family != corpus.families.index(OPERATOR_FAMILY)
    if not judged.any():
        raise InputError(
            "measurements",
            "none is of a network on a device of the catalogue",
            "give a data folder with some",
        )
    return Judged(
        corpus=corpus,
        targets=targets,
        classes=classes,
        klass=klass,
        silicon=of_target.astype(np.int64),
        silicon_names=tuple(names.tolist()),
        device=device.astype(np.int64),
        graph=graph,
        target=target,
        network=corpus.graphs.network.astype(np.int64)[graph],
        family=family,
        log_latency=np.log(m.latency_ms),
        parts=parts_of(corpus, targets, fit_typical(list(devices.values()))),
        rows=np.flatnonzero(judged),
        ledger=ledger,
    )
