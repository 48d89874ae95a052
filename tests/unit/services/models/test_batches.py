"""A model read at another batch: own shapes and fingerprint, the work of independent inputs."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predictor.core.errors import InputError
from predictor.core.progress import CancelToken
from predictor.graph.ingest import ingest
from predictor.graph.model import Model
from predictor.graph.scaling import at_batch
from predictor.services.models.batches import read_at
from predictor.services.models.ingestion import IngestionWorker
from tests.support.networks.builder import Builder
from tests.support.networks.vision import resnet18


class Here(IngestionWorker):
    """Reads in this process."""

    def ingest(
        self,
        path: str | os.PathLike[str],
        bindings: Mapping[str, int] | None = None,
        batch: int | None = None,
        shapes: Mapping[str, tuple[int, ...]] | None = None,
        cancel: CancelToken | None = None,  # noqa: ARG002  # of the signature, not needed here
    ) -> Model:
        return ingest(path, bindings, batch, shapes)


READER = Here()


def saved(folder: Path, proto: onnx.ModelProto) -> str:
    path = folder / "net.onnx"
    onnx.save(proto, path)
    return str(path)


def tokens(batch: int | str) -> onnx.ModelProto:
    """A product over [batch, length, 8]."""
    b = Builder()
    x = b.input("x", [batch, "length", 8])
    b.output(b.node("MatMul", [x, b.weight(8, 4)], ["y"]))
    return b.model()


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Model:
    return ingest(saved(tmp_path_factory.mktemp("net"), resnet18()))


@settings(deadline=None, max_examples=8)
@given(st.integers(2, 64))
def test_it_has_the_work_of_as_many_independent_inputs(network: Model, batch: int) -> None:
    read = read_at(READER, network, {}, batch).graph
    scaled = at_batch(network.graph, batch)
    assert read.fingerprint != network.graph.fingerprint == scaled.fingerprint
    np.testing.assert_array_equal(read.macs, scaled.macs)
    np.testing.assert_array_equal(read.bytes_read, scaled.bytes_read)
    np.testing.assert_array_equal(read.bytes_written, scaled.bytes_written)
    np.testing.assert_array_equal(read.weight_bytes, network.graph.weight_bytes)
    assert read.names == network.graph.names
    assert read.output_shape(len(read) - 1) == (batch, 1000)


def test_its_own_batch_is_the_model_itself(network: Model) -> None:
    assert read_at(READER, network, {}, 1) is network


def test_what_the_user_set_stays_but_for_the_batch(tmp_path: Path) -> None:
    given_ = {"batch": 2, "length": 5}
    model = ingest(saved(tmp_path, tokens("batch")), given_)
    read = read_at(READER, model, given_, 3)
    assert read.inputs[0].shape == (3, 5, 8)
    assert read.graph.macs.sum() == 3 * 5 * 8 * 4
    # Without such a name the first dimension is the batch.
    given_ = {"x:0": 2, "length": 5}
    model = ingest(saved(tmp_path, tokens("")), given_)
    assert read_at(READER, model, given_, 3).inputs[0].shape == (3, 5, 8)


def test_a_file_that_pins_its_batch_is_refused_in_one_sentence(tmp_path: Path) -> None:
    b = Builder()
    x = b.input("x", [1, 8, 2, 2])
    b.output(b.node("Squeeze", [x, b.constant([0])], ["y"]))
    model = ingest(saved(tmp_path, b.model()))
    with pytest.raises(InputError) as refusal:
        read_at(READER, model, {}, 4)
    error = refusal.value
    assert error.subject == model.path
    assert re.fullmatch(
        r"it cannot run at batch 4: node Squeeze_\d+: fixed batch 1 \(Squeeze\)", error.reason
    )
    assert error.action == "export the model with a dynamic batch dimension"
