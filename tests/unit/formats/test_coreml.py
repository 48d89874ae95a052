"""Core ML models: sizes, compressed weights, and packages that are wrong."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from predictor.core.errors import InputError
from predictor.formats.coreml import read
from predictor.formats.coreml.mil.schema import model_message
from predictor.formats.kinds import format_of
from predictor.formats.opening import open_model
from tests.support.golden_formats import unpacked
from tests.support.model_files import model_of, relu_node, saved

MODEL = "Data/com.apple.CoreML/model.mlmodel"


def name_of(path: Path) -> str | None:
    known = format_of(str(path))
    return None if known is None else known.name


def package(folder: Path) -> Path:
    return unpacked("yolo_head.mlpackage.tar.xz", folder)


def test_open_sizes_have_the_defaults_of_the_file(tmp_path: Path) -> None:
    path = unpacked("coreml/flexible.mlpackage.tar.xz", tmp_path)

    assert open_model(path).inputs[0].shape == (2, 3, 96, 96)
    set_shape = open_model(path, {"x:2": 64}, batch=1)
    assert set_shape.inputs[0].shape == (1, 3, 64, 96)


@pytest.mark.parametrize(("name", "bits"), [("palette", 4), ("integer", 8)])
def test_compressed_weights_count_as_stored(tmp_path: Path, name: str, bits: int) -> None:
    graph = open_model(unpacked(f"coreml/{name}.mlpackage.tar.xz", tmp_path)).graph
    matrices = 64 * 27 + 64 * 128

    assert matrices <= graph.parameters < matrices + 2 * 192
    assert matrices * bits // 8 <= graph.weights_total_bytes < matrices * bits // 8 + 6 * 192


def test_a_bare_file_is_known_by_its_fields(tmp_path: Path) -> None:
    folder = package(tmp_path)
    bare = tmp_path / "renamed.bin"
    bare.write_bytes((folder / MODEL).read_bytes())

    assert name_of(bare) == name_of(folder) == "Core ML"
    assert open_model(bare).graph.fingerprint == open_model(folder).graph.fingerprint


def test_an_onnx_file_is_none(tmp_path: Path) -> None:
    assert name_of(saved(tmp_path / "m.mlmodel", model_of([relu_node()]))) is None


@pytest.mark.parametrize(
    "item", ["../../outside.mlmodel", "/etc/hostname", "C:\\x", "..\\x", "com.apple.CoreML/gone"]
)
def test_a_manifest_cannot_leave_its_package(tmp_path: Path, item: str) -> None:
    folder = package(tmp_path)
    (tmp_path / "outside.mlmodel").write_bytes((folder / MODEL).read_bytes())
    content = {"rootModelIdentifier": "a", "itemInfoEntries": {"a": {"path": item}}}
    (folder / "Manifest.json").write_text(json.dumps(content))

    with pytest.raises(InputError, match="does not state which file"):
        open_model(folder)


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
def test_a_link_out_of_a_package_is_not_followed(tmp_path: Path) -> None:
    folder = package(tmp_path)
    outside = tmp_path / "outside.mlmodel"
    (folder / MODEL).rename(outside)
    (folder / MODEL).symlink_to(outside)

    with pytest.raises(InputError, match="does not state which file"):
        open_model(folder)


def test_a_compiled_model_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "m.mlmodelc"
    folder.mkdir()
    (folder / "coremldata.bin").write_bytes(b"x")

    with pytest.raises(InputError, match=r"compiled Core ML model.*mlpackage"):
        open_model(folder)


def test_a_model_without_a_network_is_named(tmp_path: Path) -> None:
    model = model_message()(specificationVersion=1)
    model.pipeline.SetInParent()
    path = tmp_path / "m.mlmodel"
    path.write_bytes(model.SerializeToString())

    assert name_of(path) == "Core ML"
    with pytest.raises(InputError, match="pipeline"):
        open_model(path)


def test_large_constants_in_the_file_are_not_read(tmp_path: Path) -> None:
    folder = package(tmp_path)
    model = model_message().FromString((folder / MODEL).read_bytes())
    block = model.mlProgram.functions[0].value.blocks[0].value
    weight = max(
        (step for step in block.operations if step.type == "const"),
        key=lambda step: len(step.outputs[0].type.tensorType.dimensions),
    )
    value = next(entry.value for entry in weight.attributes if entry.key == "val")
    value.ClearField("blobFileValue")
    value.immediateValue.tensor.floats.values.extend([1.0] * (5 * 2**20))
    (folder / MODEL).write_bytes(model.SerializeToString())

    assert len(read(str(folder)).SerializeToString()) < 2**20


def a_network_of_layers(bits: int = 0) -> bytes:
    """A classifier of pictures in the first form, whose layers state no ranks."""
    model = model_message()(specificationVersion=1)
    image = model.description.input.add(name="image").type.imageType
    image.width, image.height, image.colorSpace = 32, 24, 20
    model.description.output.add(name="label")
    layers = model.neuralNetworkClassifier.layers
    first = layers.add(name="conv", input=["image"], output=["a"]).convolution
    first.outputChannels, first.kernelChannels, first.hasBias = 16, 3, True
    first.kernelSize.extend([3, 3])
    first.stride.extend([2, 2])
    first.same.SetInParent()
    first.weights.quantization.numberOfBits = bits
    layers.add(name="relu", input=["a"], output=["b"]).activation.ReLU.SetInParent()
    pool = layers.add(name="pool", input=["b"], output=["c"]).pooling
    pool.type, pool.globalPooling = 1, True
    dense = layers.add(name="dense", input=["c"], output=["d"]).innerProduct
    dense.inputChannels, dense.outputChannels = 16, 10
    layers.add(name="softmax", input=["d"], output=["e"]).softmax.SetInParent()
    return bytes(model.SerializeToString())


def test_layers_without_ranks_are_read(tmp_path: Path) -> None:
    path = tmp_path / "m.mlmodel"
    path.write_bytes(a_network_of_layers())
    model = open_model(path)

    assert not model.notes
    assert model.inputs[0].shape == (1, 3, 24, 32)
    assert int(model.graph.macs.sum()) == 16 * 12 * 16 * 27 + 160
    assert model.graph.parameters == 16 * 27 + 16 + 160


def test_quantised_layers_count_in_their_bits(tmp_path: Path) -> None:
    full, packed = tmp_path / "full.mlmodel", tmp_path / "packed.mlmodel"
    full.write_bytes(a_network_of_layers())
    packed.write_bytes(a_network_of_layers(bits=8))

    sizes = [open_model(path).graph.weights_total_bytes for path in (full, packed)]
    assert sizes[0] - sizes[1] == pytest.approx(3 * 16 * 27, abs=8)


def test_a_layer_without_a_rule_is_flagged(tmp_path: Path) -> None:
    model = model_message().FromString(a_network_of_layers())
    layer = model.neuralNetworkClassifier.layers[1]
    layer.ClearField("activation")
    layer.custom.SetInParent()
    path = tmp_path / "m.mlmodel"
    path.write_bytes(model.SerializeToString())

    assert any("coreml::custom" in note for note in open_model(path).notes)
