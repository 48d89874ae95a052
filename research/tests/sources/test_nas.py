"""The search spaces: codes, devices with their batch, and damage that is named."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ctm_research.sources.nas import search_spaces
from predictor.core.errors import InputError
from research.tests.search_spaces import DEVICES, write_spaces


def test_a_device_name_splits_into_device_and_batch(tmp_path: Path) -> None:
    write_spaces(tmp_path)

    fbnet, nasbench, ofa = search_spaces(tmp_path)

    assert [(c.device_id, c.batch) for c in fbnet.columns] == [
        ("gtx1080-ti", 32),
        ("rpi4", 1),
        ("essential-ph-1", 1),
        ("eyeriss", 1),
    ]
    assert fbnet.codes["arch"].shape == (2, 22)
    assert set(ofa.codes) == {"ks", "expand", "depth", "resolution"}
    assert nasbench.latency_ms.tolist() == [[2.5] * 4] * 2


def test_sums_over_tables_of_blocks_are_no_measurements(tmp_path: Path) -> None:
    write_spaces(tmp_path)

    fbnet, nasbench, _ = search_spaces(tmp_path)

    assert [bool(c.excluded) for c in fbnet.columns] == [False, True, False, True]
    assert [bool(c.excluded) for c in nasbench.columns] == [False, False, False, True]


@pytest.mark.parametrize("wrong", [np.nan, 0.0, -1.0, np.inf])
def test_a_latency_that_is_no_number_above_0_names_architecture_and_device(
    tmp_path: Path, wrong: float
) -> None:
    latency_ms = np.full((2, 4), 2.5, np.float32)
    latency_ms[1, 2] = wrong
    write_spaces(tmp_path, latency_ms=latency_ms)

    with pytest.raises(InputError, match=r"fbnet\.npz, architecture 1, device essential_ph_1"):
        search_spaces(tmp_path)


def test_an_array_of_another_shape_is_refused(tmp_path: Path) -> None:
    write_spaces(tmp_path, arch=np.zeros((2, 21), np.int8))

    with pytest.raises(InputError, match=r"array arch has the shape \(2, 21\), not \(2, 22\)"):
        search_spaces(tmp_path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"fbnet\.npz: it cannot be read"):
        search_spaces(tmp_path)


@pytest.mark.parametrize("content", [b"no archive", b"PK\x03\x04 cut off"])
def test_a_damaged_file_is_named(tmp_path: Path, content: bytes) -> None:
    write_spaces(tmp_path)
    (tmp_path / "nas/ofa.npz").write_bytes(content)

    with pytest.raises(InputError, match=r"ofa\.npz: it cannot be read"):
        search_spaces(tmp_path)


def test_a_missing_array_is_named(tmp_path: Path) -> None:
    write_spaces(tmp_path)
    np.savez(tmp_path / "nas/fbnet.npz", devices=DEVICES)

    with pytest.raises(InputError, match="array arch is missing"):
        search_spaces(tmp_path)


def test_networks_are_built_from_their_codes(tmp_path: Path) -> None:
    write_spaces(tmp_path)

    fbnet, nasbench, ofa = search_spaces(tmp_path)

    # NAS-Bench-201 with "skip" on every edge: 7 783 050 operations with the 10 biases (see its
    # builder's tests).
    assert nasbench.graph(0).macs.sum() == 7_783_050 - 10
    assert fbnet.graph(1).fingerprint == fbnet.graph(0).fingerprint
    assert ofa.code(0) == [3] * 40 + [2] * 5 + [128]
    assert ofa.graph(0).input_bytes == 4 * 3 * 128 * 128
    assert [bool(space.caveat) for space in (fbnet, nasbench, ofa)] == [False, False, True]


def test_a_code_of_another_space_names_the_architecture(tmp_path: Path) -> None:
    write_spaces(tmp_path, arch=np.array([[0] * 22, [0] * 21 + [9]], np.int8))

    with pytest.raises(InputError, match=r"fbnet\.npz, architecture 1"):
        search_spaces(tmp_path)[0].graph(1)


def test_a_network_without_a_path_is_empty(tmp_path: Path) -> None:
    write_spaces(tmp_path)
    np.savez(
        tmp_path / "nas/nasbench201.npz",
        devices=DEVICES,
        latency_ms=np.ones((3, 4)),
        # No edge; all edges; edges into nodes that do not reach the output.
        arch=np.array([[0] * 6, [1] * 6, [3, 3, 3, 0, 0, 0]], np.int8),
    )

    _, nasbench, _ = search_spaces(tmp_path)

    assert [nasbench.is_empty(row) for row in range(3)] == [True, False, True]
