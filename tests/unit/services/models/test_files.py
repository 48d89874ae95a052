"""Model files in what a user names: files, folders, patterns."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from predictor.core.errors import CancelledError
from predictor.core.progress import CancelToken
from predictor.services.models import files
from predictor.services.models.files import find_model_files


def test_folders_are_searched_at_any_depth_and_links_end(tmp_path: Path) -> None:
    (tmp_path / "a" / "deep").mkdir(parents=True)
    for name in ("b.onnx", "a/deep/c.ONNX", "a/readme.txt"):
        (tmp_path / name).write_bytes(b"")
    (tmp_path / "a" / "deep" / "loop").symlink_to(tmp_path, target_is_directory=True)
    found = find_model_files([str(tmp_path)], CancelToken())
    assert found.paths == (str(tmp_path / "b.onnx"), str(tmp_path / "a" / "deep" / "c.ONNX"))
    assert found.problems == ()


def test_a_file_is_found_once_and_a_folder_without_models_is_named(tmp_path: Path) -> None:
    model, text = tmp_path / "m.onnx", tmp_path / "notes.txt"
    model.write_bytes(b"")
    text.write_bytes(b"")
    empty = tmp_path / "empty"
    empty.mkdir()
    asked = [str(model), str(tmp_path / "." / "m.onnx"), str(text), str(empty)]
    found = find_model_files(asked, CancelToken())
    assert found.paths == (str(model), str(text))
    assert [problem.subject for problem in found.problems] == [str(empty)]
    assert ".tflite" in found.problems[0].action


def test_other_formats_of_a_folder_are_known_by_their_content(tmp_path: Path) -> None:
    (tmp_path / "a.tflite").write_bytes(b"\x1c\0\0\0TFL3")
    (tmp_path / "b.xml").write_bytes(b'<?xml version="1.0"?>\n<net name="b" version="11">')
    (tmp_path / "c.param").write_bytes(b"7767517\n75 83\n")
    package = tmp_path / "d.mlpackage"
    (package / "Data").mkdir(parents=True)
    (package / "Manifest.json").write_bytes(b"{}")
    (package / "e.onnx").write_bytes(b"")
    (tmp_path / "pom.xml").write_bytes(b'<?xml version="1.0"?>\n<project>')
    (tmp_path / "training.param").write_bytes(b"epochs 10")
    found = find_model_files([str(tmp_path)], CancelToken())
    assert [Path(path).name for path in found.paths] == [
        "a.tflite",
        "b.xml",
        "c.param",
        package.name,
    ]
    assert find_model_files([str(package)], CancelToken()).paths == (str(package),)


def test_a_path_that_is_gone_is_passed_on_for_its_error(tmp_path: Path) -> None:
    gone = str(tmp_path / "gone.onnx")
    assert find_model_files([gone], CancelToken()).paths == (gone,)


def test_the_limit_of_a_folder_is_stated(tmp_path: Path) -> None:
    for number in range(5):
        (tmp_path / f"{number}.onnx").write_bytes(b"")
    found = find_model_files([str(tmp_path)], CancelToken(), limit=3)
    assert [Path(path).name for path in found.paths] == ["0.onnx", "1.onnx", "2.onnx"]
    assert "more than 3" in found.problems[0].reason


def test_too_many_entries_end_the_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_ENTRIES", 10)
    for number in range(11):
        (tmp_path / f"{number}.txt").write_bytes(b"")
    found = find_model_files([str(tmp_path)], CancelToken())
    assert found.paths == ()
    assert "more than 10 entries" in found.problems[0].reason


def test_a_cancelled_search_stops(tmp_path: Path) -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(CancelledError):
        find_model_files([str(tmp_path)], token)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_named_onnx_is_listed_without_being_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.onnx")
    found = find_model_files([str(tmp_path)], CancelToken())
    assert found.paths == (str(tmp_path / "pipe.onnx"),)


def test_a_pattern_stands_for_the_models_that_it_matches(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    for name in ("b.onnx", "a.onnx", "notes.txt", "deep/c.onnx"):
        (tmp_path / name).write_bytes(b"")
    flat = find_model_files([str(tmp_path / "*")], CancelToken())
    assert [Path(path).name for path in flat.paths] == ["a.onnx", "b.onnx"]
    deep = find_model_files([str(tmp_path / "**" / "*.onnx")], CancelToken())
    assert {Path(path).name for path in deep.paths} == {"a.onnx", "b.onnx", "c.onnx"}
    assert flat.problems == deep.problems == ()


def test_a_pattern_that_matches_too_much_else_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "MAX_MISSES", 3)
    for number in range(4):
        (tmp_path / f"{number}.txt").touch()
    found = find_model_files([str(tmp_path / "*")], CancelToken())
    assert found.paths == ()
    assert "more than 3 entries" in found.problems[0].reason


def test_a_pattern_that_matches_nothing_is_named(tmp_path: Path) -> None:
    pattern = str(tmp_path / "*.onnx")
    other = str(tmp_path / "*.tflite")
    found = find_model_files([pattern, other], CancelToken())
    assert found.paths == ()
    assert [problem.subject for problem in found.problems] == [pattern, other]


def test_a_file_whose_name_looks_like_a_pattern_is_that_file(tmp_path: Path) -> None:
    model = tmp_path / "model[1].onnx"
    model.write_bytes(b"")
    assert find_model_files([str(model)], CancelToken()).paths == (str(model),)


def test_paths_stay_as_they_were_named_and_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("b.onnx", "a.bin"):
        (tmp_path / name).write_bytes(b"")
    monkeypatch.chdir(tmp_path)
    found = find_model_files(["b.onnx", "a.bin", str(tmp_path / "b.onnx")], CancelToken())
    assert found.paths == ("b.onnx", "a.bin")
