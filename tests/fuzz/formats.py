"""Damaged model files of other formats than ONNX: all files of ``tests/golden/formats``.

Bytes are flipped, words of 32 bits changed, parts cut, dropped and repeated; of an archive in one
of its entries too. A file that needs others beside it has them, as they are. The same seed gives
the same file.
"""

from __future__ import annotations

import io
import lzma
import random
import tempfile
import zipfile
from functools import cache
from pathlib import Path

from predictor.core.errors import InputError
from predictor.formats.kinds import format_of
from predictor.formats.opening import open_model

_FILES = Path(__file__).parents[1] / "golden" / "formats"
_LARGEST_BASE = 4 * 2**20
_LONGEST_SENTENCE = 1000
_MOST_CHANGES = 4
_BATCH = 3
_EDGE_BYTES = 4096  # records stand at the beginning and the end, weights between
_WORDS = (0, 1, 2, 4, 8, 255, 2**16, 2**31 - 1, 2**31, 2**32 - 1, 2**32 - 4)


@cache
def bases() -> list[tuple[str, dict[str, bytes]]]:
    """Return the name of each model, and what its files hold by their names."""
    result: list[tuple[str, dict[str, bytes]]] = []
    packed = sorted(path for path in _FILES.rglob("*.xz") if ".onnx" not in path.name)
    for path in packed:
        stem = path.name.removesuffix(".xz").rpartition(".")[0]
        with tempfile.TemporaryDirectory() as folder:
            name = path.name.removesuffix(".xz")
            data = _unpacked(path)
            (Path(folder) / name).write_bytes(data)
            if len(data) > _LARGEST_BASE or format_of(str(Path(folder) / name)) is None:
                continue
        weights = path.with_name(f"{stem}.bin.xz")
        peers = {f"{stem}.bin": _unpacked(weights)} if weights.is_file() else {}
        result.append((name, {name: data, **peers}))
    return result


def _unpacked(path: Path) -> bytes:
    return lzma.decompress(path.read_bytes())


ENDINGS = ("tflite", "xml", "pt2", "param", "mlmodel")
"""Of the models, one a format."""


def mutate(rng: random.Random, ending: str = "") -> bytes:
    """Return an archive of the files of a damaged model; the first is the model.

    Args:
        rng: of the changes.
        ending: of the model; empty for any.
    """
    name, files = rng.choice([base for base in bases() if base[0].endswith(ending)])
    data = files[name]
    is_archive = data.startswith(b"PK") and rng.random() < 0.7
    damaged = _damaged_archive(rng, data) if is_archive else _damaged(rng, data)
    return packed({**files, name: damaged})


def packed(files: dict[str, bytes]) -> bytes:
    """Return files as one archive, in their order."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name), data)  # of no time: a seed gives one file
    return target.getvalue()


def _damaged(rng: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.randint(1, _MOST_CHANGES)):
        if not changed:
            break
        at = _place(rng, len(changed))
        action = rng.randrange(8)
        if action < 3:
            changed[at] ^= 1 << rng.randrange(8)
        elif action < 6:
            at -= at % 4
            word = rng.choice(_WORDS) if rng.random() < 0.7 else rng.randrange(len(changed))
            changed[at : at + 4] = word.to_bytes(4, "little")
        elif action == 6:
            del changed[at : at + rng.randint(1, 64)]
        elif rng.random() < 0.5:
            changed[at:at] = changed[at : at + rng.randint(1, 64)]
        else:
            del changed[at:]
    return bytes(changed)


def _place(rng: random.Random, size: int) -> int:
    part = rng.randrange(4)
    edge = min(size, _EDGE_BYTES)
    if part == 0:
        return rng.randrange(edge)
    return size - 1 - rng.randrange(edge) if part == 1 else rng.randrange(size)


def _damaged_archive(rng: random.Random, data: bytes) -> bytes:
    """Damage one entry of an archive, which stays one."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    name = rng.choice(sorted(files))
    return packed({**files, name: _damaged(rng, files[name])})


def feed(data: bytes) -> bool:
    """Read a model as the worker does, at another batch too.

    Returns:
        Whether it was read; False where it was refused in one sentence.

    Raises:
        AssertionError: a refusal of several lines.
    """
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = archive.namelist()
            archive.extractall(folder)
        path = Path(folder) / names[0]
        return _is_read(path, None) and (_is_read(path, _BATCH) or True)


def _is_read(path: Path, batch: int | None) -> bool:
    try:
        open_model(path, batch=batch)
    except InputError as error:
        sentence = str(error)
        assert "\n" not in sentence, sentence
        assert len(sentence) < _LONGEST_SENTENCE, sentence
        return False
    return True
