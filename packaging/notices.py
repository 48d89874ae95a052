"""Write the notices that a package must carry, from what is installed and from the catalogue.

    python packaging/notices.py FOLDER [BUNDLE]

THIRD-PARTY-NOTICES.txt has every distribution that the program needs, with its licence and the
texts that it ships; where BUNDLE is a frozen folder, also the system's libraries in it.
DATA-NOTICES.txt has the sources of the device catalogue and of published measurements.
"""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import tomllib
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from contents import PACKAGING, ROOT, version
from data_notices import data_notices
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

LICENCES = PACKAGING / "licences"
THIRD_PARTY_FILE = "THIRD-PARTY-NOTICES.txt"
DATA_FILE = "DATA-NOTICES.txt"

NOT_BUNDLED = frozenset({"pip"})
"""What sqlite-utils needs for plug-ins only, which the program does not install."""

_TEXT_NAMES = ("licen", "copying", "notice", "thirdparty")
_QT = (LICENCES / "LGPL-3.0.txt", LICENCES / "GPL-3.0.txt")
# Distributions that ship no licence text: the text of the licence that they state.
_TEXTS = {
    "flatbuffers": (ROOT / "LICENSE",),
    "pyside6-essentials": _QT,
    "shiboken6": _QT,
}
_QT_NOTE = """\
Qt and Qt for Python are used under the GNU Lesser General Public License, version 3, unchanged. The
program loads them as shared libraries; in a bundle they are in the folder _internal/PySide6. You
may replace them by your own build of the same version: the program then runs with yours. The
licence of CloserToMe forbids neither that nor taking the program apart to debug such a change. The
complete sources of these versions are at https://download.qt.io/official_releases/ (folders qt and
QtForPython)."""
_NOTES = {
    "asyncssh": """\
asyncssh is offered under the Eclipse Public License 2.0 or the GNU General Public License 2.0 or
later. CloserToMe uses and distributes it, unchanged, under the Eclipse Public License 2.0. Its
sources are at https://github.com/ronf/asyncssh.""",
    "pyside6-essentials": _QT_NOTE,
    "shiboken6": _QT_NOTE,
}
_DEBIAN_NOTE = """\
The libraries below were copied unchanged from Debian packages. Some are under the GNU Lesser
General Public License: they are shared libraries and may be replaced in the folder _internal. The
sources of each version are at https://snapshot.debian.org."""
_RULE = "=" * 88


class MissingLicenceError(Exception):
    """A distribution ships no licence text, and none is given for it here."""


def distributions() -> list[Distribution]:
    """Return what the program needs, installed here, by name: its requirements and theirs.

    Raises:
        PackageNotFoundError: one of them is not installed.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed: dict[str, Distribution] = {}
    waiting = [Requirement(line) for line in project["dependencies"]]
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        if name in needed or name in NOT_BUNDLED:
            continue
        needed[name] = distribution(requirement.name)
        waiting += _requirements(needed[name], requirement.extras)
    return [needed[name] for name in sorted(needed)]


def _requirements(package: Distribution, extras: set[str]) -> Iterator[Requirement]:
    for line in package.requires or []:
        requirement = Requirement(line)
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            yield requirement


def licence_of(package: Distribution) -> str:
    """Return the licence that a distribution states, in one line."""
    for field in ("License-Expression", "License"):
        if field in package.metadata:
            return package.metadata[field].strip().splitlines()[0]
    classifiers = package.metadata.get_all("Classifier") or []
    words = [line.rpartition(" :: ")[2] for line in classifiers if line.startswith("License ::")]
    return " or ".join(words) or "see the text"


def licence_texts(package: Distribution) -> list[str]:
    """Return the licence texts of a distribution.

    Raises:
        MissingLicenceError: it ships none and none is given for it here.
    """
    name = canonicalize_name(package.metadata["Name"])
    paths = [
        Path(str(file.locate()))
        for file in package.files or []
        if any(word in file.name.lower() for word in _TEXT_NAMES)
        and file.suffix.lower() in {"", ".txt", ".md", ".rst", ".apache", ".bsd", ".eigen"}
    ]
    paths += _TEXTS.get(name, ())
    texts = [path.read_text(encoding="utf-8", errors="replace").strip() for path in paths]
    if not texts:
        raise MissingLicenceError(
            f"{name} ships no licence text: add the one of {licence_of(package)} to notices.py"
        )
    return list(dict.fromkeys(texts))


def third_party_notices(bundle: Path | None = None) -> str:
    """Return the notices of everything that is not ours.

    Args:
        bundle: a frozen folder, whose system libraries are listed too.
    """
    introduction = (
        f"CloserToMe {version()} is licensed under the Apache License 2.0, see LICENSE.\n"
        "It uses the software below, each under its own licence."
    )
    seen: set[str] = set()
    parts = [introduction, *(_notice(package, seen) for package in distributions())]
    parts.append(f"{_RULE}\nPython {sys.version.split()[0]}: PSF-2.0\n\n{_python_licence()}")
    font = ROOT / "resources" / "fonts" / "DejaVuSans-LICENSE.txt"
    parts.append(f"{_RULE}\nDejaVu Sans (font)\n\n{font.read_text(encoding='utf-8').strip()}")
    if bundle is not None:
        parts += list(_system_notices(bundle))
    return "\n\n".join(parts) + "\n"


def _notice(package: Distribution, seen: set[str]) -> str:
    """Return the notice of one distribution; a text that another had is not repeated."""
    name = package.metadata["Name"]
    note = _NOTES.get(canonicalize_name(name))
    texts = licence_texts(package)
    new = [text for text in texts if text not in seen]
    seen.update(new)
    again = [] if len(new) == len(texts) else ["(A text of this licence stands above.)"]
    heading = f"{_RULE}\n{name} {package.version}: {licence_of(package)}"
    return "\n\n".join([heading, *([note] if note else []), *new, *again])


def _python_licence() -> str:
    stdlib = Path(sysconfig.get_path("stdlib"))
    for path in (stdlib / "LICENSE.txt", stdlib.parent / "LICENSE.txt"):
        if path.is_file():
            return path.read_text(encoding="utf-8").strip()
    return "The text is at https://docs.python.org/3/license.html"


def _system_notices(bundle: Path) -> Iterator[str]:
    """Yield the notices of the Debian packages whose libraries PyInstaller copied."""
    yield f"{_RULE}\n{_DEBIAN_NOTE}"
    for package, libraries in sorted(system_libraries(bundle).items()):
        text = Path("/usr/share/doc") / package / "copyright"
        words = text.read_text(encoding="utf-8", errors="replace").strip()
        yield f"{_RULE}\n{package}, of Debian: {', '.join(sorted(libraries))}\n\n{words}"


def system_libraries(bundle: Path) -> dict[str, list[str]]:
    """Return the libraries of a bundle that are this system's, by Debian package."""
    names = [path.name for path in (bundle / "_internal").glob("*.so*") if not path.is_symlink()]
    libraries: dict[str, list[str]] = {}
    for name in sorted(names):
        told = subprocess.run(
            ["dpkg-query", "--search", f"*/{name}"],  # noqa: S607
            capture_output=True,
            text=True,
            check=False,
        )
        if told.returncode == 0:
            package = told.stdout.splitlines()[0].partition(":")[0]
            libraries.setdefault(package, []).append(name)
    return libraries


def write_notices(folder: Path, bundle: Path | None = None) -> list[Path]:
    """Write both notices into a folder and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    third_party, data = folder / THIRD_PARTY_FILE, folder / DATA_FILE
    third_party.write_text(third_party_notices(bundle), encoding="utf-8")
    data.write_text(data_notices(), encoding="utf-8")
    return [third_party, data]


def main(arguments: list[str]) -> int:
    """Write the notices and say where."""
    if not 1 <= len(arguments) <= 2:
        print("usage: python packaging/notices.py FOLDER [BUNDLE]", file=sys.stderr)
        return 2
    try:
        written = write_notices(Path(arguments[0]), *map(Path, arguments[1:]))
    except (MissingLicenceError, PackageNotFoundError) as error:
        print(f"notices: {error}", file=sys.stderr)
        return 3
    print("\n".join(map(str, written)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
