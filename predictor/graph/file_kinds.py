"""Files that are often taken for ONNX models, known by their first bytes."""

from __future__ import annotations

import codecs

from predictor.core.errors import InputError

HEAD_BYTES = 512
"""Bytes of a file's beginning that are looked at."""

_EXPORT = "export the network with torch.onnx.export and open that .onnx file"
_UNPACK = "unpack it and open the .onnx file inside"

# Offset, magic bytes, what it is, what to do. A zip may hold a PyTorch checkpoint or an archive.
_MAGICS: tuple[tuple[int, bytes, str, str], ...] = (
    (0, b"PK\x03\x04", "a zip archive or a PyTorch checkpoint", f"{_UNPACK}, or {_EXPORT}"),
    (0, b"PK\x05\x06", "an empty zip archive", "choose an .onnx file"),
    (0, b"\x1f\x8b", "a gzip archive", _UNPACK),
    (0, b"BZh", "a bzip2 archive", _UNPACK),
    (0, b"\xfd7zXZ\x00", "an xz archive", _UNPACK),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive", _UNPACK),
    (0, b"\x28\xb5\x2f\xfd", "a Zstandard archive", _UNPACK),
    (257, b"ustar", "a tar archive", _UNPACK),
    (0, b"\x80\x02", "a Python pickle, perhaps an old PyTorch checkpoint", _EXPORT),
    (0, b"\x80\x03", "a Python pickle", _EXPORT),
    (0, b"\x80\x04", "a Python pickle", _EXPORT),
    (0, b"\x80\x05", "a Python pickle", _EXPORT),
    (0, b"\x89HDF\r\n\x1a\n", "an HDF5 file, perhaps a Keras model", "convert it with tf2onnx"),
    (4, b"TFL3", "a TensorFlow Lite model", "convert it to ONNX with tf2onnx"),
    (4, b"ORTM", "an ORT-format model", "open the .onnx file that it was made from"),
    (0, b"GGUF", "a GGUF file, which holds no operators", _EXPORT),
    (0, b"\x89PNG", "a PNG picture", "choose an .onnx file"),
    (0, b"\xff\xd8\xff", "a JPEG picture", "choose an .onnx file"),
    (0, b"%PDF", "a PDF document", "choose an .onnx file"),
    (0, b"\x7fELF", "a program or library", "choose an .onnx file"),
)
_LFS = b"version https://git-lfs.github.com/spec/"


def refuse_other_formats(path: str, head: bytes) -> None:
    """Refuse a file whose beginning shows another format.

    Args:
        path: of the file, for the sentence.
        head: its first ``HEAD_BYTES`` bytes.

    Raises:
        InputError: it is another format; says which, and what to do.
    """
    for offset, magic, what, action in _MAGICS:
        if head.startswith(magic, offset):
            raise InputError(path, f"it is {what}, not an ONNX file", action)
    if head[8:10] == b'{"' and int.from_bytes(head[:8], "little") < 100_000_000:
        raise InputError(path, "it is a safetensors file: weights without operators", _EXPORT)


def refuse_text(path: str, head: bytes) -> None:
    """Refuse a file that is text; for files that did not parse, as a model may begin with letters.

    Args:
        path: of the file, for the sentence.
        head: its first ``HEAD_BYTES`` bytes.

    Raises:
        InputError: it is text; says which kind, and what to do.
    """
    if not _is_text(head):
        return
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if start.startswith(_LFS):
        raise InputError(path, "it is a Git LFS pointer, not the file itself", "run 'git lfs pull'")
    if start.startswith((b"<!doctype html", b"<html")):
        raise InputError(
            path, "it is a web page, not an ONNX file", "download the file itself and open that"
        )
    raise InputError(path, "it is text, not an ONNX file", "choose an .onnx file")


def _is_text(head: bytes) -> bool:
    try:
        # Incremental: the head may end in the middle of a character.
        text = codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return bool(text) and all(letter.isprintable() or letter in "\t\r\n\f\ufeff" for letter in text)
