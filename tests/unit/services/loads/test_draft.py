"""A load as it is edited: its text says what its tables do, and errors lead to their field."""

from __future__ import annotations

import math
import tomllib
from datetime import date, time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predictor.core.errors import InputError
from predictor.core.resources import resources_dir
from predictor.core.toml_tables import KeyedError, toml_text
from predictor.services.loads.draft import (
    LoadDraft,
    bundled_loads,
    new_draft,
    new_stage,
    new_stream,
    parse_draft,
    read_draft,
    tokens_of,
)
from predictor.services.loads.load_file import read_load
from predictor.services.loads.models import model_paths

_WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
_PLAIN = st.one_of(
    _WORDS, st.booleans(), st.integers(-(2**60), 2**60), st.floats(allow_nan=False),
    st.dates(min_value=date(1000, 1, 1)),
    st.just(time(12, 30)),
)  # fmt: skip
_VALUES = st.recursive(
    _PLAIN,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_WORDS, inner, max_size=3),
    max_leaves=6,
)
_TABLES = st.dictionaries(_WORDS, _VALUES, max_size=4)
_STREAM = ("stream", 0)
_STAGE = ("stream", 0, "stage", 0)


@settings(max_examples=40)
@given(
    st.fixed_dictionaries(
        {},
        optional={
            "box": _TABLES,
            "simulation": _TABLES,
            "stream": st.lists(
                st.fixed_dictionaries({"name": _WORDS}, optional={"stage": st.lists(_TABLES)})
            ),
        },
    )
)
def test_a_text_says_what_its_tables_do(content: dict[str, object]) -> None:
    text, places = toml_text(content)
    assert tomllib.loads(text) == content
    assert len(places) == text.count("\n")


@pytest.mark.parametrize("path", bundled_loads(), ids=lambda path: path.stem)
def test_a_bundled_load_is_the_same_as_it_is_edited(path: Path) -> None:
    load, draft = read_load(path), read_draft(path)
    edited = draft.load()
    assert edited.box == load.box
    assert [s.name for s in edited.streams] == [s.name for s in load.streams]
    for before, after in zip(load.streams, edited.streams, strict=True):
        assert (before.rate_per_s, before.deadline_ms) == (after.rate_per_s, after.deadline_ms)
        assert [(s.name, s.model, s.batch, s.delay_ms, s.dims) for s in before.stages] == [
            (s.name, s.model, s.batch, s.delay_ms, s.dims) for s in after.stages
        ]


@pytest.mark.parametrize(
    ("place", "key", "value", "words"),
    [
        (_STREAM, "rate", 0, "up to 10,000 items a second"),
        (_STREAM, "deadline_ms", -1.0, "over 0"),
        (_STREAM, "rate", None, "has none"),
        (_STAGE, "model", None, "this stage has none"),
        (_STAGE, "batch", 1000, "from 1 to 128"),
        ((*_STAGE[:3], 1), "after", ["nobody"], "there is no stage nobody"),
        (_STAGE, "dims", "x", "a table of whole numbers"),
        (("simulation",), "chance", 400, "percent over 0"),
    ],
)
def test_what_is_wrong_leads_to_its_field(
    place: tuple[str | int, ...], key: str, value: object, words: str
) -> None:
    draft = new_draft([], Path("load.toml"))
    draft = draft.with_table(_STREAM, "stage", new_stage(draft.streams[0]["stage"]))
    wrong = draft.with_value(place, key, value)
    with pytest.raises(KeyedError, match=words) as caught:
        wrong.load()
    assert wrong.place_of(caught.value) == (place, key)
    assert draft.load().streams[0].stages[1].after == ("detect",)  # the one before is as it was


def test_tables_are_added_and_taken_away() -> None:
    draft = new_draft(["a.onnx"], Path("load.toml"))
    more = draft.with_table((), "stream", new_stream([], 1))
    assert [stream.name for stream in more.load().streams] == ["camera", "camera 2"]
    assert more.without(("stream", 1)) == draft
    staged = draft.with_table(_STREAM, "stage", new_stage(draft.streams[0]["stage"]))
    assert [s["model"] for s in staged.streams[0]["stage"]] == ["a.onnx", "a.onnx"]
    assert staged.without((*_STREAM, "stage", 1)) == draft
    assert not draft.table(("stream", 4)), "there is no such stream"
    assert draft.with_box({"id": "rk3588"}).box == {"id": "rk3588"}
    with pytest.raises(InputError, match="this stream has no"):
        draft.without(_STAGE).load()
    with pytest.raises(InputError, match="no table"):
        draft.without(_STREAM).load()


def test_files_of_another_folder_are_named_from_there(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        folder.mkdir()
    for name in ("net.onnx", "box.json"):
        (first / name).write_text("{}", encoding="utf-8")
    (first / "times.txt").write_text("0\n1\n", encoding="utf-8")
    draft = new_draft(["net.onnx"], first / "load.toml").with_box({"file": "box.json"})
    draft = draft.with_values(_STREAM, {"arrival": "trace", "trace": "times.txt"})
    there = draft.at(second / "load.toml")
    assert there.streams[0]["trace"] == str((first / "times.txt").resolve())
    assert list(model_paths(there.load()).values()) == [(first / "net.onnx").resolve()]
    up = there.at(tmp_path / "load.toml")
    assert up.streams[0]["stage"][0]["model"] == str(Path("first/net.onnx"))
    assert up.box == {"file": str(Path("first/box.json"))}
    sample = new_draft([], first / "load.toml")
    assert sample.at(second / "x.toml").streams == sample.streams  # bundled ones have no folder


@pytest.mark.parametrize(
    "text", ["stream = 5", "[stream]\nname = 'x'", "[[stream]]\nstage = 3", "[[stream]]\n[[box]]"]
)
def test_tables_that_are_none_are_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError):
        parse_draft(text, tmp_path / "load.toml")


def test_a_wrong_value_is_opened_for_its_editor(tmp_path: Path) -> None:
    path = tmp_path / "load.toml"
    path.write_text(new_draft([], path).text.replace("rate = 15", "rate = inf"), encoding="utf-8")
    draft = read_draft(path)
    assert math.isinf(draft.streams[0]["rate"])
    assert isinstance(draft, LoadDraft)
    with pytest.raises(InputError, match="line 6, rate"):
        draft.load()


def test_a_stage_has_the_tokens_that_its_model_needs(tmp_path: Path) -> None:
    usual = {"new_tokens": 128, "prompt_tokens": 512}
    assert tokens_of("qwen3-1.7b.json", tmp_path) == usual
    stated = {"new_tokens": 9, "prompt_tokens": 7}
    assert tokens_of("qwen3-1.7b.json", tmp_path, stated) == stated
    recogniser = tokens_of("whisper-base.json", tmp_path, stated)
    assert recogniser == {"new_tokens": 9, "prompt_tokens": None}
    network = tokens_of("yolov3-tiny-416.onnx", tmp_path, stated)
    assert network == {"new_tokens": None, "prompt_tokens": None}
    assert tokens_of("nothing.json", tmp_path) == {}


def test_a_stage_after_a_language_model_is_one_too(tmp_path: Path) -> None:
    draft = new_draft([str(resources_dir() / "samples" / "qwen3-1.7b.json")], tmp_path / "a.toml")
    (first,) = draft.streams[0]["stage"]
    assert (first["prompt_tokens"], first["new_tokens"]) == (512, 128)
    second = new_stage([first])
    assert {key: second[key] for key in first.keys() - {"name"}} == {
        key: first[key] for key in first.keys() - {"name"}
    }
    assert draft.with_table(("stream", 0), "stage", second).load().streams[0].stages[1].generates
