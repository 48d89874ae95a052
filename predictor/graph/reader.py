"""From a path to a checked ``ModelProto`` without the data of large tensors.

Small files are parsed as they are. Larger ones are walked first, so that a tensor over 64 KiB is
never read, whatever its size. Everything that can be wrong with a file as a file ends here, in one
sentence; defects of its operators are found by ``ingest.py``.
"""

from __future__ import annotations

import codecs
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import onnx
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]

from predictor.core.errors import InputError
from predictor.core.files import opened
from predictor.graph.model import ONNX
from predictor.graph.model_checks import check_contents, check_versions
from predictor.graph.tensor_data import TensorCheck
from predictor.graph.wire_format import (
    LimitError,
    Source,
    TruncatedError,
    Walk,
    WalkLimits,
    WireError,
)

HEAD_BYTES = 512
"""Bytes of a file's beginning that are looked at."""

_EXPORT = "export the network with torch.onnx.export and open that .onnx file"
_UNPACK = "unpack it and open the .onnx file inside"
_SOURCE = "open the model that it was compiled from"

# Offset, magic bytes, kind of file, advice. A zip may hold a PyTorch checkpoint or an archive.
_MAGICS: tuple[tuple[int, bytes, str, str], ...] = (
    (0, b"PK\x03\x04", "a zip archive or a PyTorch checkpoint", f"{_UNPACK}, or {_EXPORT}"),
    (0, b"PK\x05\x06", "an empty zip archive", "choose a model file"),
    (0, b"\x1f\x8b", "a gzip archive", _UNPACK),
    (0, b"BZh", "a bzip2 archive", _UNPACK),
    (0, b"\xfd7zXZ\x00", "an xz archive", _UNPACK),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive", _UNPACK),
    (0, b"\x28\xb5\x2f\xfd", "a Zstandard archive", _UNPACK),
    (257, b"ustar", "a tar archive", _UNPACK),
    # Pickle protocols 2 to 5 begin with the opcode PROTO and their number.
    (0, b"\x80\x02", "a Python pickle, perhaps an old PyTorch checkpoint", _EXPORT),
    (0, b"\x80\x03", "a Python pickle", _EXPORT),
    (0, b"\x80\x04", "a Python pickle", _EXPORT),
    (0, b"\x80\x05", "a Python pickle", _EXPORT),
    (0, b"\x89HDF\r\n\x1a\n", "an HDF5 file, perhaps a Keras model", "convert it with tf2onnx"),
    (4, b"ORTM", "an ORT-format model", "open the .onnx file that it was made from"),
    (0, b"ftrt", "a TensorRT engine, compiled for one GPU", _SOURCE),
    (0, b"ptrt", "a TensorRT engine, compiled for one GPU", _SOURCE),
    (0, b"RKNN", "an RKNN model, compiled for one chip", _SOURCE),
    (4, b"RKNN", "an RKNN model, compiled for one chip", _SOURCE),
    (0, b"CYPTRKNN", "an encrypted RKNN model", _SOURCE),
    (0, b"\x01HEF", "a Hailo executable, compiled for one chip", _SOURCE),
    (0, b"GGUF", "a GGUF file, which holds no operators", _EXPORT),
    (0, b"\x89PNG", "a PNG picture", "choose a model file"),
    (0, b"\xff\xd8\xff", "a JPEG picture", "choose a model file"),
    (0, b"%PDF", "a PDF document", "choose a model file"),
    (0, b"\x7fELF", "a program or library", "choose a model file"),
)
_LFS = b"version https://git-lfs.github.com/spec/"


def refuse_other_formats(path: str, head: bytes) -> None:
    """Refuse a file whose beginning shows another format.

    Args:
        path: of the file, for the sentence.
        head: its first ``HEAD_BYTES`` bytes.

    Raises:
        InputError: it is another format; with its name and a remedy.
    """
    for offset, magic, what, action in _MAGICS:
        if head.startswith(magic, offset):
            raise InputError(path, f"it is {what}, not an ONNX file", action)
    # safetensors: the length of the header in 8 bytes, then the header in JSON.
    if head[8:10] == b'{"' and int.from_bytes(head[:8], "little") < 100_000_000:
        raise InputError(path, "it is a safetensors file: weights without operators", _EXPORT)


def refuse_text(path: str, head: bytes) -> None:
    """Refuse a file that is text; for files that did not parse, as a model may begin with letters.

    Args:
        path: of the file, for the sentence.
        head: its first ``HEAD_BYTES`` bytes.

    Raises:
        InputError: it is text; with its kind and a remedy.
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
    if start.startswith(b"{") and (b'"architectures"' in start or b'"model_type"' in start):
        reason = "it is the configuration of a model, which holds no operators"
        raise InputError(path, reason, "predict a language model with 'ctm generate'")
    raise InputError(path, "it is text, not an ONNX file", "choose a model file")


def _is_text(head: bytes) -> bool:
    try:
        # Incremental: the head may end in the middle of a character.
        text = codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return bool(text) and all(letter.isprintable() or letter in "\t\r\n\f\ufeff" for letter in text)


READ_LIMITS = WalkLimits(nodes=200_000, copied_bytes=128 * 2**20)
"""Limits of what is read. The largest real exports have some 20 000 nodes in 20 MB."""

WALK_BYTES = 2**20
"""Files from this size are walked; for smaller ones reading and parsing the whole is quicker."""

_OUT_OF_MEMORY = "alloc"  # protobuf: "Arena alloc failed"
_AGAIN = "export or download the model again"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadModel:
    """A model file that was read and checked.

    Attributes:
        proto: the model. Tensors over 64 KiB keep name, dims and type, their data is left out and
            their ``doc_string`` is ``tensor_data.LEFT_OUT``; smaller ones hold their own data, also
            those whose data lies in another file.
        path: absolute path as the user gave it.
        size_bytes: size of the file, external data apart; 0 where the model is no file.
        modified_ns: its modification time.
        missing: error of the first file of weights that is missing; it stands for an answer where
            the values of those weights are needed.
        format: of the file.
    """

    proto: onnx.ModelProto
    path: str
    size_bytes: int = 0
    modified_ns: int = 0
    missing: InputError | None = None
    format: str = ONNX


def read_model(path: str | os.PathLike[str], walk_bytes: int = WALK_BYTES) -> ReadModel:
    """Read and check a model file.

    Args:
        path: of the file; links are followed.
        walk_bytes: size from which the file is walked and not read whole.

    Returns:
        The model, without the data of large tensors.

    Raises:
        InputError: the file is missing, unreadable, another format, damaged, too large, from the
            future, or contradicts itself.
        MemoryError: there is not enough memory for it.
    """
    subject = os.fspath(path)
    with _opened(subject) as (source, status):
        head = source.read(0, min(HEAD_BYTES, source.size))
        refuse_other_formats(subject, head)
        proto = _parsed(subject, source, head, walk_bytes)
    check_versions(subject, proto)
    tensors = _tensor_check(subject)
    check_contents(subject, proto, READ_LIMITS, tensors)
    path = os.path.abspath(subject)  # noqa: PTH100  # keeps ".." and links as given
    return ReadModel(
        proto=proto,
        path=path,
        size_bytes=status.st_size,
        modified_ns=status.st_mtime_ns,
        missing=tensors.missing,
    )


def _tensor_check(subject: str) -> TensorCheck:
    return TensorCheck(subject, READ_LIMITS.copied_bytes)


@contextmanager
def _opened(subject: str) -> Iterator[tuple[Source, os.stat_result]]:
    """Open a file that is not empty."""
    with opened(subject) as (file, status):
        if not status.st_size:
            raise InputError(subject, "the file is empty", _AGAIN)
        yield Source(file, status.st_size), status


def _parsed(subject: str, source: Source, head: bytes, walk_bytes: int) -> onnx.ModelProto:
    """Parse the file; anything that is no model is refused, text by its kind."""
    try:
        walk = source.size >= walk_bytes
        data = _walked(subject, source) if walk else source.read(0, source.size)
        proto: onnx.ModelProto = onnx.ModelProto.FromString(data)
    except (DecodeError, TruncatedError, WireError) as error:
        if isinstance(error, LimitError):
            raise InputError(subject, str(error), "give a smaller model") from error
        refuse_text(subject, head)
        raise _damaged(subject, source, error) from error
    # Protobuf parses many other bytes as unknown fields: success alone proves nothing.
    if not proto.HasField("graph"):
        refuse_text(subject, head)
        raise InputError(subject, "it holds no graph, so it is no ONNX model", _AGAIN)
    return proto


def _walked(subject: str, source: Source) -> bytes:
    return Walk(source, READ_LIMITS, _tensor_check(subject).large).stripped()


def _damaged(subject: str, source: Source, error: Exception) -> InputError:
    """Return the error of a file that does not parse; protobuf itself names no place."""
    if isinstance(error, DecodeError):
        if _OUT_OF_MEMORY in str(error):
            raise MemoryError from error
        try:
            _walked(subject, source)
        except WireError as precise:
            error = precise
        except DecodeError:
            pass
    if isinstance(error, TruncatedError):
        return InputError(subject, f"it is cut off or no ONNX file: {error}", _AGAIN)
    detail = f": {error}" if isinstance(error, WireError) else ""
    return InputError(subject, f"it is damaged or no ONNX file{detail}", _AGAIN)
