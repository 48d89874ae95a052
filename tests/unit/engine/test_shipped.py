"""What ships, on the sample models and all listed targets that were measured."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from predictor.core.records import Target
from predictor.core.resources import resources_dir
from predictor.engine.closertome import CloserToMeEngine
from predictor.graph.ingest import ingest
from predictor.graph.scaling import at_batch
from predictor.services.devices.catalogue import load_catalogue
from predictor.services.prediction.targets import resolve_targets
from tests.support.estimates import samples

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


def test_what_is_remembered_changes_no_number() -> None:
    """Copies of devices, and lists that others were asked about before, against a new engine."""
    folder = resources_dir() / "checkpoints" / "closertome"
    listed = load_catalogue().devices[::25]
    targets = [Target(device, run) for device in listed for run in device.configurations]
    copies = [Target(replace(target.device), target.configuration) for target in targets]
    others = [
        replace(target, device=replace(target.device, id=f"{target.device.id}-other"))
        for target in targets
    ]
    graphs = list(samples().values())
    engine = CloserToMeEngine(folder)
    engine.predict(graphs[:1], others, {})
    engine.predict(graphs, targets[::2], {})

    of_copies = engine.predict(graphs, copies, {})
    expected = CloserToMeEngine(folder).predict(graphs, targets, {})

    for name in ("latency_ms", "low80_ms", "high95_ms", "bound_ms", "shared_error"):
        ours, theirs = getattr(of_copies, name), getattr(expected, name)
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9, err_msg=name)
    assert of_copies.problems == expected.problems
    assert of_copies.out_of_distribution == expected.out_of_distribution
    assert list(of_copies.facts["evidence"][0]) == list(expected.facts["evidence"][0])
