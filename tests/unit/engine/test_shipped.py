"""What ships, on the sample models and all listed targets that were measured."""

from __future__ import annotations

import numpy as np
import pytest

from predictor.core.resources import resources_dir
from predictor.engine.closertome import CloserToMeEngine
from predictor.graph.ingest import ingest
from predictor.graph.scaling import at_batch
from predictor.services.devices.catalogue import load_catalogue
from predictor.services.prediction.targets import resolve_targets

pytestmark = pytest.mark.slow

SAMPLES = sorted(path.name for path in (resources_dir() / "samples").glob("*.onnx"))


@pytest.mark.parametrize("name", SAMPLES)
def test_a_larger_batch_is_never_faster_on_what_was_measured(name: str) -> None:
    engine = CloserToMeEngine(resources_dir() / "checkpoints" / "closertome")
    targets = [t for t in resolve_targets(load_catalogue().devices) if engine.has_signature(t)]
    graph = ingest(str(resources_dir() / "samples" / name)).graph
    batches = [at_batch(graph, factor) for factor in (1, 2, 3, 4, 6, 8, 16, 64)]

    latency_ms = engine.predict(batches, targets, {}).latency_ms

    assert latency_ms.shape[1] > 50
    faster = np.diff(np.log(latency_ms), axis=0) < -1e-9
    assert not faster.any(), [str(targets[i].id) for i in np.flatnonzero(faster.any(axis=0))]
