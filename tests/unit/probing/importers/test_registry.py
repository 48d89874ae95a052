from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predictor.core.errors import InputError
from predictor.probing.importers import source
from predictor.probing.importers.registry import FORMATS, import_bytes, import_file
from tests.support.import_samples import SAMPLES
from tests.support.importing import read, refusal

# Their rows stand alone: a file that ends between two of them is whole.
ROWS = {"csv", "ncnn-benchmark", "mnn-log", "model-analyzer", "ultralytics"}


def test_each_format_has_a_sample() -> None:
    assert set(SAMPLES) == {format_.name for format_ in FORMATS}


def test_the_page_has_the_command_of_each_format() -> None:
    page = Path(__file__).parents[4].joinpath("docs", "imports.md").read_text(encoding="utf-8")
    plain = page.replace("`", "")

    assert [f.name for f in FORMATS if f"| {f.made_by} |" not in plain] == []


@pytest.mark.parametrize("name", SAMPLES)
def test_a_file_is_known_by_its_content_alone(name: str) -> None:
    assert read(SAMPLES[name], "no_suffix").format == name


def test_a_file_is_read_from_disk(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text(SAMPLES["csv"], encoding="utf-8")

    file = import_file(path)

    assert (file.name, len(file.sha256), len(file.latencies)) == ("table.csv", 64, 3)


def test_a_missing_file_and_a_folder(tmp_path: Path) -> None:
    for path, reason in ((tmp_path / "none.csv", "no such file"), (tmp_path, "a folder")):
        with pytest.raises(InputError, match=reason):
            import_file(path)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "it is empty"),
        (b" \n\t", "it is empty"),
        (b"\x7fELF\0\0", "binary"),
        ("model,latency_ms".encode("utf-16"), "UTF-16"),
        (b"model,latency_ms\nn\xe4t,3\n", "line 2 is not UTF-8"),
        (b"<html>404</html>", "import one of these: ctm-results, onnxruntime-profile"),
        (b'{"a": 1}', "of no format that can be imported"),
        (b'{"a": 1', "cut short"),
        (b"[" * 100_000, "nests too deeply"),
        (b"[" + b"9" * 5000 + b"]", "thousands of digits"),
        (b"name;time\na;3\n", "qnn-profile, snpe-profile, aihub-profile, mlperf-log, csv"),
        (b"Number of iterations: 300\nP50 Latency: 0.01 s\n", "of no format"),
    ],
)
def test_foreign_files_are_refused(data: bytes, said: str) -> None:
    assert said in refusal(data)


def test_two_formats_in_one_file_are_refused() -> None:
    both = SAMPLES["ncnn-benchmark"] + SAMPLES["tflite-benchmark"]

    assert "several formats at once" in refusal(both)


def test_a_file_over_the_limit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "MAX_BYTES", 10)

    assert "more than the limit of 10" in refusal(SAMPLES["csv"])


@given(st.sampled_from(sorted(SAMPLES)), st.floats(0, 1), st.binary(max_size=6), st.integers(0, 9))
def test_damage_gives_a_sentence_or_sane_numbers(
    name: str, where: float, put: bytes, cut: int
) -> None:
    data = SAMPLES[name].encode()
    at = int(where * len(data))
    damaged = data[:at] + put + data[at + cut :]

    try:
        file = import_bytes("damaged", damaged)
    except InputError:
        return
    for latency in file.latencies:
        assert latency.value_ms is None or 0 < latency.value_ms < math.inf
        assert all(sample > 0 for sample in latency.samples_ns)


@given(st.sampled_from(sorted(set(SAMPLES) - ROWS)), st.floats(0, 0.98))
def test_a_file_cut_short_gives_no_other_number(name: str, where: float) -> None:
    """In files that are not rows what is missing shows."""
    data = SAMPLES[name].rstrip().encode()

    try:
        file = import_bytes("cut", data[: int(where * len(data))])
    except InputError:
        return
    whole = import_bytes("whole", data)
    assert [one.value_ms for one in file.latencies] == [one.value_ms for one in whole.latencies]
