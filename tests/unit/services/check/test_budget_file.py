"""The budget file: what it may say, and what it is told when it says it wrong."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predictor.core.errors import InputError
from predictor.services.check.budget_file import Check, read_budget

pytestmark = pytest.mark.slow

GOOD = """\
# of the app
[[check]]
models = ["models/*.onnx", "other.onnx"]
targets = "rpi5/ncnn/fp16/t4"
max_ms = 33
chance = 90
dims = { sequence = 128 }

[[check]]
models = "models"
targets = ["rtx3060"]
max_memory_mb = 200.5
max_growth_percent = 0
batch = 4
shapes.image = [4, 3, 224, 224]
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "ctm-budget.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_each_table_is_a_check(tmp_path: Path) -> None:
    first, second = read_budget(written(tmp_path, GOOD))
    assert first == Check(
        line=2,
        models=("models/*.onnx", "other.onnx"),
        targets=("rpi5/ncnn/fp16/t4",),
        max_ms=33.0,
        chance=90.0,
        dims={"sequence": 128},
    )
    assert second == Check(
        line=9,
        models=("models",),
        targets=("rtx3060",),
        max_memory_mb=200.5,
        max_growth_percent=0.0,
        batch=4,
        shapes={"image": (4, 3, 224, 224)},
    )


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("max_ms = 33", "max_ms = ", "line 5: it is no TOML: Invalid value"),
        (
            "max_ms = 33",
            "max_ms = 1\nmax_ms = 2",
            "line 6: it is no TOML: Cannot overwrite a value",
        ),
        ("max_ms = 33", "max_ms = -1", "line 5, max_ms: it is not a number over 0"),
        ("max_ms = 33", "max_ms = true", "line 5, max_ms: it is not a number over 0"),
        ("max_ms = 33", "max_ms = nan", "line 5, max_ms: it is not a number over 0"),
        ("max_ms = 33", "max_s = 33", "line 5, max_s: no such key; there are models, targets"),
        ("chance = 90", "chance = 100", "line 6, chance: it is not a number between 0 and 100"),
        ("batch = 4", "batch = 4.0", "line 14, batch: it is not a whole number from 1"),
        ('models = "models"\n', "", "line 9, models: this table lacks it"),
        ('models = "models"', "models = []", "line 10, models: it is not a path"),
        ("{ sequence = 128 }", "3", "line 7, dims: it is not a table of whole numbers"),
        ("[4, 3, 224, 224]", "4", "line 15, shapes: it is not a table of lists"),
        (
            "max_memory_mb = 200.5\nmax_growth_percent = 0\n",
            "",
            "line 9, max_ms: this table has none",
        ),
        ("# of the app", "[checks]", "line 1, checks: no such key; tables are"),
    ],
)
def test_what_is_wrong_is_named_with_line_and_key(
    tmp_path: Path, before: str, after: str, words: str
) -> None:
    assert before in GOOD
    with pytest.raises(InputError) as raised:
        read_budget(written(tmp_path, GOOD.replace(before, after, 1)))
    assert words in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("text", ["", "check = 3", "check = []", "[check]\nmodels = 'a'"])
def test_a_file_without_checks_would_pass_and_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match="the file has no table"):
        read_budget(written(tmp_path, text))


@given(st.text(max_size=200), st.integers(0, len(GOOD)))
def test_no_text_ends_in_a_traceback(
    tmp_path_factory: pytest.TempPathFactory, text: str, place: int
) -> None:
    path = tmp_path_factory.mktemp("budget") / "ctm-budget.toml"
    path.write_bytes((GOOD[:place] + text + GOOD[place:]).encode("utf-8", "surrogatepass"))
    with suppress(InputError):
        assert read_budget(path)
