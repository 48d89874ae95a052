"""Checkpoints: nothing is lost, and nothing foreign is taken."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save

from predictor.core.errors import InputError
from predictor.graph.operators import OPERATORS
from predictor.research.paper.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from predictor.research.paper.closertome import CloserToMe
from predictor.research.paper.hcv import HcvEncoder
from tests.unit.network.samples import (
    make_device,
    random_graphs,
    random_table,
    random_targets,
    random_times,
    randomise,
    shared_config,
)

DEVICES = [
    make_device({"clock_mhz": 100.0, "core_count": 3.0, "dram_bw_gbps": 7.3}),
    make_device({"clock_mhz": 900.0}),
]


def make_checkpoint() -> Checkpoint:
    network = CloserToMe(shared_config(), random_table([30, 20]).scaling())
    randomise(network)
    return Checkpoint(network.eval(), HcvEncoder.fit(DEVICES), {"seed": 3, "note": "ä"})


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "network.safetensors"
    save_checkpoint(make_checkpoint(), path)
    return path


def test_a_checkpoint_comes_back_bit_by_bit(saved: Path) -> None:
    before, after = make_checkpoint(), load_checkpoint(saved)
    assert after.network.config == before.network.config
    assert after.notes == before.notes
    for name, tensor in before.network.state_dict().items():
        assert torch.equal(after.network.state_dict()[name], tensor), name
    np.testing.assert_array_equal(
        after.hcv.encode(DEVICES).values, before.hcv.encode(DEVICES).values
    )
    config, graphs = before.network.config, random_graphs([4, 6])
    targets, times = random_targets(config, 3), random_times(10, 3)
    with torch.no_grad():
        outputs = [c.network(graphs, targets, times) for c in (before, after)]
    assert torch.equal(outputs[0].log_latency, outputs[1].log_latency)


def test_the_file_is_the_same_each_time_and_holds_no_pickle(saved: Path, tmp_path: Path) -> None:
    again = tmp_path / "again.safetensors"
    save_checkpoint(make_checkpoint(), again)
    assert again.read_bytes() == saved.read_bytes()
    assert [p.name for p in tmp_path.iterdir() if p.suffix == ".partial"] == []


def rewrite(path: Path, change: Callable[[dict[str, object]], object]) -> None:
    """Change the JSON header of a saved checkpoint."""
    with safe_open(path, "pt") as file:
        header = json.loads(file.metadata()["ctm"])
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    change(header)
    path.write_bytes(save(tensors, {"ctm": json.dumps(header)}))


def nested(*keys: str, value: object) -> Callable[[dict[str, object]], object]:
    def change(header: dict[str, object]) -> None:
        part = header
        for key in keys[:-1]:
            part = part[key]  # type: ignore[assignment]  # every part on the way is a mapping
        part[keys[-1]] = value

    return change


HEADERS: dict[str, tuple[str, Callable[[dict[str, object]], object]]] = {
    "newer": ("its format has version 2", nested("format", value="ctm-network/2")),
    "foreign": ("its format is gguf/1", nested("format", value="gguf/1")),
    "no format": ("its format is None", lambda h: h.pop("format")),
    "no configuration": ("part config: it is missing", lambda h: h.pop("config")),
    "unknown choice": ("does not know: colour", nested("config", "colour", value=1)),
    "lost choice": ("does not know: width", lambda h: h["config"].pop("width")),
    "wrong choice": ("mode is 'both'", nested("config", "mode", value="both")),
    "wrong type": ("layers is '2'", nested("config", "layers", value="2")),
    "out of range": ("width is 0", nested("config", "width", value=0)),
    "other operators": (
        "operator list: it is not the first",
        nested("operators", 3, value="Teleport"),
    ),
    "more operators": (
        "operators is 307",
        nested("config", "operators", value=len(OPERATORS) + 1),
    ),
    "other features": ("they are not those", nested("scaling", "names", 0, value="log_price")),
    "wrong scaling": ("a deviation is not positive", nested("scaling", "std", 0, value=0.0)),
    "short scaling": (
        "there is not one mean",
        lambda h: h["scaling"]["mean"].pop(),
    ),
    "text in scaling": ("of the wrong type", nested("scaling", "mean", 0, value="much")),
    "other metrics": ("of other metrics", nested("config", "metrics", value=["clock_mhz"])),
    "other width": ("tensor ", nested("config", "width", value=16)),
    "more layers": ("tensors: missing or unknown", nested("config", "layers", value=3)),
    "no notes": ("part notes: it is missing", lambda h: h.pop("notes")),
}


@pytest.mark.parametrize(("message", "change"), HEADERS.values(), ids=HEADERS.keys())
def test_a_changed_header_is_refused(
    saved: Path, message: str, change: Callable[[dict[str, object]], object]
) -> None:
    rewrite(saved, change)
    with pytest.raises(InputError) as caught:
        load_checkpoint(saved)
    assert caught.value.subject == str(saved)
    assert message in str(caught.value)


@pytest.mark.parametrize("length", [0, 7, 100, 3000, -1])
def test_a_file_that_is_cut_off_is_refused(saved: Path, length: int) -> None:
    saved.write_bytes(saved.read_bytes()[:length])
    with pytest.raises(InputError, match="it is no checkpoint, or damaged"):
        load_checkpoint(saved)


@pytest.mark.parametrize("metadata", [None, {"format": "pt"}, {"ctm": "{"}, {"ctm": "[]"}])
def test_tensors_of_another_program_are_refused(
    tmp_path: Path, metadata: dict[str, str] | None
) -> None:
    path = tmp_path / "other.safetensors"
    path.write_bytes(save({"weight": torch.zeros(3)}, metadata))
    with pytest.raises(InputError, match=r"another program|no JSON object"):
        load_checkpoint(path)


def test_a_tensor_that_is_not_finite_is_refused(tmp_path: Path) -> None:
    checkpoint = make_checkpoint()
    with torch.no_grad():
        checkpoint.network.encoder.first.bias[0] = float("nan")
    save_checkpoint(checkpoint, tmp_path / "broken")
    with pytest.raises(InputError, match=r"tensor encoder.first.bias: a value is not finite"):
        load_checkpoint(tmp_path / "broken")


def test_a_network_trained_before_operators_were_added_still_loads(tmp_path: Path) -> None:
    network = CloserToMe(shared_config(operators=len(OPERATORS) - 5))
    save_checkpoint(Checkpoint(network, HcvEncoder.fit(DEVICES)), tmp_path / "older")
    loaded = load_checkpoint(tmp_path / "older").network
    assert loaded.encoder.embedding.weight.shape[0] == len(OPERATORS) - 5
