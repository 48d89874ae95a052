"""Corpora for the judge, made row by row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from ctm_research.corpus import Corpus, Measurements
from ctm_research.evaluation.judge.judged import Class, Judged
from ctm_research.evaluation.judge.parts import Parts
from predictor.core.metrics import Family
from predictor.core.records import Configuration, Device, Target


@dataclass(frozen=True)
class Row:
    """One measurement in the words of the tests."""

    silicon: str
    network: int
    ms: float
    estimate_ms: float = 1.0
    device: str = ""
    runtime: str = "ncnn"
    kind: str = "arm"
    threads: int = 0
    family: int = 0
    source: int = 0


def judged(rows: Sequence[Row], *, unrated: Sequence[str] = ()) -> Judged:
    """Return a corpus of rows; the estimate of silicon in ``unrated`` rests on typical rates."""
    keys = [(r.silicon, r.device or r.silicon, r.runtime, r.kind, r.threads) for r in rows]
    distinct = sorted(set(keys))
    target = np.array([distinct.index(key) for key in keys], np.int64)
    silicon, of_silicon = np.unique([key[0] for key in distinct], return_inverse=True)
    _, device = np.unique([key[1] for key in distinct], return_inverse=True)
    classes = tuple(sorted({Class(key[2], key[3]) for key in distinct}))
    latency_ms = np.array([row.ms for row in rows])
    network = np.array([row.network for row in rows], np.int64)
    family = np.array([row.family for row in rows], np.int64)
    count = len(rows)
    measurements = Measurements(
        graph=network.astype(np.int32),
        target=target.astype(np.int32),
        source=np.array([row.source for row in rows], np.int8),
        statistic=np.zeros(count, np.int8),
        provenance=np.array([row.source for row in rows], np.int32),
        latency_ms=latency_ms,
        noise=np.full(count, 0.01, np.float32),
    )
    names = tuple(f"source {n}" for n in range(1 + max(row.source for row in rows)))
    families = tuple(f"family {n}" for n in range(1 + int(family.max())))
    published = tuple(f"publisher {n}@1:table.csv, 2.0" for n in range(len(names)))
    corpus = Corpus(measurements, cast("Any", None), (), names, families, published, {}, ())
    estimate_ms = np.array([row.estimate_ms for row in rows])
    return Judged(
        corpus=corpus,
        targets=[
            Target(
                Device(id=key[1], name=key[1], vendor="", family=Family.CPU, metrics={}),
                Configuration(key[2], threads=key[4]),
            )
            for key in distinct
        ],
        classes=classes,
        klass=np.array([classes.index(Class(key[2], key[3])) for key in distinct], np.int64),
        silicon=of_silicon.astype(np.int64),
        silicon_names=tuple(silicon.tolist()),
        device=device.astype(np.int64),
        graph=network,
        target=target,
        network=network,
        family=family,
        log_latency=np.log(latency_ms),
        parts=Parts(
            compute_ms=estimate_ms,
            memory_ms=np.zeros(count),
            launch_ms=np.zeros(count),
            estimate_ms=estimate_ms,
            rated=np.array([key[0] not in unrated for key in distinct]),
        ),
        rows=np.arange(count),
    )
