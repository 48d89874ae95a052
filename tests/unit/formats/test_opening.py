"""Formats that cannot be opened are named with the way out."""

from __future__ import annotations

from pathlib import Path

import pytest

from predictor.core.errors import InputError
from predictor.core.progress import CancelToken
from predictor.formats.kinds import FORMATS
from predictor.formats.opening import open_model
from predictor.formats.suffixes import SUFFIXES
from predictor.services.models.files import find_model_files
from tests.support.golden_formats import unpacked


def test_the_endings_are_those_of_the_formats() -> None:
    assert (".onnx", *(suffix for kind in FORMATS for suffix in kind.suffixes)) == SUFFIXES


def test_a_saved_model_is_named_with_its_converter(tmp_path: Path) -> None:
    (tmp_path / "saved_model.pb").write_bytes(b"\x08\x01")

    assert find_model_files([str(tmp_path)], CancelToken()).paths == (str(tmp_path),)
    with pytest.raises(InputError, match="SavedModel") as raised:
        open_model(tmp_path)
    assert "from_saved_model" in raised.value.action


def test_the_size_of_a_package_is_that_of_its_files(tmp_path: Path) -> None:
    package = unpacked("resnet18.mlpackage.tar.xz", tmp_path)
    sizes = [path.stat().st_size for path in package.rglob("*") if path.is_file()]

    assert open_model(package).size_bytes == sum(sizes)
