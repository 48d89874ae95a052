"""Damaged JSON, tables, logs and archives: their structure is kept."""

from __future__ import annotations

import hashlib
import io
import json
import random
import warnings
import zipfile
from collections.abc import Callable
from contextlib import suppress
from copy import deepcopy
from dataclasses import asdict
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from predictor.core.errors import InputError
from predictor.core.resources import resources_dir
from predictor.probing.importers.registry import import_bytes
from predictor.probing.kit.results import read_results
from predictor.probing.runner.medians import summary
from predictor.probing.runner.results import digest
from predictor.probing.runner.settings import PROTOCOL, RESULTS_SCHEMA, Settings
from predictor.services.devices.catalogue import Catalogue
from predictor.services.devices.user_devices import import_device
from predictor.services.history.history import open_history
from predictor.services.project.file import read_project
from tests.support.filled_stores import fill
from tests.support.import_samples import SAMPLES

_VALUES: Final[tuple[Any, ...]] = (
    None, True, -1, 0, 2**63, 10**400, -1e308, 1e-320, float("nan"), float("inf"),
    "", "\ud800", "\x1b[2J\u202e", "1e999", "a" * 20_000, [], {}, [[]], {"": None}, [0] * 1000,
)  # fmt: skip
_CELLS = ("", "-1", "0", "1e999", "nan", "9" * 5000, '"', "\0", "\x1b[2J", "a" * 20_000, ",,", "=")
_MANIFEST = "manifest.json"
_NAMES = ("../results.json", "/results.json", "a\\results.json", "results.json", "\u202e", "C:x")


def mutate_json(text: str, rng: random.Random) -> str:
    """Return a JSON document with one to three values replaced, removed, repeated or nested."""
    document = json.loads(text)
    for _ in range(rng.randint(1, 3)):
        holder, key = _place(document, rng)
        if holder is None:
            return json.dumps(rng.choice(_VALUES))
        change = rng.randrange(4)
        if change == 0:
            del holder[key]
        elif change == 1 and isinstance(holder, list):
            holder.insert(key, holder[key])
        elif change == 2:
            holder[key] = [holder[key]]
        else:
            holder[key] = deepcopy(rng.choice(_VALUES))
    if isinstance(document, dict) and "digest" in document and rng.random() < 0.9:
        document["digest"] = digest(document)  # what lies behind the check is of interest
    return json.dumps(document)


def _place(document: Any, rng: random.Random) -> tuple[Any, Any]:
    """Return a container in a document and one of its keys; (None, None) for the whole."""
    holder, key, value = None, None, document
    while isinstance(value, dict | list) and value:
        holder = value
        key = rng.choice(list(value)) if isinstance(value, dict) else rng.randrange(len(value))
        value = holder[key]
        if rng.random() < 0.3:
            break
    return holder, key


def mutate_lines(text: str, rng: random.Random) -> str:
    """Return a table or log with lines removed, repeated or swapped, and words replaced."""
    lines = text.split("\n")
    for _ in range(rng.randint(1, 3)):
        place, other = (rng.randrange(len(lines)) for _ in range(2))
        change = rng.randrange(4)
        if change == 0 and len(lines) > 1:
            del lines[place]
        elif change == 1:
            lines.insert(other, lines[place])
        else:
            mark = rng.choice((",", " ", "=", ":"))
            words = lines[place].split(mark)
            words[rng.randrange(len(words))] = rng.choice(_CELLS)
            lines[place] = mark.join(words)
    return "\n".join(lines)


def mutate_bytes(data: bytes, rng: random.Random) -> bytes:
    """Return bytes with some changed, cut off, or repeated."""
    changed = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        place = rng.randrange(len(changed) + 1)
        change = rng.randrange(4)
        if change == 0:
            del changed[place:]
        elif change == 1:
            changed[place:place] = changed[place : place + rng.randrange(1, 99)]
        else:
            changed[place : place + rng.randrange(1, 5)] = rng.randbytes(rng.randrange(1, 5))
    return bytes(changed)


def mutate_zip(members: dict[str, bytes], rng: random.Random) -> bytes:
    """Return an archive with members removed, renamed, twice or damaged, or itself damaged."""
    file = io.BytesIO()
    kind = rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
    # zipfile warns of a name that stands twice, which is meant.
    with warnings.catch_warnings(action="ignore"), zipfile.ZipFile(file, "w", kind) as made:
        for name, content in members.items():
            if rng.random() < 0.1:
                continue
            made.writestr(rng.choice(_NAMES) if rng.random() < 0.1 else name, content)
            if rng.random() < 0.1:
                made.writestr(name, bytes(100_000))
    return mutate_bytes(file.getvalue(), rng) if rng.random() < 0.7 else file.getvalue()


def mutate_import(rng: random.Random, name: str = "") -> bytes:
    """Return a damaged file that an importer knows: of a format, else of any."""
    text = SAMPLES[name or rng.choice(list(SAMPLES))]
    mutate = mutate_lines
    with suppress(ValueError):
        json.loads(text)
        mutate = mutate_json
    data = mutate(text, rng).encode("utf-8", "surrogatepass")
    return mutate_bytes(data, rng) if rng.random() < 0.2 else data


def feed_import(data: bytes) -> bool:
    """Import a file: True where it is read, False where it is refused in one sentence."""
    return is_read(partial(import_bytes, "mutant", data))


def mutate_results(rng: random.Random) -> bytes:
    """Return damaged results of a kit, in an archive or alone."""
    text = json.dumps(RESULTS)
    if rng.random() < 0.5:
        return mutate_json(text, rng).encode()
    manifest = json.dumps({"schema": "ctm-kit/1", "files": {"plan.json": {"sha256": "0" * 64}}})
    if rng.random() < 0.5:
        manifest = mutate_json(manifest, rng)
    members = {"kit/results.json": text, "kit/manifest.json": manifest, "kit/plan.jsn": "{}"}
    return mutate_zip({name: content.encode() for name, content in members.items()}, rng)


def feed_results(data: bytes) -> bool:
    """Read results of a kit: True where they are read, False where refused in one sentence."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "results")
        path.write_bytes(data)
        return is_read(partial(read_results, path))


def mutate_device(rng: random.Random) -> bytes:
    """Return a damaged device file."""
    data = mutate_json(rng.choice(_devices()), rng).encode()
    return mutate_bytes(data, rng) if rng.random() < 0.2 else data


def feed_device(data: bytes) -> bool:
    """Import a device: True where it is taken, False where it is refused in one sentence."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "device.json")
        path.write_bytes(data)
        return is_read(partial(import_device, path, ()))


def mutate_project(rng: random.Random) -> bytes:
    """Return a damaged project, whose manifest mostly vouches for what is damaged."""
    parts = dict(_project())
    if rng.random() < 0.1:
        return mutate_zip(parts, rng)
    for _ in range(rng.randint(1, 2)):
        name = rng.choice(list(parts))
        text = parts[name].decode("utf-8", "surrogatepass")
        lines = [text] if name == _MANIFEST else text.split("\n")[:-1]
        place = rng.randrange(len(lines)) if lines else 0
        lines[place : place + 1] = [mutate_json(line, rng) for line in lines[place : place + 1]]
        if name != _MANIFEST and lines and rng.random() < 0.2:
            lines.append(rng.choice(lines))
        parts[name] = "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogatepass")
    if rng.random() < 0.9:
        parts[_MANIFEST] = _vouching(parts)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as made:
        for name, content in parts.items():
            made.writestr(name, content)
    return file.getvalue()


def feed_project(data: bytes) -> bool:
    """Take over a project: True where all is in a store, False where it is refused."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "team.ctmproject")
        path.write_bytes(data)
        return is_read(partial(_take_over, path, Path(folder, "store.db")))


def _take_over(path: Path, store: Path) -> None:
    project = read_project(path)
    with open_history(store) as history:
        history.projects.apply(project, Catalogue(()), lambda _: None)


@cache
def _devices() -> list[str]:
    folder = resources_dir() / "devices"
    return [path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.json"))[::60]]


@cache
def _project() -> dict[str, bytes]:
    with TemporaryDirectory() as folder, open_history(Path(folder, "store.db")) as history:
        fill(history)
        history.projects.export(Path(folder, "team.ctmproject"))
        with zipfile.ZipFile(Path(folder, "team.ctmproject")) as archive:
            return {name: archive.read(name) for name in archive.namelist()}


def _vouching(parts: dict[str, bytes]) -> bytes:
    """Return the manifest with counts and sums of the parts, as far as it is one still."""
    manifest = json.loads(parts[_MANIFEST])
    stated = manifest.get("parts") if isinstance(manifest, dict) else None
    for name, facts in stated.items() if isinstance(stated, dict) else ():
        data = parts.get(f"{name}.jsonl", b"")
        if isinstance(facts, dict):
            digest_of_data = hashlib.sha256(data).hexdigest()
            facts.update(bytes=len(data), lines=data.count(b"\n"), sha256=digest_of_data)
    return json.dumps(manifest).encode()


def is_read(read: Callable[[], object]) -> bool:
    """Read a file: True where it is read, False where it is refused in one sentence."""
    try:
        read()
    except InputError as error:
        sentence = str(error)
    else:
        return True
    assert sentence.isprintable(), sentence
    assert len(sentence) < 2000, sentence
    return False


def _results() -> dict[str, Any]:
    blocks = [{"samples_ns": [n, n, n], "median_ns": n, "contended": False} for n in (1000, 1001)]
    measured = {
        "name": "a",
        "fingerprint": "f" * 64,
        "sha256": "0" * 64,
        **summary(blocks, Settings()),
        "blocks": blocks,
        "operators": [["r", "Relu", 5]],
    }
    document: dict[str, Any] = {
        "schema": RESULTS_SCHEMA,
        "protocol": PROTOCOL,
        "plan": "0" * 32,
        "plan_sha256": "0" * 64,
        "settings": asdict(Settings()),
        "configuration": {"threads": 1},
        "host": {"node": "board"},
        "finished": True,
        "networks": [
            measured,
            {"name": "b", "failure": "crashed", "reason": "its process ended"},
        ],
        "drift": 0.01,
    }
    document["digest"] = digest(document)
    return document


RESULTS: Final = _results()
