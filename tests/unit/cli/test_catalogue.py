"""This machine on a command line: when reference networks are measured on it, and what is said."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from predictor.cli import catalogue as subject
from predictor.cli.catalogue import PROBING, open_catalogue
from predictor.cli.console import Console
from predictor.cli.program import parse
from predictor.core.errors import CtmError, HostError, InputError
from predictor.services.probing import quick
from predictor.services.probing.quick import Obstacle, Refusal
from tests.support.quick_probing import store_rates

pytestmark = pytest.mark.slow

Find = Callable[..., int]
STREAMS = ("stdin", "stdout", "stderr")
NETWORKS = ("predict", "explain", "compare", "choose --max-ms 5", "report -o r.json")


@pytest.fixture
def find(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Find:
    """Look this machine up with a command's options; returns how often it was measured."""
    store = tmp_path / "store.sqlite"
    store_rates(store)
    monkeypatch.setattr(subject, "has_signature", lambda *_: False)

    def look_up(
        line: str, *, networks: bool = True, terminal: bool = False, outcome: Any = None
    ) -> int:
        stores: list[Path] = []

        def probe(path: Path, **_: object) -> object:
            stores.append(path)
            if isinstance(outcome, BaseException):
                raise outcome
            return outcome

        monkeypatch.setattr(quick, "probe_quickly", probe)
        stream = SimpleNamespace(isatty=lambda: terminal)
        with monkeypatch.context() as patched:
            patched.setattr(subject, "sys", SimpleNamespace(**dict.fromkeys(STREAMS, stream)))
            options = parse([*line.split(), "--store", str(store)])
            device = open_catalogue(options, Console(), networks=networks).find("this PC")
        assert device.id == "this-machine"
        assert device.measured, "with the rates that are stored"
        assert set(stores) <= {store}
        return len(stores)

    return look_up


@pytest.mark.parametrize("command", NETWORKS)
def test_a_terminal_and_measure_alone_measure_networks(find: Find, command: str) -> None:
    line = f"{command} a.onnx"
    assert find(line) == 0, "a script gets what it got before"
    assert find(line, terminal=True) == 1
    assert find(f"{line} --measure") == 1
    assert find(f"{line} --no-measure", terminal=True) == 0


def test_nothing_is_measured_twice_or_for_an_engine_that_reads_none(
    find: Find, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert find("predict a.onnx --engine roofline --measure") == 0
    monkeypatch.setattr(subject, "has_signature", lambda *_: True)
    assert find("predict a.onnx --measure", terminal=True) == 0


@pytest.mark.parametrize("line", ["generate a.onnx", "probe plan", "devices show this"])
def test_commands_that_read_no_networks_measure_none(find: Find, line: str) -> None:
    assert find(line, networks=False, terminal=True) == 0
    with pytest.raises(InputError):
        parse([*line.split(), "--measure"])


def test_never_and_always_exclude_each_other() -> None:
    with pytest.raises(InputError, match="not allowed with"):
        parse(["predict", "a.onnx", "--measure", "--no-measure"])


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        (Refusal(Obstacle.BATTERY, "It runs on its battery."), "It runs on its battery."),
        (HostError("the runner", "it ended", "try again"), "the runner: it ended; try again."),
        (InputError("store", "it is none", "name one"), "store: it is none; name one."),
    ],
)
def test_a_machine_that_is_not_measured_is_predicted_from_facts(
    find: Find, capsys: pytest.CaptureFixture[str], outcome: Refusal | CtmError, words: str
) -> None:
    assert find("predict a.onnx --measure", outcome=outcome) == 1
    without = f"This machine is predicted without networks measured on it: {words}"
    assert capsys.readouterr().err.splitlines() == [PROBING, without]


def test_ctrl_c_ends_the_command_as_it_does_at_the_rates(find: Find) -> None:
    with pytest.raises(KeyboardInterrupt):
        find("predict a.onnx --measure", outcome=KeyboardInterrupt())
