"""The load file: what it says, and one sentence with the place for what is wrong."""

from pathlib import Path

import pytest

from predictor.core.errors import InputError
from predictor.services.loads.load_file import read_load
from predictor.services.loads.models import model_paths, read_models
from predictor.services.loads.records import Load
from predictor.services.models.ingestion import IngestionWorker
from predictor.services.models.language import read_language_model

_STREAM = """\
[box]
id = "rk3588"

[[stream]]
name = "camera"
rate = 15
deadline_ms = 50

[[stream.stage]]
name = "detect"
model = "yolov3-tiny-416.onnx"
unit = "npu"
"""
_SECOND = """
[[stream.stage]]
name = "crops"
model = "mobilenetv2-1.0-224.onnx"
per_item = 3
batch = 4
batch_delay_ms = 5
"""


def _read(folder: Path, text: str) -> Load:
    path = folder / "load.toml"
    path.write_text(text, encoding="utf-8")
    return read_load(path)


def test_a_file_is_read(tmp_path: Path) -> None:
    load = _read(tmp_path, _STREAM + _SECOND + "\n[simulation]\nseed = 3\nchance = 95\n")
    (stream,) = load.streams
    assert (stream.name, stream.rate_per_s, stream.deadline_ms) == ("camera", 15.0, 50.0)
    assert (stream.arrival, stream.count, stream.share) == ("periodic", 1, 0.99)
    detect, crops = stream.stages
    assert (detect.unit, detect.batch, detect.after) == ("npu", 1, ())
    assert (crops.unit, crops.batch, crops.delay_ms, crops.per_item) == ("auto", 4, 5.0, 3.0)
    assert crops.after == ("detect",)  # the one before it
    assert (load.seed, load.chance) == (3, 0.95)


def test_stages_are_put_in_order(tmp_path: Path) -> None:
    text = _STREAM + 'after = ["crops"]\n' + _SECOND + "after = []\n"
    assert [s.name for s in _read(tmp_path, text).streams[0].stages] == ["crops", "detect"]


def test_a_batch_without_a_delay_is_fixed(tmp_path: Path) -> None:
    load = _read(tmp_path, _STREAM + "batch = 8\n")
    assert load.streams[0].stages[0].delay_ms == float("inf")


def test_a_trace_has_its_own_rate_unless_one_is_stated(tmp_path: Path) -> None:
    (tmp_path / "times.txt").write_text("0.0\n0.5\n1.0\n2.0\n", encoding="utf-8")
    traced = _STREAM.replace("rate = 15", 'trace = "times.txt"')
    stream = _read(tmp_path, traced).streams[0]
    assert (stream.arrival, stream.rate_per_s) == ("trace", 1.5)
    stretched = _read(tmp_path, traced.replace("deadline_ms", "rate = 30\ndeadline_ms"))
    assert stretched.streams[0].rate_per_s == 30.0


@pytest.mark.parametrize(
    ("before", "after", "line", "key", "words"),
    [
        ("rate = 15", "rate = 0", 6, "rate", "up to 10,000 items a second"),
        ("rate = 15", "rate = 1_000_000", 6, "rate", "up to 10,000 items a second"),
        ("rate = 15\n", "", 4, "rate", "has none"),
        ("deadline_ms = 50", "deadline_ms = -1", 7, "deadline_ms", "over 0"),
        ('model = "yolov3-tiny-416.onnx"\n', "", 9, "model", "this stage has none"),
        ('unit = "npu"', 'unit = ""', 12, "unit", "name of a unit"),
        ('unit = "npu"', "colour = 1", 12, "colour", "no such key"),
        ('unit = "npu"', 'after = "detect"', 12, "after", "the stage detect waits for itself"),
        ('unit = "npu"', 'after = "track"', 12, "after", "there is no stage track"),
        ('unit = "npu"', "per_item = 0", 12, "per_item", "over 0"),
        ('unit = "npu"', 'batching = "none"\nbatch = 4', 12, "batching", "states a batch"),
        ('unit = "npu"', "batch = 1000", 12, "batch", "from 1 to 128"),
        ('unit = "npu"', 'batching = "fixed"\nbatch_delay_ms = 4', 13, "batch_delay_ms", "full"),
        ("rate = 15", 'rate = 15\narrival = "trace"', 7, "arrival", "names no trace"),
        ("rate = 15", 'trace = "none.txt"', 6, "trace", ""),
        ("rate = 15", 'rate = 15\narrival = "bursts"', 7, "arrival", "one of periodic"),
        ("rate = 15", "rate = 15\ncount = 5000", 7, "count", "from 1 to 1,000"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(
    tmp_path: Path, before: str, after: str, line: int, key: str, words: str
) -> None:
    assert before in _STREAM
    with pytest.raises(InputError) as refused:
        _read(tmp_path, _STREAM.replace(before, after))
    assert refused.value.subject.endswith(f"load.toml, line {line}, {key}")
    assert words in refused.value.reason


def test_an_unknown_table_is_told_those_that_there_are(tmp_path: Path) -> None:
    with pytest.raises(InputError) as refused:
        _read(tmp_path, "[boxes]\n" + _STREAM)
    assert refused.value.reason == (
        "no such key; tables are [[stream]], [box], [cost], [simulation]"
    )


def test_cycles_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="detect, crops wait for one another"):
        _read(tmp_path, _STREAM + 'after = "crops"\n' + _SECOND)


def test_a_stream_without_stages_and_two_of_one_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"line 1, stage: this stream has no \[\[stream.stage\]\]"):
        _read(tmp_path, '[[stream]]\nname = "a"\nrate = 1\n')
    with pytest.raises(InputError, match="line 14, name: another stream is called camera"):
        _read(tmp_path, _STREAM + "\n" + _STREAM.split("\n\n", 1)[1])
    with pytest.raises(InputError, match="another stage is called detect"):
        _read(tmp_path, _STREAM + _SECOND.replace("crops", "detect"))


@pytest.mark.parametrize("times", ["", "1.0\n", "2.0\n1.0\n", "1.0\n1.0\n", "one\ntwo\n", "0\ninf"])
def test_a_wrong_trace_is_refused(tmp_path: Path, times: str) -> None:
    (tmp_path / "times.txt").write_text(times, encoding="utf-8")
    with pytest.raises(InputError, match="line 6, trace"):
        _read(tmp_path, _STREAM.replace("rate = 15", 'trace = "times.txt"'))


def test_a_model_that_is_not_there_is_named_with_its_line(tmp_path: Path) -> None:
    load = _read(tmp_path, _STREAM.replace("yolov3-tiny-416", "none"))
    with pytest.raises(InputError, match=r"line 11, model: there is no file none.onnx"):
        model_paths(load)
    sample = model_paths(_read(tmp_path, _STREAM))
    assert [path.name for path in sample.values()] == ["yolov3-tiny-416.onnx"]


_ANSWER = """
[[stream.stage]]
name = "answer"
model = "qwen3-1.7b.json"
"""


def test_a_language_model_states_its_tokens(tmp_path: Path) -> None:
    tokens = 'prompt_tokens = 300\nnew_tokens = 60\nweights = "q8_0"\n'
    detect, answer = _read(tmp_path, _STREAM + _ANSWER + tokens).streams[0].stages
    assert not detect.generates
    assert (answer.prompt_tokens, answer.new_tokens, answer.weights) == (300, 60, "q8_0")
    assert answer.generates


@pytest.mark.parametrize(
    ("keys", "key", "reason"),
    [
        ("prompt_tokens = 300", "prompt_tokens", "state new_tokens too"),
        ('weights = "q8_0"', "weights", "state new_tokens too"),
        ("new_tokens = 0", "new_tokens", "a whole number of tokens"),
        ('new_tokens = 60\nweights = "q17"', "weights", "format of weights"),
        ('new_tokens = 60\nprecision = "int8"', "precision", "weights are named by weights"),
        ("new_tokens = 60\ndims = { sequence = 64 }", "dims", "a language model has none"),
    ],
)
def test_wrong_tokens_are_named(tmp_path: Path, keys: str, key: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason) as refused:
        _read(tmp_path, f"{_STREAM}{_ANSWER}{keys}\n")
    assert key in str(refused.value)
    assert "load.toml" in str(refused.value)


def _read_models(folder: Path, text: str) -> None:
    load = _read(folder, text)
    paths = model_paths(load)
    with IngestionWorker() as worker:
        read_models(
            load,
            {key: path for key, path in paths.items() if key.generates},
            lambda _, path: read_language_model(path, worker),
        )


@pytest.mark.parametrize(
    ("stage", "keys", "reason"),
    [
        (_ANSWER, "", "it is a language model: state prompt_tokens and new_tokens"),
        (
            _ANSWER,
            "new_tokens = 60\n",
            "prompt_tokens: this stage has none, and its language model needs a prompt",
        ),
        (
            _ANSWER.replace("qwen3-1.7b", "whisper-base"),
            "new_tokens = 445\n",
            "the context of whisper-base.json has 448 tokens, and a run takes 449",
        ),
        (
            _ANSWER.replace("qwen3-1.7b.json", "mobilenetv2-1.0-224.onnx"),
            "prompt_tokens = 300\nnew_tokens = 60\n",
            "it is no language model",
        ),
    ],
)
def test_a_model_that_is_not_of_its_tokens_is_named(
    tmp_path: Path, stage: str, keys: str, reason: str
) -> None:
    text = _STREAM.partition("[[stream.stage]]")[0] + stage + keys
    with pytest.raises(InputError, match=reason):
        _read_models(tmp_path, text)


def test_a_speech_recogniser_needs_no_prompt(tmp_path: Path) -> None:
    text = _STREAM.partition("[[stream.stage]]")[0] + _ANSWER.replace("qwen3-1.7b", "whisper-base")
    _read_models(tmp_path, f"{text}new_tokens = 25\n")
