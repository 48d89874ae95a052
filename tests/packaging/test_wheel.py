"""The wheel, made from the sdist, works where no checkout is: in an empty folder, installed."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

import pytest
from packaging.metadata import Metadata
from trove_classifiers import classifiers

from predictor import __version__

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "resources" / "samples" / "mobilenetv2-1.0-224.onnx"
# Python 3.11 has the filter from its fourth release on only.
_SAFELY = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
LARGEST_WHEEL = 10_000_000  # bytes; an index takes 100 MB
BUILDING = [sys.executable, "-m", "hatchling", "build"]

pytestmark = [
    pytest.mark.skipif(
        importlib.util.find_spec("hatchling") is None,
        reason="hatchling, which builds the wheel, is not installed",
    ),
    pytest.mark.timeout(240),
]


def run(*command: str | Path, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command that sees no checkout."""
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env={**inherited, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def done(*command: str | Path, cwd: Path, **environment: str) -> str:
    process = run(*command, cwd=cwd, **environment)
    assert process.returncode == 0, process.stderr
    return process.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel that the sdist of this checkout makes; the sdist's folder is beside it."""
    folder = tmp_path_factory.mktemp("dist")
    done(*BUILDING, "-t", "sdist", "-d", folder, cwd=ROOT)
    (archive,) = folder.glob("*.tar.gz")
    assert archive.name == f"closertome-{__version__}.tar.gz"
    with tarfile.open(archive) as sources:
        sources.extractall(folder, **_SAFELY)  # noqa: S202 - it was made here
    done(*BUILDING, "-t", "wheel", "-d", folder, cwd=folder / f"closertome-{__version__}")
    return folder / f"closertome-{__version__}-py3-none-any.whl"


@pytest.fixture(scope="module")
def scripts(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the commands of a fresh environment are, which has the wheel and our libraries."""
    environment = tmp_path_factory.mktemp("venv")
    done(sys.executable, "-m", "venv", "--without-pip", environment, cwd=environment)
    folder = environment / ("Scripts" if os.name == "nt" else "bin")
    python = folder / ("python.exe" if os.name == "nt" else "python")
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    packages = Path(done(python, "-c", code, cwd=environment).strip())
    # A path line of a .pth file: that folder's own .pth files, and so an editable install of this
    # checkout, are not read.
    libraries = sysconfig.get_path("purelib")
    (packages / "libraries.pth").write_text(libraries + "\n", encoding="utf-8")
    pip = [sys.executable, "-m", "pip", "--python", python, "install"]
    done(*pip, "--no-deps", "--no-index", "--no-compile", wheel, cwd=environment)
    return folder


def test_the_wheel_has_both_packages_and_the_resources_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())

    tops = {name.split("/")[0] for name in names}
    assert tops == {"predictor", "ctm_gui", f"closertome-{__version__}.dist-info"}
    shipped = {path for path in (ROOT / "resources").rglob("*") if path.is_file()}
    for path in shipped:
        assert f"predictor/resources/{path.relative_to(ROOT / 'resources').as_posix()}" in names
    assert f"closertome-{__version__}.dist-info/licenses/LICENSE" in names


def test_an_index_accepts_its_metadata(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        text = archive.read(f"closertome-{__version__}.dist-info/METADATA")
        assert "predictor/py.typed" in archive.namelist()

    sources = wheel.parent / f"closertome-{__version__}" / "PKG-INFO"

    metadata = Metadata.from_email(text, validate=True)

    assert text == sources.read_bytes()
    assert str(metadata.version) == __version__
    assert metadata.metadata_version == "2.4"  # the newest that older uploaders take
    assert metadata.license_expression == "Apache-2.0"
    assert [line for line in metadata.requires_dist or () if line.url is not None] == []
    assert (metadata.description or "").startswith("# CloserToMe\n")
    assert metadata.description_content_type == "text/markdown"
    assert set(metadata.classifiers or ()) <= classifiers
    assert wheel.stat().st_size < LARGEST_WHEEL


def test_installed_it_finds_its_resources_in_an_empty_folder(scripts: Path, tmp_path: Path) -> None:
    code = "import predictor; print(predictor.__file__)"
    assert str(scripts.parent) in done(scripts / "python", "-c", code, cwd=tmp_path)

    document = json.loads(done(scripts / "ctm", "devices", "list", "--json", cwd=tmp_path))

    files = list((ROOT / "resources" / "devices").glob("*.json"))
    this, *shipped = document["devices"]
    assert this["id"] == "this-machine"
    assert len(shipped) == len(files)


def test_installed_it_predicts_in_an_empty_folder(scripts: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    arguments = ["predict", SAMPLE, "--device", "rpi5", "--json"]
    store = str(tmp_path / "store.sqlite")

    document = json.loads(done(scripts / "ctm", *arguments, cwd=empty, CTM_STORE=store))

    assert document["predictions"][0]["latency_ms"] > 0
    assert not list(empty.iterdir())


@pytest.mark.parametrize(
    "command",
    [
        ("train", "--data", ".", "--out", "."),
        ("evaluate", "bound", "--data", "."),
        ("evaluate", "nas", "--data", ".", "--output", "."),
    ],
)
def test_installed_what_needs_a_checkout_says_so(
    scripts: Path, tmp_path: Path, command: tuple[str, ...]
) -> None:
    process = run(scripts / "ctm", *command, cwd=tmp_path)

    assert (process.returncode, process.stdout) == (3, "")
    (sentence,) = process.stderr.splitlines()
    assert sentence.endswith(
        "it is not part of an installed CloserToMe; "
        "run it in a checkout, with closertome[train] installed."
    )


def test_installed_it_has_the_child_that_fine_tunes(scripts: Path, tmp_path: Path) -> None:
    code = (
        "from importlib.util import find_spec; from predictor.services.signatures import film; "
        "print(find_spec(film._MODULE).origin); "
        "film.can_fine_tune() and __import__(film._MODULE)"
    )

    assert str(scripts.parent) in done(scripts / "python", "-c", code, cwd=tmp_path)


def test_installed_the_window_tells_its_version(scripts: Path, tmp_path: Path) -> None:
    told = done(scripts / "ctm-gui", "--version", cwd=tmp_path)

    assert told == f"CloserToMe {__version__}\n"
