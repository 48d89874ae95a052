"""Published measurements by hand, beside both numbers of the roofline."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ctm_research.sources import GraphFile, Sample, Statistic
from predictor.core.records import Configuration, Precision
from research.tests.data_folder import write_graph


def sample(folder: Path, **changes: object) -> Sample:
    path = folder / "one.onnx"
    if not path.exists():
        write_graph(path)
    plain = Sample(
        source="made",
        table="latencies.csv",
        line=2,
        network="one",
        graph=GraphFile(path),
        batch_factor=1,
        device="The card",
        device_id="card",
        configuration=Configuration("pytorch", Precision.FP32, 0, 1),
        latency_ms=1.0,
        statistic=Statistic.MEAN,
        provenance="made up",
    )
    return replace(plain, **changes)  # type: ignore[arg-type]  # each test names real fields
