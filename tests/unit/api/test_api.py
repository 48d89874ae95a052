"""The Python API: its names, its numbers and its tables."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType, SimpleNamespace
from typing import Any
from xml.etree import ElementTree as ET

import onnx
import pytest

import predictor as ctm
from predictor.api import (
    ahead,
    choices,
    comparison,
    explanation,
    generation,
    loads,
    models,
    probing,
    serving,
    tables,
)
from predictor.api import predictions as api_predictions
from predictor.api.targets import Devices
from predictor.cli import program
from predictor.core.errors import HostError, InputError
from predictor.core.resources import resources_dir
from predictor.services.probing.quick import Obstacle, Refusal

SIGNATURES = Path(__file__).resolve().parents[2] / "golden" / "api" / "signatures.txt"
SAMPLES = resources_dir() / "samples"
MOBILENET = SAMPLES / "mobilenetv2-1.0-224.onnx"
LLAMA = {
    "model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336,
    "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
    "vocab_size": 128256, "max_position_embeddings": 8192,
}  # fmt: skip
RESULTS = (
    tables.Table,
    Devices,
    api_predictions.Predictions,
    comparison.Comparison,
    explanation.Explanation,
    choices.Choices,
    generation.Generations,
    serving.Servings,
    loads.Carried,
)


def signatures() -> Iterator[str]:
    """Yield a line a function of the API, and a line a method or property of its results."""
    for name in ctm.__all__:
        function = getattr(ctm, name)
        if not isinstance(function, FunctionType):  # the room that can be called
            function = inspect.getattr_static(sys.modules["predictor.api.targets"], name)
        yield f"{name}{inspect.signature(function)}"
    for result in RESULTS:
        members = [name for name in vars(result) if not name.startswith("_")]
        yield f"{result.__name__}{inspect.signature(result)}: {', '.join(members)}"


def test_signatures_are_those_of_the_golden_file() -> None:
    """A change of this file needs a new version, see docs/python.md."""
    assert list(signatures()) == SIGNATURES.read_text(encoding="utf-8").splitlines()


def test_importing_the_package_imports_no_library_and_lists_its_names() -> None:
    code = (
        "import sys, predictor as ctm; print({'numpy', 'predictor.api', 'predictor.core'} "
        "& set(sys.modules), set(ctm.__all__) <= set(dir(ctm)), hasattr(ctm, 'unheard'))"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "set() True False"


def test_a_prediction_is_made_without_torch_and_onnx_in_the_process() -> None:
    code = (
        "import sys, predictor as ctm; row = ctm.predict(sys.argv[1], 'rpi5').rows[0]; "
        "print(row['device'], {'torch', 'onnx', 'PySide6'} & set(sys.modules))"
    )

    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, str(MOBILENET)],
        capture_output=True,
        text=True,
        check=True,
    )

    assert (done.stdout.strip(), done.stderr) == ("rpi5 set()", "")


def test_numbers_are_those_of_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    devices = ["rpi5", "rtx3090", "core-i7-1165g7"]
    options = [word for device in devices for word in ("--device", device)]
    program.main(["predict", str(MOBILENET), *options, "--json"])
    document = json.loads(capsys.readouterr().out)

    rows = ctm.predict(MOBILENET, devices).rows

    for row, entry in zip(rows, document["predictions"], strict=True):
        shared = entry.keys() & row.keys()
        assert {"latency_ms", "low80_ms", "evidence", "basis", "bound_ms"} <= shared
        del entry["flagged_operators"]
        assert {name: row[name] for name in shared & entry.keys()} == {
            name: entry[name] for name in shared & entry.keys()
        }


def test_a_recorded_prediction_is_in_the_store(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    ctm.predict(MOBILENET, "rpi5", store=store, record=True)

    assert program.main(["store", "info", "--store", str(store), "--json"]) == 0


def test_a_store_that_fails_is_a_warning(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    store.write_text("no database")

    with pytest.warns(RuntimeWarning, match="the store was not used"):
        rows = ctm.predict(MOBILENET, "rpi5", store=store)

    assert rows.rows[0]["latency_ms"]


def test_an_onnx_model_in_memory_is_the_model_of_its_file() -> None:
    of_file = ctm.load(MOBILENET)

    model = ctm.load(onnx.load(MOBILENET), name="mine")

    assert (model.graph.fingerprint, model.path) == (of_file.graph.fingerprint, "mine")
    assert ctm.load(model) is model


@pytest.mark.slow
def test_a_torch_module_is_exported_and_read() -> None:
    import torch  # noqa: PLC0415  # 3 s that the collection of all tests does not wait for

    module = torch.nn.Sequential(torch.nn.Linear(32, 8), torch.nn.ReLU())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of torch.export
        model = ctm.load(module, inputs=(torch.zeros(4, 32),))

    assert model.path == "Sequential"
    assert int(model.graph.macs.sum()) == 4 * 32 * 8


@pytest.mark.parametrize(
    ("source", "reason"),
    [("module", "shapes of a module's inputs"), (object(), "a object is no model")],
)
def test_what_cannot_be_loaded_is_one_sentence(source: object, reason: str) -> None:
    if source == "module":
        import torch  # noqa: PLC0415

        source = torch.nn.ReLU()
    with pytest.raises(InputError, match=reason):
        ctm.load(source)


def test_targets_are_names_records_and_texts_with_a_configuration() -> None:
    device = next(device for device in ctm.devices().devices if device.id == "rpi5")

    rows = ctm.predict(MOBILENET, ["rpi5/ncnn/fp16/t2", device, "rtx3090/tensorrt/fp16"]).rows

    assert [row["threads"] for row in rows] == [2, 4, 0]


def test_names_that_do_not_exist_are_refused() -> None:
    with pytest.raises(InputError, match="nothing-such"):
        ctm.predict(MOBILENET, "rpi5", runtime="nothing-such")
    with pytest.raises(InputError, match="fp7"):
        ctm.choose(MOBILENET, max_ms=3, precisions=["fp7"])
    with pytest.raises(InputError, match="limits of a language model"):
        ctm.choose(MOBILENET, max_ms=3, max_joules=1.0)
    with pytest.raises(InputError, match="not a number over 0"):
        ctm.measured("rpi5", -1)
    with pytest.raises(InputError, match="2 pairs"):
        ctm.explain(MOBILENET, ["rpi5", "rtx3090"])
    with pytest.raises(InputError, match="1 models"):
        ctm.compare([MOBILENET], "rpi5")


def test_devices_are_chosen_for_a_language_model(tmp_path: Path) -> None:
    config = tmp_path / "config.json"
    config.write_text(json.dumps(LLAMA), encoding="utf-8")
    devices = ["rtx3090", "rpi5", "h100-sxm"]
    limits: dict[str, Any] = {"min_tokens_per_s": 40.0, "max_cost": 5.0}
    prices = {"rtx3090": 0.2, "h100-sxm": 2.5}

    choices = ctm.choose(config, devices=devices, price_per_hour=prices, **limits)

    rows = {row["device"]: row for row in choices}
    assert rows["h100-sxm"]["chance"] > 0.9
    assert rows["rpi5"]["chance"] == 0.0
    assert rows["rpi5"]["remark"] == "no price is stated"
    assert choices.choice is None
    assert [option.generation.device.id for option in choices.language] == list(rows)
    assert "of 3 devices keep the budget" in choices.sentence
    cases: list[tuple[dict[str, Any], str]] = [
        ({"max_ms": 5.0, **limits}, "no limits of a language model"),
        (limits, "no price is stated"),
        ({}, "no limit of a language model"),
    ]
    for wrong, words in cases:
        with pytest.raises(InputError, match=words):
            ctm.choose(config, devices=devices, **wrong)


def test_a_measured_latency_stands_for_the_prediction() -> None:
    model = SAMPLES / "distilbert-base.onnx"
    before = ctm.predict(model, "rpi5").rows[0]["latency_ms"]

    row = ctm.predict(model, "rpi5", measured=[ctm.measured("rpi5", before * 1.2)]).rows[0]

    assert (row["latency_ms"], row["basis"]) == (pytest.approx(before * 1.2), "measured")


def test_the_chart_is_well_formed_and_has_every_target() -> None:
    latencies = ctm.predict(MOBILENET, ["rpi5", "rtx3090"], budget_ms=1)

    root = ET.fromstring(latencies.svg())  # noqa: S314  # our text
    texts = " ".join("".join(node.itertext()) for node in root)

    assert "Raspberry Pi 5 (CPU)" in texts
    assert "NVIDIA GeForce RTX 3090" in texts
    assert "budget 1 ms" in texts
    assert latencies._repr_html_().startswith("<svg")


def test_operators_sum_to_the_prediction() -> None:
    parts = ctm.explain(MOBILENET, "rtx3090")

    assert sum(row["latency_ms"] for row in parts) == pytest.approx(parts.prediction.latency_ms)
    assert "precision fp32" in parts.changes.column("change")


def write_config(folder: Path) -> Path:
    """Write the ``config.json`` of a model of a billion parameters into a folder."""
    config = {
        "model_type": "llama", "hidden_size": 2048, "intermediate_size": 8192,
        "num_hidden_layers": 16, "num_attention_heads": 32, "num_key_value_heads": 8,
        "vocab_size": 128256, "max_position_embeddings": 8192,
    }  # fmt: skip
    (folder / "config.json").write_text(json.dumps(config))
    return folder / "config.json"


def test_a_language_model_has_a_row_a_device(tmp_path: Path) -> None:
    write_config(tmp_path)

    rows = ctm.generate(tmp_path, ["rtx3060", "rpi5"], prompt=256, new=32)
    faster = ctm.generate(tmp_path, "rtx3060", prompt=256, new=32, measured={"rtx3060": 500.0})

    assert rows.column("device") == ["rtx3060", "rpi5"]
    assert faster.rows[0]["decode_tokens_per_s"] > rows.rows[0]["decode_tokens_per_s"]


def test_a_load_is_simulated_as_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = write_config(tmp_path)
    load = ["--rate", "4/s", "--prompt", "256", "--new", "32", "--requests", "500", "--no-own"]
    program.main(["serve", str(config), "--device", "rtx3060", *load, "--json"])
    (printed,) = json.loads(capsys.readouterr().out)["results"]

    rows = ctm.serve(tmp_path, "rtx3060", rate_per_s=4, prompt=256, new=32, requests=500)

    assert rows.rows[0] == printed
    assert ctm.serve(tmp_path, "rtx3060", rate_per_s=1e4).rows[0]["ttft_p50_ms"] is None
    with pytest.raises(InputError, match="a trace states the lengths"):
        ctm.serve(tmp_path, "rtx3060", trace="trace.csv", prompt=8)


def test_probing_a_busy_machine_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    refusal = Refusal(Obstacle.LOAD, "Other programs use it.")
    monkeypatch.setattr(probing, "probe_quickly", lambda *_, **__: refusal)

    with pytest.raises(HostError, match="Other programs use it"):
        ctm.probe()


def test_tables_become_frames_where_the_library_is(monkeypatch: pytest.MonkeyPatch) -> None:
    table = tables.Table([{"a": 1, "b": None}, {"a": 2, "b": "x<y"}])
    arrow = table.to_arrow()
    monkeypatch.setitem(sys.modules, "pandas", None)
    monkeypatch.setitem(sys.modules, "polars", None)

    assert arrow.to_pydict() == {"a": [1, 2], "b": [None, "x<y"]}
    assert "x&lt;y" in table._repr_html_()
    assert (len(table), table[1]["a"], table.columns) == (2, 2, ("a", "b"))
    for method, name in ((table.to_pandas, "pandas"), (table.to_polars, "polars")):
        with pytest.raises(HostError, match=f"{name}: this library is not installed; pip install"):
            method()


def test_frames_get_their_columns_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    table = tables.Table([{"b": 1, "a": None}, {"b": 2, "a": "x"}])
    frames = SimpleNamespace(DataFrame=lambda *values, **options: (values, options))
    monkeypatch.setitem(sys.modules, "pandas", frames)
    monkeypatch.setitem(sys.modules, "polars", frames)

    assert table.to_pandas() == (([*table],), {"columns": ["b", "a"]})
    assert table.to_polars() == (({"b": [1, 2], "a": [None, "x"]},), {"strict": False})


def test_the_reader_is_started_once_and_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[int] = []
    monkeypatch.setattr(ahead, "start_ahead", lambda: started.append(1))
    monkeypatch.setattr(ahead, "_started", [])

    ahead.start()
    ahead.start()

    assert started == [1]
    assert models.reader() is models.reader()


_LOAD = {
    "stream": [
        {"name": "camera", "rate": 5, "stage": [{"name": "see", "model": str(MOBILENET)}]},
    ],
    "simulation": {"items": 1000, "draws": 10},
}


def test_a_load_is_carried_as_by_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stage = "[[stream.stage]]\nname = 'see'\n"
    text = f"[[stream]]\nname = 'camera'\nrate = 5\n{stage}model = '{MOBILENET.name}'\n"
    file = tmp_path / "load.toml"
    file.write_text(f"{text}[simulation]\nitems = 1000\ndraws = 10\n")
    program.main(["load", str(file), "--device", "rpi5", "--json"])
    document = json.loads(capsys.readouterr().out)

    carried = ctm.carry(file, devices="rpi5")

    assert carried.document == document
    assert carried.holds
    assert carried.sentence == document["sentence"]
    assert carried.column("p99_ms") == [document["streams"][0]["p99_ms"]]
    assert ctm.carry(_LOAD, devices="rpi5").rows == carried.rows


def test_a_load_without_a_box_or_with_two_is_refused() -> None:
    with pytest.raises(InputError, match="it names no box"):
        ctm.carry(_LOAD)
    with pytest.raises(InputError, match="it states a box and devices"):
        ctm.carry(_LOAD, "jetson-orin-nano", devices="rpi5")
    with pytest.raises(InputError, match="no unit of"):
        ctm.carry(_LOAD, devices="rpi5", mode="5W")


def test_rates_and_energies_are_columns_where_they_are_requested() -> None:
    usual = ctm.predict(MOBILENET, ["rtx3060", "rk3588-npu"])
    rows = ctm.predict(MOBILENET, ["rtx3060", "rk3588-npu"], throughput=True, energy=True)

    assert rows.columns[: len(usual.columns)] == usual.columns
    assert "per_s" not in usual.columns
    card, npu = rows.rows
    assert card["per_s"] > card["alone_per_s"]
    assert npu["per_s"] == npu["alone_per_s"]
    assert card["mj"] == pytest.approx(card["watts"] * card["latency_ms"])
    assert npu["mj"] is None
    assert rows.energies[1] is None
