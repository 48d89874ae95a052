from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest

from predictor.core.errors import InputError
from predictor.graph.ingest import ingest
from predictor.graph.operator_graph import ARRAYS
from predictor.probing.networks.spaces import BUILDERS, operator_graph_of, write_network

ROOT = Path(__file__).resolve().parents[3]

CODES = {
    "fbnet-cifar100": [1, 2, 8, 4, 5, 8, 0, 3, 6, 7, 1, 8, 2, 2, 3, 5, 8, 1, 4, 6, 0, 1],
    "fbnet-imagenet": [1, 8, 8, 8, 5, 8, 8, 8, 6, 8, 8, 8, 2, 8, 8, 8, 8, 1, 8, 8, 8, 8],
    "nasbench201": [3, 4, 1, 0, 2, 3],
    "nasbench201-eager": [3, 4, 1, 0, 2, 3],
    "ofa-mbv3-w1.0": [*[3, 5, 7, 3] * 5, *[3, 4, 6, 4] * 5, *[2, 3, 2, 2, 2], 132],
    "ofa-mbv3-w1.2": [*[5, 3, 3, 7] * 5, *[4, 3, 3, 6] * 5, *[2, 2, 2, 2, 2], 160],
    "transformer": (1, 2, 32, 32, 2),
    "patches": (1, 2, 32, 8, 8),
    "products": (2, 4, 48, 64),
    "matrices": (1, 32, 576, 1536),
    "decode": (1, 1024, 2816),
    "gated": (1, 16, 7, 3),
    "windows": (1, 2, 16, 2, 4),
    "dense": (2, 32, 7, 3),
    "grouped": (2, 4, 8, 7),
    "depthwise": (2, 32, 7, 5),
    "concatenated": (2, 32, 12, 7),
    "elementwise": (2, 32, 7),
    "operator": (0, 2, 32, 7),
}


def test_every_space_has_a_code_here() -> None:
    assert CODES.keys() == BUILDERS.keys()


@pytest.mark.slow
@pytest.mark.parametrize("space", BUILDERS)
def test_the_graph_is_that_of_the_written_file(space: str, tmp_path: Path) -> None:
    path = tmp_path / "network.onnx"
    write_network(path, space, CODES[space], batch=2)

    of_file, of_code = ingest(path).graph, operator_graph_of(space, CODES[space], batch=2)

    onnx.checker.check_model(str(path), full_check=True)
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(of_file, name), getattr(of_code, name), err_msg=name)
    assert of_file.names == of_code.names
    assert of_file.parameters == of_code.parameters
    assert of_file.former_fingerprint == of_code.fingerprint


@pytest.mark.parametrize("space", BUILDERS)
def test_work_grows_with_the_batch_and_weights_do_not(space: str) -> None:
    one, four = (operator_graph_of(space, CODES[space], batch) for batch in (1, 4))

    assert four.macs.tolist() == (4 * one.macs).tolist()
    assert four.parameters == one.parameters
    assert four.fingerprint != one.fingerprint


def test_a_written_file_takes_another_batch_when_it_is_ingested(tmp_path: Path) -> None:
    space = "fbnet-cifar100"
    path = tmp_path / "network.onnx"
    write_network(path, space, CODES[space])

    assert (
        ingest(path, batch=8).graph.former_fingerprint
        == operator_graph_of(space, CODES[space], 8).fingerprint
    )


def test_another_process_with_another_hash_seed_writes_the_same_bytes(tmp_path: Path) -> None:
    here, there = tmp_path / "here.onnx", tmp_path / "there.onnx"
    write_network(here, "fbnet-cifar100", CODES["fbnet-cifar100"])
    program = (
        "from pathlib import Path; from predictor.probing.networks.spaces import write_network;"
        f"write_network(Path({str(there)!r}), 'fbnet-cifar100', {CODES['fbnet-cifar100']})"
    )
    environment = os.environ | {"PYTHONHASHSEED": "12345"}

    subprocess.run([sys.executable, "-c", program], cwd=ROOT, env=environment, check=True)

    assert here.read_bytes() == there.read_bytes()


def test_codes_of_integer_arrays_are_taken() -> None:
    row = np.array([CODES["nasbench201"]], np.int8)[0]

    of_row = operator_graph_of("nasbench201", row)

    assert of_row.fingerprint == operator_graph_of("nasbench201", CODES["nasbench201"]).fingerprint


def test_different_codes_have_different_weights(tmp_path: Path) -> None:
    digests = set()
    for index, code in enumerate(([0] * 22, [0] * 21 + [2])):
        path = tmp_path / f"{index}.onnx"
        write_network(path, "fbnet-cifar100", code)
        stem = next(t for t in onnx.load(path).graph.initializer if t.name == "stem.weight")
        digests.add(hashlib.sha256(stem.raw_data).hexdigest())

    assert len(digests) == 2


def test_an_unknown_space_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InputError, match="search space darts: there is no such space; give one of"):
        operator_graph_of("darts", [0])
