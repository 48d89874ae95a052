"""What every test runs under: no window on the screen, no telemetry, a store of its own."""

from __future__ import annotations

import gc
import os
import random
import shutil
import signal
import sys
from collections.abc import Generator, Iterator
from functools import partialmethod
from pathlib import Path

import hypothesis
import pytest
from pytestqt.qtbot import QtBot

from predictor.core.libraries import settle_libraries
from tests.support.lent_children import USERS, Lender

# How long an example takes, and how long it is drawn, depends on what else this machine does. Each
# run draws others: 50 a run keep the suite short.
hypothesis.settings.register_profile(
    "ctm",
    deadline=None,
    max_examples=50,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("ctm")

# Before the first import of Qt, onnxruntime or torch, here and in every process that a test starts.
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
settle_libraries()
# Torch's threads spin while they wait for each other: networks as small as these are trained sooner
# on one, above all where another worker has the second processor.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# A shell that runs the tests in the background has them ignore it, and so would every process that
# they start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Modules, and the tests in each, come in another order every time, so that none can depend on what
# ran before it. ``CTM_TEST_ORDER=`` with the number that a run has told repeats its order. Not by
# pytest-randomly: it imports NumPy before we have settled its threads. The processes of xdist
# inherit the number.
ORDER = os.environ.setdefault("CTM_TEST_ORDER", str(random.randrange(10**6)))  # noqa: S311

FAIL_ON_SKIP = os.environ.get("CTM_FAIL_ON_SKIP") == "1"
PATIENCE_MS = 30_000
SLOW = "\npytestmark = pytest.mark.slow\n"


class PatientBot(QtBot):
    """Waits up to 30 s instead of 5: other processes can have the processors that long."""

    waitActive = partialmethod(QtBot.waitActive, timeout=PATIENCE_MS)  # noqa: N815  # Qt's names
    waitExposed = partialmethod(QtBot.waitExposed, timeout=PATIENCE_MS)  # noqa: N815
    waitSignal = partialmethod(QtBot.waitSignal, timeout=PATIENCE_MS)  # noqa: N815
    waitSignals = partialmethod(QtBot.waitSignals, timeout=PATIENCE_MS)  # noqa: N815
    waitUntil = partialmethod(QtBot.waitUntil, timeout=PATIENCE_MS)  # noqa: N815


@pytest.fixture
def qtbot(qapp: object, request: pytest.FixtureRequest) -> QtBot:
    """Return pytest-qt's robot, but a patient one."""
    return PatientBot(request)


@pytest.fixture(autouse=True)
def own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give each test a store and settings of its own: the user's are never touched."""
    store = tmp_path / "own-store" / "store.db"
    monkeypatch.setenv("CTM_STORE", str(store))
    monkeypatch.setenv("CTM_SETTINGS", str(tmp_path / "own-settings.ini"))
    monkeypatch.setenv("XDG_STATE_HOME", f"{tmp_path}-state")  # beside what tests look into
    return store


@pytest.fixture(scope="session")
def lender() -> Iterator[Lender]:
    """Have the child processes that tests are lent."""
    lender = Lender()
    yield lender
    lender.end()


@pytest.fixture(autouse=True)
def lent_children(
    request: pytest.FixtureRequest, lender: Lender, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lend children that go on, except to tests of how they start and end."""
    if request.node.get_closest_marker("fresh_children") is None:
        for name in USERS:
            if module := sys.modules.get(name):
                monkeypatch.setattr(module, "ChildProcess", lender)


@pytest.fixture
def damaged_engine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """Let the learned engine's checkpoint be a copy of which one file is cut short."""
    from predictor.core.resources import resources_dir  # noqa: PLC0415 - after the environment
    from predictor.services.prediction import engines  # noqa: PLC0415

    def forget() -> None:
        engines.usual_engine_problem.cache_clear()
        engines._learned.cache_clear()

    checkpoint = tmp_path / "checkpoints" / "closertome"
    shutil.copytree(resources_dir() / "checkpoints" / "closertome", checkpoint)
    head = checkpoint / "head.onnx"
    head.write_bytes(head.read_bytes()[:1000])
    monkeypatch.setattr(engines, "resources_dir", lambda: tmp_path)
    forget()
    yield checkpoint
    forget()


def pytest_configure(config: pytest.Config) -> None:
    """Name the marks of tests that ``run.py test --fast`` leaves out, and of those that lead."""
    config.addinivalue_line("markers", "long: a test of ten seconds and more")
    config.addinivalue_line(
        "markers", "fresh_children: each child process is started for the test and ends with it"
    )
    config.addinivalue_line(
        "markers", "slow: a file or test of units with seconds of work or of processes"
    )


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out files of slow tests where those are: they and torch are not even imported."""
    if config.option.markexpr != "not slow" or collection_path.suffix != ".py":
        return None
    return SLOW in collection_path.read_text(encoding="utf-8") or None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Have no search for garbage look through modules and collected tests, which takes 0.4 s."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


def pytest_report_header() -> str:
    """Tell what repeats this run's order."""
    return f"order: CTM_TEST_ORDER={ORDER}"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Shuffle modules, and the tests in each: what a module shares is still made once.

    The longest tests come first.
    """

    def draw(name: str) -> float:
        return random.Random(f"{ORDER} {name}").random()  # noqa: S311 - no secret

    items.sort(
        key=lambda item: (
            # With its process begun last, it would keep all others waiting at the end.
            item.get_closest_marker("long") is None,
            draw(item.nodeid.partition("::")[0]),
            draw(item.nodeid),
        )
    )


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail the run on any skip where that was asked for; -ra prints the reasons."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if not FAIL_ON_SKIP or reporter is None:
        return
    if reporter.stats.get("skipped") and session.exitstatus == pytest.ExitCode.OK:
        reporter.write_line("")
        reporter.write_line("CTM_FAIL_ON_SKIP=1: the skipped tests listed below fail this run.")
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
