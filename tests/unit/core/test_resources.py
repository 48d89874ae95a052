from __future__ import annotations

from pathlib import Path

import pytest

import predictor
from predictor.core import resources


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    package = tmp_path / "predictor"
    package.mkdir()
    monkeypatch.setattr(resources, "_PACKAGE", package)
    return package


def test_a_checkout_has_its_resources_beside_the_package(package: Path) -> None:
    assert resources.resources_dir() == package.parent / "resources"


def test_an_installed_package_has_them_inside(package: Path) -> None:
    (package / "resources").mkdir()
    assert resources.resources_dir() == package / "resources"


def test_the_package_is_the_imported_one() -> None:
    package = Path(predictor.__file__).parent
    assert resources.resources_dir() in (package / "resources", package.parent / "resources")
