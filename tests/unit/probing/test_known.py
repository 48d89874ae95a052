"""What the pool's networks take on known targets, which ships beside the pool."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from predictor.core.errors import HostError
from predictor.probing.networks.known import load_pool_latencies
from predictor.probing.networks.pool import load_pool


def test_every_network_of_the_pool_has_latencies_on_many_targets() -> None:
    known = load_pool_latencies()
    assert known.networks == tuple(network.fingerprint for network in load_pool())
    assert known.latency_ms.shape == (len(known.networks), len(known.targets))
    assert len(known.targets) >= 100
    assert np.isfinite(known.latency_ms).all()
    assert known.latency_ms.min() > 0


def test_latencies_are_read_in_64_bits(tmp_path: Path) -> None:
    latency_ms = np.array([[1.0, 2.5], [3.0, 4.25]], np.float32)
    path = tmp_path / "known.npz"
    np.savez(
        path, engine="engine/2", networks=["a", "b"], targets=["x", "y"], latency_ms=latency_ms
    )
    result = load_pool_latencies(path)
    assert (result.engine, result.targets) == ("engine/2", ("x", "y"))
    assert result.latency_ms.dtype == np.float64
    assert result.latency_ms.tolist() == latency_ms.tolist()


@pytest.mark.parametrize("content", [b"", b"no archive", None])
def test_a_damaged_file_is_told_in_one_sentence(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "known.npz"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(HostError, match=r"known\.npz: it cannot be read .*install again"):
        load_pool_latencies(path)
