"""What a Linux desktop and Debian's tools are told."""

from __future__ import annotations

import gzip
import shutil
import subprocess
from configparser import ConfigParser
from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree as ET

import deb
import notices
import pytest
from PySide6.QtGui import QImage

from predictor import __version__

ROOT = Path(__file__).resolve().parents[2]
LINUX = ROOT / "packaging" / "linux"
TYPE = "application/x-onnx"
MIME = "{http://www.freedesktop.org/standards/shared-mime-info}"


def desktop_entry() -> dict[str, str]:
    parser = ConfigParser(interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(LINUX / "closertome.desktop", encoding="utf-8")
    return dict(parser["Desktop Entry"])


def test_the_desktop_entry_opens_models_in_the_window() -> None:
    entry = desktop_entry()

    assert entry["Exec"] == "ctm-gui %F"
    assert entry["MimeType"] == f"{TYPE};"
    # The window says this name to the desktop, which looks for the entry by it.
    application = (ROOT / "ctm_gui" / "application.py").read_text(encoding="utf-8")
    assert 'setDesktopFileName("closertome")' in application
    assert entry["StartupWMClass"] == "closertome"


def test_the_description_names_this_version_and_what_is_provided() -> None:
    root = ET.fromstring(deb.metainfo("2026-11-21"))  # noqa: S314  # our own file

    release = root.find("releases/release")
    assert release is not None
    assert release.attrib == {"version": __version__, "date": "2026-11-21"}
    assert root.findtext("launchable") == "closertome.desktop"
    assert [node.text for node in root.findall("provides/*")] == ["ctm", "ctm-gui", TYPE]


def test_the_file_type_is_that_of_the_desktop_entry() -> None:
    root = ET.parse(LINUX / "closertome-mime.xml").getroot()  # noqa: S314  # our own file

    (kind,) = root.findall(f"{MIME}mime-type")
    assert kind.get("type") == TYPE
    assert [node.get("pattern") for node in kind.findall(f"{MIME}glob")] == ["*.onnx"]


@pytest.fixture(scope="module")
def unpacked(qapp: object, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Debian package of a folder with one small program in it, unpacked again."""
    if not all(shutil.which(name) for name in ("dpkg-deb", "dpkg-query", "objdump")):
        pytest.skip("Debian's tools are not installed")
    folder = tmp_path_factory.mktemp("deb")
    bundle = folder / "closertome"
    (bundle / "_internal").mkdir(parents=True)
    for name in ("ctm", "ctm-gui"):
        shutil.copy(Path("/bin/true").resolve(), bundle / name)
    for name in ("LICENSE", notices.THIRD_PARTY_FILE, notices.DATA_FILE):
        (bundle / name).write_text(f"the text of {name}\n", encoding="utf-8")
    package = deb.make_deb(bundle, folder)
    assert package.name == f"closertome_{__version__}_{deb.architecture()}.deb"
    subprocess.run(["dpkg-deb", "--raw-extract", str(package), str(folder / "tree")], check=True)
    return folder / "tree"


def test_the_package_says_what_it_needs(unpacked: Path) -> None:
    lines = (unpacked / "DEBIAN" / "control").read_text(encoding="utf-8").splitlines()
    fields = dict(line.split(": ", 1) for line in lines if not line.startswith(" "))

    assert fields["Version"] == __version__
    assert fields["Depends"].startswith("libc6 (>= ")
    # Loaded by name and needed by no file: asked for where this machine has them.
    has_gl = Path("/sbin/ldconfig").exists() and "libGL.so.1" in deb._loader_paths()
    assert ("libgl1" in fields["Depends"]) is has_gl
    assert int(fields["Installed-Size"]) > 0


def test_the_commands_are_links_into_the_folder(unpacked: Path) -> None:
    for name in ("ctm", "ctm-gui"):
        link = unpacked / "usr" / "bin" / name
        assert link.resolve() == (unpacked / "usr" / "lib" / "closertome" / name).resolve()


def test_icons_have_the_sizes_of_their_folders(unpacked: Path) -> None:
    icons = unpacked / "usr" / "share" / "icons" / "hicolor"

    drawn = {path.parts[-3]: QImage(str(path)) for path in icons.rglob("closertome.png")}

    assert set(drawn) == {f"{size}x{size}" for size in (16, 32, 48, 64, 128, 256)}
    for folder, image in drawn.items():
        assert f"{image.width()}x{image.height()}" == folder
        centre = image.pixelColor(image.width() // 2, image.height() // 2)
        assert centre.alpha() == 255, folder


def test_documents_stand_where_debian_looks(unpacked: Path) -> None:
    documents = unpacked / "usr" / "share" / "doc" / "closertome"

    words = (documents / "copyright").read_text(encoding="utf-8")
    assert [line for line in words.splitlines() if line] == [
        f"the text of {name}" for name in ("LICENSE", notices.THIRD_PARTY_FILE, notices.DATA_FILE)
    ]
    changes = gzip.decompress((documents / "changelog.gz").read_bytes())
    assert changes == (ROOT / "CHANGELOG.md").read_bytes()


def test_the_day_of_a_build_can_be_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    assert deb._day() == "1970-01-02"
    monkeypatch.delenv("SOURCE_DATE_EPOCH")
    assert deb._day() <= datetime.now(tz=UTC).date().isoformat()
