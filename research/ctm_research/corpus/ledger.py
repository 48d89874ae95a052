"""Rows by class, a runtime on a kind of device: how many are used, and why the others are not."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from ctm_research.corpus.corpus import CorpusTarget
from ctm_research.corpus.drafts import NO_GRAPH, left_out_reason, sample_target
from ctm_research.sources import Source, present_sources
from ctm_research.sources.published_rules import ANOTHER, COPY
from predictor.core.metrics import Family
from predictor.core.records import Device
from predictor.devices.architectures import kind

_KINDS = {Family.CPU: "cpu", Family.MOBILE_CPU: "arm", Family.MOBILE_GPU: "mobile-gpu"}


class RowClass(NamedTuple):
    """A runtime on a kind of device."""

    runtime: str
    kind: str


@dataclass(slots=True)
class ClassRows:
    """The runs that sources publish in one class; copies and second statistics are not counted.

    Attributes:
        used: number of rows in the corpus.
        left_out: number of the others by reason.
        devices: as stated, with the number of rows of each that are used.
    """

    used: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    devices: Counter[str] = field(default_factory=Counter)

    @property
    def rows(self) -> int:
        """Number of all runs."""
        return self.used + self.left_out.total()

    @property
    def devices_used(self) -> int:
        """Number of devices with a row in the corpus."""
        return sum(count > 0 for count in self.devices.values())


@dataclass(frozen=True, slots=True)
class Ledger:
    """Account of the rows of a data folder.

    Attributes:
        classes: by runtime and kind of device.
        waiting: rows that lack nothing but a graph, by source and network.
        devices: by source, the devices as stated and those of the catalogue that rows are used of.
    """

    classes: Mapping[RowClass, ClassRows]
    waiting: Mapping[str, Counter[str]]
    devices: Mapping[str, tuple[set[str], set[str]]]


def read_ledger(data: Path, devices: Mapping[str, Device]) -> Ledger:
    """Count the rows of whole networks of a data folder.

    Args:
        data: folder with one folder a source.
        devices: the catalogue by id.

    Raises:
        InputError: no source is there, or a table of one is damaged.
    """
    classes: dict[RowClass, ClassRows] = defaultdict(ClassRows)
    waiting: dict[str, Counter[str]] = defaultdict(Counter)
    by_source: dict[str, tuple[set[str], set[str]]] = defaultdict(lambda: (set(), set()))
    for source in present_sources(data):
        for device, target, network, reason in _rows(source, data):
            stated, used = by_source[source.name]
            stated.add(device)
            if reason == NO_GRAPH:
                waiting[source.name][network] += 1
            if reason == ANOTHER or reason.startswith(COPY):
                continue
            rows = classes[class_of(target, devices)]
            rows.devices[device] += not reason
            if reason:
                rows.left_out[reason] += 1
            else:
                rows.used += 1
                used.add(target.device_id)
    return Ledger(classes, waiting, by_source)


def _rows(source: Source, data: Path) -> Iterable[tuple[str, CorpusTarget, str, str]]:
    for sample in source.samples(data):
        target = sample_target(source, sample)
        yield sample.device, target, sample.network, left_out_reason(sample)


def class_of(target: CorpusTarget, devices: Mapping[str, Device]) -> RowClass:
    """Return the class of a target; of a device that the catalogue lacks, by its stated unit."""
    runtime = target.configuration.runtime
    device = devices.get(target.device_id)
    if device is not None:
        return RowClass(runtime, kind(device))
    family = target.family or Family.CPU
    return RowClass(runtime, _KINDS.get(family, family.value))
