"""Language models as users name them: configurations, folders, ONNX files with large data."""

import json
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto

from predictor.core.errors import InputError
from predictor.language.recognise import UNSTATED_CONTEXT
from predictor.services.models.ingestion import IngestionWorker
from predictor.services.models.language import read_language_model
from tests.support.networks import decoders
from tests.support.networks.builder import Builder
from tests.support.networks.decoders import Size
from tests.support.public_models import CONFIGS

LARGE = Size(4, 4096, 32, 8, 128, 14336, 128256)
CONFIG = {**CONFIGS["Llama-3-8B"][0], "num_hidden_layers": 4}


@pytest.fixture(scope="module")
def worker() -> Iterator[IngestionWorker]:
    with IngestionWorker() as made:
        yield made


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """A decoder of gigabytes, whose data is a hole in a file."""
    proto = decoders.genai(LARGE, block=32).model()
    size = 0
    for tensor in proto.graph.initializer:
        if not tensor.HasField("raw_data"):
            length = math.prod(tensor.dims) * (1 if tensor.data_type == TensorProto.UINT8 else 2)
            tensor.data_location = TensorProto.EXTERNAL
            for key, value in (("location", "data"), ("offset", size), ("length", length)):
                tensor.external_data.add(key=key, value=str(value))
            size += length
    with (tmp_path / "data").open("wb") as file:
        file.truncate(size)
    path = tmp_path / "model.onnx"
    onnx.save(proto, path)
    return path


def test_a_configuration_or_its_folder_is_a_language_model(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(CONFIG))
    by_file, by_folder = read_language_model(path), read_language_model(tmp_path)
    assert by_file.architecture == by_folder.architecture
    # A folder is no GGUF file, whatever its name.
    named = tmp_path / "llama.gguf"
    named.mkdir()
    path.rename(named / path.name)
    assert read_language_model(named).architecture.layers == by_file.architecture.layers
    assert by_file.architecture.name == tmp_path.name
    assert (by_file.weights, by_file.kv_precision) == ("", "fp16")
    with pytest.raises(InputError, match="no such file"):
        read_language_model(tmp_path / "none")


def test_a_decoder_in_onnx_needs_none_of_its_data(large: Path, worker: IngestionWorker) -> None:
    model = read_language_model(large, worker)
    assert (model.weights, model.kv_precision) == ("int4-32", "fp16")
    found = model.architecture
    assert (found.layers, found.hidden, found.heads, found.kv_heads) == (4, 4096, 32, 8)
    assert (found.name, found.max_context) == ("model", UNSTATED_CONTEXT)


def test_the_files_beside_it_complete_it(large: Path, worker: IngestionWorker) -> None:
    genai = large.with_name("genai_config.json")
    genai.write_text(json.dumps({"model": {"context_length": 8192}}))
    found = read_language_model(large, worker).architecture
    assert found.max_context == 8192
    beside = large.with_name("config.json")
    beside.write_text(json.dumps({**CONFIG, "_name_or_path": "meta/Llama-3-4L"}))
    stated = read_language_model(large, worker).architecture
    assert (stated.name, stated.family) == ("Llama-3-4L", "llama")
    assert stated.parameters() == replace(found, name="", family="").parameters()
    # That of another model says nothing of this one.
    for other in (json.dumps({**CONFIG, "num_hidden_layers": 5}), "{}", "no JSON"):
        beside.write_text(other)
        assert read_language_model(large, worker).architecture == found
    genai.write_text("{")
    assert read_language_model(large, worker).architecture.max_context == UNSTATED_CONTEXT


def test_a_network_of_pictures_is_refused(tmp_path: Path) -> None:
    b = Builder()
    b.node("Relu", [b.conv(b.input("image", [1, 3, 8, 8]), 3, 4, 3)], ["y"])
    b.output("y")
    onnx.save(b.model(), tmp_path / "picture.onnx")
    with pytest.raises(InputError, match="it is no language model"):
        read_language_model(tmp_path / "picture.onnx")
