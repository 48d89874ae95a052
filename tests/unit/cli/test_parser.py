from __future__ import annotations

from pathlib import Path

import pytest

from predictor.cli.program import parse
from predictor.core.errors import InputError


def test_predict_takes_every_option_of_the_contract() -> None:
    options = parse(
        [
            "predict",
            "a.onnx",
            "b.onnx",
            "--device",
            "rpi5",
            "--device",
            "this",
            "--all",
            "--batch",
            "4",
            "--shape",
            "x=1,3,224,224",
            "--shape",
            "y:0=8",
            "--dim",
            "sequence=128",
            "--runtime",
            "ncnn",
            "--precision",
            "fp16",
            "--threads",
            "2",
            "--budget-ms",
            "30",
            "--engine",
            "roofline",
            "--operators",
            "--json",
        ]
    )

    assert options.models == ["a.onnx", "b.onnx"]
    assert options.device == ["rpi5", "this"]
    assert options.all
    assert options.batch == 4
    assert options.shape == [("x", (1, 3, 224, 224)), ("y:0", (8,))]
    assert options.dim == [("sequence", 128)]
    assert (options.runtime, options.precision, options.threads) == ("ncnn", "fp16", 2)
    assert options.budget_ms == 30
    assert options.engine == "roofline"
    assert options.operators
    assert options.json


@pytest.mark.parametrize(
    "line",
    [
        "--store S --quiet predict a.onnx",
        "predict a.onnx --store S --quiet",
        "--store S inspect a.onnx --quiet",
        "--quiet devices --store S",
        "devices --quiet show rpi5 --store S",
        "devices --store S --quiet detect",
        "store info --store S --quiet",
        "--store S --quiet store check",
    ],
)
def test_store_and_quiet_stand_anywhere(line: str) -> None:
    options = parse(line.split())

    assert options.store == Path("S")
    assert options.quiet


def test_without_them_there_is_no_store_path_and_messages_are_shown() -> None:
    options = parse(["store", "info"])

    assert options.store is None
    assert not options.quiet
    assert not options.json


def test_devices_alone_lists() -> None:
    alone, named = parse(["devices", "--json"]), parse(["devices", "list"])

    assert alone.run is named.run
    assert alone.json
    assert parse(["devices", "detect"]).run is not named.run


def test_a_shape_name_may_contain_an_equals_sign_and_a_shape_may_be_a_scalar() -> None:
    options = parse(["predict", "a.onnx", "--shape", "a=b=2,3", "--shape", "scalar="])

    assert options.shape == [("a=b", (2, 3)), ("scalar", ())]


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("predict", "MODEL"),
        ("", "COMMAND"),
        ("fly", "fly"),
        ("predict a.onnx --batch 0", "0"),
        ("predict a.onnx --batch -3", "-3"),
        ("predict a.onnx --batch two", "two"),
        ("predict a.onnx --batch 99999999999", "99999999999"),
        ("predict a.onnx --threads -1", "-1"),
        ("predict a.onnx --budget-ms 0", "0"),
        ("predict a.onnx --budget-ms nan", "nan"),
        ("predict a.onnx --budget-ms inf", "inf"),
        ("predict a.onnx --shape 1,3", "1,3"),
        ("predict a.onnx --shape x=1,,3", "''"),
        ("predict a.onnx --shape x=1,0", "0"),
        ("predict a.onnx --dim n", "NAME=VALUE"),
        ("predict a.onnx --dim =4", "NAME=VALUE"),
        ("predict a.onnx --budget 30", "--budget"),
        ("store", "ACTION"),
        ("store burn", "burn"),
        ("devices show", "ID"),
    ],
)
def test_what_is_wrong_is_named_with_where_to_look(line: str, word: str) -> None:
    with pytest.raises(InputError) as raised:
        parse(line.split())

    assert word in raised.value.reason
    assert raised.value.subject.startswith("ctm")
    assert raised.value.action == f"see {raised.value.subject} --help"


@pytest.mark.parametrize("line", ["--help", "predict --help", "devices show --help", "--version"])
def test_help_and_version_end_with_0(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parse(line.split())

    assert ended.value.code == 0
    assert "ctm" in capsys.readouterr().out
