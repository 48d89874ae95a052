"""Files of the user: one way in and one way out.

Only regular files are read: a pipe would keep its reader waiting for ever, /dev/zero never ends. A
file is written beside its place and takes it when the disk has it whole.
"""

from __future__ import annotations

import os
import stat
import struct
import sys
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final

from predictor.core.errors import HostError, InputError
from predictor.core.left_over import noted, partial_path, remove_partials

MAX_TEXT_BYTES: Final = 64 * 2**20
# Windows has no O_NONBLOCK, the others no O_BINARY.
_READING: Final = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
_APPENDING: Final = (
    os.O_WRONLY
    | os.O_APPEND
    | os.O_CREAT
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL
_PRIVATE: Final = 0o600

BROKEN_ARCHIVE: Final = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    ValueError,
    OverflowError,
    LookupError,
    EOFError,
    NotImplementedError,
    RuntimeError,
)
"""Errors of ``zipfile`` where an archive is damaged."""

Name = str | os.PathLike[str]


def is_file(path: Name) -> bool:
    """Whether there is a regular file; False, too, where a name is longer than names can be."""
    return os.path.isfile(path)  # noqa: PTH113 - Path.is_file raises at a name that is too long


def is_folder(path: Name) -> bool:
    """Whether there is a folder; as ``is_file``."""
    return os.path.isdir(path)  # noqa: PTH112 - see is_file


def is_there(path: Name) -> bool:
    """Whether there is anything; as ``is_file``."""
    return os.path.exists(path)  # noqa: PTH110 - see is_file


def in_home(path: Path) -> Path:
    """Return a path with the home folder in place of ``~`` or ``~user``.

    Raises:
        InputError: there is no such user.
    """
    try:
        return path.expanduser()
    except RuntimeError as error:
        reason = "its user has no home folder on this machine"
        raise InputError(str(path), reason, "write the folder out") from error


def is_same_file(one: Name, other: Name) -> bool:
    """Whether two names are of one file or folder, through links too."""
    try:
        return os.path.samefile(one, other)  # noqa: PTH121 - see is_file
    except (OSError, ValueError):
        return False


@contextmanager
def opened(
    path: Name, action: str = "check the path", limit: int | None = None
) -> Iterator[tuple[BinaryIO, os.stat_result]]:
    """Open a regular file unbuffered, and give it with its status.

    Args:
        path: of the file; links are followed.
        action: the user's next step where it cannot be read.
        limit: most bytes that it may have.

    Raises:
        InputError: there is none, it is a folder, pipe, socket or device, it is too large, or it
            cannot be read, inside the block too.
    """
    try:
        with _stream(path, action) as stream:
            status = os.fstat(stream.fileno())
            _refuse_special(path, status.st_mode, action)
            if limit is not None and status.st_size > limit:
                raise _too_large(path, status.st_size, limit)
            yield stream, status
    except OSError as error:
        raise _refused(path, error, action) from error


def read_bytes(path: Name, limit: int, action: str = "check the path") -> bytes:
    """Return a file's content.

    Raises:
        InputError: it is no regular file, has over ``limit`` bytes, or cannot be read.
    """
    with opened(path, action, limit) as (stream, status):
        parts, size = [], 0
        # One byte over the expected size shows that it grows while it is read.
        while part := stream.read(max(status.st_size - size, 0) + 1):
            parts.append(part)
            size += len(part)
            if size > limit:
                raise _too_large(path, size, limit)
    return b"".join(parts)


def read_text(path: Name, limit: int = MAX_TEXT_BYTES) -> str:
    """Return a text in UTF-8, a byte order mark left out.

    Raises:
        InputError: as ``read_bytes``, or it is no UTF-8.
    """
    data = read_bytes(path, limit)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        reason = f"line {line} is not text in UTF-8"
        raise InputError(os.fspath(path), reason, "save it again as UTF-8") from error


def _is_planted(path: Name) -> bool:
    """Whether a path is a link of another user in a folder that anyone may write to.

    The rule of Linux's ``protected_symlinks``, which not all systems have on.
    """
    try:
        link, folder = Path(path).lstat(), Path(path).absolute().parent.stat()
    except (OSError, ValueError):
        return False
    if not hasattr(os, "geteuid") or not stat.S_ISLNK(link.st_mode):
        return False
    return bool(folder.st_mode & stat.S_IWOTH) and link.st_uid not in {os.geteuid(), folder.st_uid}


@contextmanager
def replaced(path: Name, what: str = "it", *, private: bool = False) -> Iterator[Path]:
    """Give an empty file to write; it takes the place of ``path`` when the block ends well.

    Partial files of a killed program are removed. A symbolic link stays, and the file that it leads
    to is replaced.

    Args:
        path: the file.
        what: name of the content in errors.
        private: only the user may read it.

    Raises:
        HostError: it cannot be written; what was there is as it was.
    """
    target = Path(path)
    try:
        if _is_planted(path):
            raise _unwritten(path, what, "this is a link that another user put there")
        target = Path(os.path.realpath(path))
        status = target.stat() if is_there(target) else None
        if status is not None and not stat.S_ISREG(status.st_mode):
            raise _unwritten(path, what, f"this is {_kind(status.st_mode)}, not a file")
        target.parent.mkdir(parents=True, exist_ok=True)
        remove_partials(target)
    except (OSError, ValueError) as error:
        raise _unwritten(path, what, getattr(error, "strerror", None) or str(error)) from error
    partial = partial_path(target)
    with noted(partial):
        try:
            partial.unlink(missing_ok=True)
            os.close(os.open(partial, _NEW, _PRIVATE if private else 0o666))
            if status is not None and not private:
                partial.chmod(stat.S_IMODE(status.st_mode))
            yield partial
            sync(partial)
            partial.replace(target)
            # The new name is an entry of the folder: without this a power cut may undo it.
            sync(target.parent)
        except OSError as error:
            raise _unwritten(path, what, error.strerror or str(error)) from error
        finally:
            with suppress(OSError):
                partial.unlink(missing_ok=True)


def write_bytes(path: Name, content: bytes, what: str = "it") -> None:
    """Write a file, whole or not at all.

    Raises:
        HostError: it cannot be written; what was there is as it was.
    """
    with replaced(path, what) as partial:
        partial.write_bytes(content)


def write_text(path: Name, text: str, what: str = "it") -> None:
    """Write a text in UTF-8; see ``write_bytes``."""
    write_bytes(path, text.encode(), what)


def locked(file: BinaryIO) -> bool:
    """Lock an open file for this process until it is closed; False where another has it."""
    try:
        if sys.platform == "win32":
            import msvcrt  # noqa: PLC0415  # not on other systems

            # Beyond the end: what is locked there can be read by nobody.
            file.seek(2**31 - 2)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl  # noqa: PLC0415  # not on Windows

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def append_text(path: Name, text: str, what: str = "it") -> None:
    """Add a text in UTF-8 to the end of a file, which is made where there is none.

    Raises:
        HostError: it cannot be written, or is no regular file.
    """
    try:
        if _is_planted(path):
            raise _unwritten(path, what, "this is a link that another user put there")
        # Not to wait for the reader of a pipe; the mode is looked at before anything is written.
        handle = os.open(path, _APPENDING, 0o666)
        with os.fdopen(handle, "ab") as stream:
            mode = os.fstat(handle).st_mode
            if not stat.S_ISREG(mode):
                raise _unwritten(path, what, f"this is {_kind(mode)}, not a file")
            stream.write(text.encode())
    except (OSError, ValueError) as error:
        raise _unwritten(path, what, getattr(error, "strerror", None) or str(error)) from error


def sync(path: Path) -> None:
    """Wait until the disk has a file, or a folder's entries where the system can."""
    if path.is_dir() and os.name == "nt":
        return
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _stream(path: Name, action: str) -> BinaryIO:
    # The status before it is opened: opening alone ejects a tape, and resets a board on a serial
    # line. The one after is of what was opened.
    try:
        _refuse_special(path, os.stat(path).st_mode, action)  # noqa: PTH116 - hundreds at a start
        return open(os.open(path, _READING), "rb", buffering=0)  # noqa: PTH123 - as above
    except ValueError as error:
        what = "a NUL character" if "\0" in os.fspath(path) else "half of a surrogate pair"
        raise InputError(os.fspath(path), f"the path holds {what}", action) from error


def _refused(path: Name, error: OSError, action: str) -> InputError:
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return InputError(os.fspath(path), "there is no such file", action)
    if isinstance(error, PermissionError):
        action = "change its permissions or copy it"
        return InputError(os.fspath(path), "you have no permission to read it", action)
    return InputError(os.fspath(path), f"it cannot be read ({error.strerror or error})", action)


def _refuse_special(path: Name, mode: int, action: str) -> None:
    if not stat.S_ISREG(mode):
        raise InputError(os.fspath(path), f"it is {_kind(mode)}, not a file", action)


def _kind(mode: int) -> str:
    return "a folder" if stat.S_ISDIR(mode) else "a pipe, socket or device"


def _too_large(path: Name, size: int, limit: int) -> InputError:
    reason = f"it has {size:,} bytes, more than the {limit:,} allowed"
    return InputError(os.fspath(path), reason, "give a smaller file")


def _unwritten(path: Name, what: str, reason: str) -> HostError:
    return HostError(
        os.fspath(path),
        f"{what} could not be written ({reason})",
        "free some space, or choose a folder that you may write to",
    )
