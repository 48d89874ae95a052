from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from predictor.core.errors import HostError, InputError
from predictor.core.files import (
    is_file,
    is_folder,
    is_there,
    opened,
    read_bytes,
    read_text,
    replaced,
    write_bytes,
    write_text,
)

posix = pytest.mark.skipif(os.name == "nt", reason="POSIX file types and rights")
READERS: list[Callable[[Path], object]] = [
    lambda path: read_bytes(path, 100),
    read_text,
    lambda path: opened(path).__enter__(),
]


@posix
@pytest.mark.parametrize("read", READERS)
def test_a_pipe_and_a_device_are_refused_at_once(
    tmp_path: Path, read: Callable[[Path], object]
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    (tmp_path / "link").symlink_to(pipe)
    for path in (pipe, tmp_path / "link", Path("/dev/zero")):
        with pytest.raises(InputError, match="it is a pipe, socket or device, not a file"):
            read(path)


def test_what_cannot_be_read_is_one_sentence(tmp_path: Path) -> None:
    for path, reason in (
        (tmp_path, "it is a folder, not a file"),
        (tmp_path / "none", "there is no such file"),
        (tmp_path / "none" / "inner", "there is no such file"),
        (tmp_path / ("x" * 300), "it cannot be read"),
        (tmp_path / "a\0b", "the path holds a NUL character"),
    ):
        with pytest.raises(InputError, match=reason):
            read_bytes(path, 100)


def test_the_limit_is_told_before_anything_is_read(tmp_path: Path) -> None:
    path = tmp_path / "large"
    with path.open("wb") as file:
        file.truncate(2**40)
    with pytest.raises(InputError, match="it has 1,099,511,627,776 bytes, more than the 1,000 all"):
        read_bytes(path, 1000)


@pytest.mark.skipif(sys.platform != "linux", reason="files of /proc have a size of 0")
def test_a_file_that_is_longer_than_it_says_is_read_to_the_limit() -> None:
    path = Path("/proc/self/status")
    assert read_bytes(path, 10**6).startswith(b"Name:")
    with pytest.raises(InputError, match="more than the 100 allowed"):
        read_bytes(path, 100)


def test_text_is_utf8_with_or_without_a_mark(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes(b"\xef\xbb\xbfcaf\xc3\xa9\r\n")
    assert read_text(path) == "café\r\n"
    path.write_bytes(b"a\nb\xff")
    with pytest.raises(InputError, match="line 2 is not text in UTF-8"):
        read_text(path)


def test_a_name_that_is_too_long_is_nothing(tmp_path: Path) -> None:
    path = tmp_path / ("x" * 300)
    assert not any(look(path) for look in (is_file, is_folder, is_there))


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_bytes(path, b"old")

    def fail() -> None:
        with replaced(path) as partial:
            partial.write_bytes(b"new")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == {"file"}


@posix
def test_a_link_is_written_through_and_keeps_the_rights_of_its_file(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    target, link = tmp_path / "there" / "file", tmp_path / "link"
    target.write_bytes(b"old")
    target.chmod(0o640)
    link.symlink_to(target)
    write_bytes(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


@posix
def test_what_is_no_file_is_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    (tmp_path / "null").symlink_to("/dev/null")
    for path in (pipe, tmp_path / "null", tmp_path):
        with pytest.raises(HostError, match=r"the plot could not be written \(this is a"):
            write_bytes(path, b"x", "the plot")
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@posix
def test_private_files_are_the_users_alone(tmp_path: Path) -> None:
    for private, mode in ((True, 0o600), (False, 0o666 & ~_umask())):
        path = tmp_path / str(private)
        with replaced(path, private=private) as partial:
            assert stat.S_IMODE(partial.stat().st_mode) == mode
        assert stat.S_IMODE(path.stat().st_mode) == mode


def test_the_longest_name_can_be_written(tmp_path: Path) -> None:
    path = tmp_path / ("ä" * 127)
    write_bytes(path, b"x")
    assert path.read_bytes() == b"x"


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_the_folders_of_a_file_are_made(tmp_path: Path) -> None:
    write_text(tmp_path / "a" / "b" / "c.txt", "made")
    assert (tmp_path / "a" / "b" / "c.txt").read_text() == "made"

    with pytest.raises(HostError, match=r"d\.txt"):
        write_text(tmp_path / "a" / "b" / "c.txt" / "d.txt", "a file is no folder")
