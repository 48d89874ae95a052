"""Zip archives that hold no model that is read are named."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from predictor.core.errors import InputError
from predictor.formats.opening import open_model


@pytest.mark.parametrize(
    ("members", "what", "action"),
    [
        (["m/code/__torch__.py", "m/data.pkl", "m/constants.pkl"], "TorchScript", "torch.jit.load"),
        (["m/data.pkl", "m/data/0", "m/version"], "PyTorch checkpoint", "torch.export.save"),
        (["config.json", "metadata.json", "model.weights.h5"], "Keras", "export"),
        (["a.npy", "b.npy"], "NumPy", "choose the model"),
        (["m.mlpackage/Manifest.json"], "Core ML package in a zip", "unpack"),
        (["m/saved_model.pb"], "SavedModel", "tf2onnx"),
        (["m/data/aotinductor/model/x.cubin"], "AOTInductor", "torch.export.save"),
        (["a/model.onnx"], "zip archive", "unpack it"),
        (["readme.txt"], "zip archive", "unpack it"),
    ],
)
def test_an_archive_is_named_by_its_members(
    tmp_path: Path, members: list[str], what: str, action: str
) -> None:
    path = tmp_path / "m.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name in members:
            archive.writestr(name, b"\x80\x02.")

    with pytest.raises(InputError) as caught:
        open_model(path)
    assert what in caught.value.reason
    assert action in caught.value.action


def test_a_damaged_archive_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "m.pt2"
    path.write_bytes(b"PK\x03\x04" + bytes(100))

    with pytest.raises(InputError, match="zip archive"):
        open_model(path)
