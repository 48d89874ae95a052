"""run.py: set-up, missing libraries and displays, without installing anything."""

from __future__ import annotations

import argparse
import importlib.util
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """run.py over an empty checkout in which each step of the set-up is only written down."""
    spec = importlib.util.spec_from_file_location("run", ROOT / "run.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(module, "STAMP", tmp_path / ".venv" / "stamp.json")
    monkeypatch.setattr(module, "LOCK", tmp_path / "lock")
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    (tmp_path / "lock").mkdir()
    (tmp_path / "lock" / "base.txt").write_text("numpy==2.4.6\n")
    module.steps = []

    def make_venv() -> None:
        module.steps.append("venv")
        python = Path(module.venv_program("python"))
        python.parent.mkdir(parents=True, exist_ok=True)
        python.touch()

    monkeypatch.setattr(module, "make_venv", make_venv)
    module.install = module.install_package
    monkeypatch.setattr(
        module, "install_package", lambda extras: module.steps.append(",".join(extras))
    )
    return module


@pytest.fixture
def linux(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A Linux desktop session under X, not as root."""
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(os, "geteuid", lambda: 1000, raising=False)
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.delenv("QT_QPA_PLATFORM", raising=False)
    return monkeypatch


def options(*, install: bool = False) -> argparse.Namespace:
    return argparse.Namespace(install_system_packages=install)


def test_a_second_start_does_no_set_up(run: ModuleType) -> None:
    run.prepare_environment(())
    run.prepare_environment(())

    assert run.steps == ["venv", ""]


def test_tests_add_their_extra_once_and_a_plain_start_keeps_it(run: ModuleType) -> None:
    run.prepare_environment(())
    run.prepare_environment(("dev",))
    run.prepare_environment(())
    run.prepare_environment(("dev",))

    assert run.steps == ["venv", "", "dev"]


@pytest.mark.parametrize("changed", ["pyproject.toml", "lock/base.txt", "lock/dev.txt"])
def test_a_changed_project_file_or_lock_is_set_up_anew_with_the_extras_that_were_there(
    run: ModuleType, changed: str
) -> None:
    run.prepare_environment(("dev",))
    (run.ROOT / changed).write_text("changed\n")
    run.prepare_environment(())

    assert run.steps == ["venv", "dev", "venv", "dev"]


def test_an_interrupted_set_up_is_repeated_whole(
    run: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_: list[str]) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(run, "install_package", interrupted)
        with pytest.raises(KeyboardInterrupt):
            run.prepare_environment(())
    run.prepare_environment(())

    assert run.steps == ["venv", "venv", ""]


def test_a_damaged_stamp_or_a_lost_python_means_a_new_set_up(run: ModuleType) -> None:
    run.prepare_environment(())
    for stamp in ("{", "[]", '{"extras": 3}'):
        run.STAMP.write_text(stamp)
        run.prepare_environment(())
    Path(run.venv_program("python")).unlink()
    run.prepare_environment(())

    assert run.steps == ["venv", ""] * 5


def test_a_second_start_waits_for_the_set_up_of_the_first(
    run: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first = (run.ROOT / ".venv.lock").open("a")
    assert run.has_locked(first)
    monkeypatch.setattr(run.time, "sleep", lambda _: first.close())

    run.prepare_environment(())

    assert "Another start is setting up; waiting for it." in capsys.readouterr().err
    assert run.steps == ["venv", ""]


def test_an_environment_of_another_checkout_is_not_trusted(run: ModuleType) -> None:
    run.prepare_environment(())
    stamp = json.loads(run.STAMP.read_text())
    run.STAMP.write_text(json.dumps({**stamp, "root": "/elsewhere"}))
    run.prepare_environment(())

    assert run.steps == ["venv", ""] * 2


@pytest.mark.parametrize(
    ("extras", "unlocked"),
    [
        ([], ["--no-index --no-build-isolation -e ."]),
        (["dev"], ["--no-index --no-build-isolation -e .[dev]"]),
        (["dev", "train"], ["torch==2.0", "--no-index --no-build-isolation -e .[dev,train]"]),
    ],
)
def test_all_but_torch_is_installed_with_hashes_by_the_pip_of_the_lock(
    run: ModuleType, monkeypatch: pytest.MonkeyPatch, extras: list[str], unlocked: list[str]
) -> None:
    (run.ROOT / "pyproject.toml").write_text(
        "[project.optional-dependencies]\ntrain = ['onnxscript', 'torch==2.0']\n"
    )
    started: list[str] = []
    monkeypatch.setattr(run, "pip_install", lambda words: started.append(" ".join(words)))

    run.install(extras)

    files = [f"-r {run.LOCK / name}.txt" for name in ("setup", "base", *extras)]
    hashed = "--require-hashes --only-binary :all:"
    assert started == [f"{hashed} {files[0]}", f"{hashed} {' '.join(files[1:])}", *unlocked]


def test_what_pip_refuses_ends_the_set_up_with_its_last_lines(
    run: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(run, "venv_program", lambda _: sys.executable)
    wheel = run.ROOT / "numpy-2.4.6-py3-none-any.whl"
    wheel.write_bytes(b"not what was locked")
    (run.LOCK / "base.txt").write_text(f"numpy @ {wheel.as_uri()} --hash=sha256:{'0' * 64}\n")

    with pytest.raises(run.SetupError, match="could not be installed"):
        run.install_locked(["base"])

    assert "Expected sha256 0000" in capsys.readouterr().err


def test_a_missing_library_gives_the_exact_command(
    run: ModuleType, linux: pytest.MonkeyPatch
) -> None:
    linux.setattr(run, "loads", lambda soname: soname not in {"libEGL.so.1", "libxcb-cursor.so.0"})
    linux.setattr(run, "has_fonts", lambda: True)
    linux.setattr(run.shutil, "which", lambda name: f"/usr/bin/{name}")

    with pytest.raises(run.SetupError, match=r"sudo apt-get install -y libegl1 libxcb-cursor0$"):
        run.require_libraries(options(), run.display_libraries())


def test_where_there_is_no_font_one_is_asked_for_too(
    run: ModuleType, linux: pytest.MonkeyPatch
) -> None:
    linux.setattr(run, "loads", lambda soname: soname != "libGL.so.1")
    linux.setattr(run, "has_fonts", lambda: False)
    linux.setattr(run.shutil, "which", lambda _: None)

    with pytest.raises(run.SetupError, match=r"Debian packages: libgl1 fonts-dejavu-core$"):
        run.require_libraries(options(), run.QT_LIBRARIES)


@pytest.mark.parametrize(
    ("root", "asked", "answer", "installed"),
    [
        (True, True, "", True),
        (False, True, "", True),
        (True, False, "y\n", True),
        (True, False, "\n", False),
        (True, False, "", False),
        (False, False, "y\n", False),
    ],
)
def test_the_option_or_roots_answer_installs_them(
    run: ModuleType,
    linux: pytest.MonkeyPatch,
    root: bool,
    asked: bool,
    answer: str,
    installed: bool,
) -> None:
    terminal = io.StringIO(answer)
    linux.setattr(terminal, "isatty", lambda: bool(answer))
    linux.setattr(run.sys, "stdin", terminal)
    linux.setattr(run.sys.stderr, "isatty", lambda: True)
    commands: list[list[str]] = []
    linux.setattr(os, "geteuid", lambda: 0 if root else 1000, raising=False)
    linux.setattr(run, "loads", lambda soname: soname != "libGL.so.1")
    linux.setattr(run, "has_fonts", lambda: True)
    linux.setattr(run, "has_package_lists", lambda: False)
    linux.setattr(run.shutil, "which", lambda name: f"/usr/bin/{name}")
    linux.setattr(run.subprocess, "call", lambda command, **_: commands.append(command) or 0)
    linux.setenv("DEBIAN_FRONTEND", "")

    if not installed:
        with pytest.raises(run.SetupError, match="apt-get install -y libgl1"):
            run.require_libraries(options(install=asked), run.QT_LIBRARIES)
        assert not commands
        return
    run.require_libraries(options(install=asked), run.QT_LIBRARIES)

    prefix = [] if root else ["sudo"]
    assert commands == [
        [*prefix, "apt-get", "update"],
        [*prefix, "apt-get", "install", "-qy", "--no-install-recommends", "libgl1"],
    ]


def test_nothing_is_asked_for_where_all_is_there(
    run: ModuleType, linux: pytest.MonkeyPatch
) -> None:
    linux.setattr(run, "loads", lambda _: True)

    run.require_libraries(options(), run.display_libraries())


def test_a_display_is_what_a_person_can_see(run: ModuleType, linux: pytest.MonkeyPatch) -> None:
    assert run.has_display_setting()
    linux.setenv("QT_QPA_PLATFORM", "offscreen")
    assert not run.has_display_setting()
    linux.delenv("QT_QPA_PLATFORM")
    linux.delenv("DISPLAY")
    assert not run.has_display_setting()
    linux.setenv("WAYLAND_DISPLAY", "wayland-0")
    assert run.has_display_setting()
    assert run.display_libraries() == run.QT_LIBRARIES + run.WAYLAND_LIBRARIES


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("Collecting numpy<3,>=2.1 (from closertome==0.1.0)", "  fetching numpy<3,>=2.1\n"),
        ("Installing collected packages: six, numpy, onnx", "  installing 3 packages\n"),
        ("  Downloading numpy.whl (18.0 MB)", ""),
        ("", ""),
    ],
)
def test_progress_is_said_in_plain_words(
    run: ModuleType, capsys: pytest.CaptureFixture[str], line: str, said: str
) -> None:
    run.tell_progress(line.split())

    assert capsys.readouterr().err == said


def test_words_after_test_go_to_pytest(run: ModuleType) -> None:
    parsed = run.parse(["test", "tests/unit", "-k", "name", "--install-system-packages"])

    assert parsed.action is run.run_tests
    assert parsed.install_system_packages
    assert [*parsed.words, *parsed.for_pytest] == ["tests/unit", "-k", "name"]


def commands_of_tests(
    run: ModuleType, monkeypatch: pytest.MonkeyPatch, line: list[str], *, failing: str = ""
) -> tuple[list[str], int]:
    """Return what ``run.py test`` starts, and its exit code if the command ``failing`` fails."""
    started: list[str] = []

    def call(command: list[str], **_: object) -> int:
        started.append(" ".join([Path(command[0]).stem, *command[1:]]))
        return int(started[-1] == failing)

    monkeypatch.setattr(run, "loads", lambda _: True)
    monkeypatch.setattr(run, "TEST_PROGRAMS", ())
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.setattr(run.subprocess, "call", call)
    options = run.parse(["test", *line])
    return started, options.action(options)


TIMED = ["tests/gui/test_stall.py", "tests/gui/devices/test_this_machine.py"]
TIMING = f"python -m pytest {' '.join(TIMED)} -m timing"
SHARED = f"-n {min(2 + (os.cpu_count() or 1), 8)} --dist worksteal"
OTHERS = f"python -m pytest -m not timing {SHARED}"


def test_the_whole_is_all_checks_the_timings_alone_and_the_rest_on_several_processes(
    run: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    started, code = commands_of_tests(run, monkeypatch, [])

    assert started == [
        "python -m ruff check .",
        "python -m ruff format --check .",
        "python -m mypy -n 2",
        "lint-imports",
        TIMING,
        OTHERS,
    ]
    assert code == 0
    assert "PYTHONDONTWRITEBYTECODE" not in os.environ


def test_every_test_of_timing_is_in_the_files_of_its_part() -> None:
    mark = "@pytest.mark." + "timing"
    files = [path for path in (ROOT / "tests").rglob("*.py") if mark in path.read_text("utf-8")]

    assert sorted(path.relative_to(ROOT).as_posix() for path in files) == sorted(TIMED)


def test_fast_is_all_checks_and_the_units_but_the_slow(
    run: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    started, _ = commands_of_tests(run, monkeypatch, ["--fast"])

    assert started[4:] == [f"python -m pytest tests/unit -m not slow {SHARED}"]


@pytest.mark.parametrize("failing", ["python -m mypy -n 2", TIMING, OTHERS])
def test_a_part_that_fails_fails_the_whole_and_the_rest_still_runs(
    run: ModuleType, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    started, code = commands_of_tests(run, monkeypatch, [], failing=failing)

    assert len(started) == 6
    assert code == 1


def test_research_has_checks_and_tests_of_its_project(
    run: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    started, _ = commands_of_tests(run, monkeypatch, ["--research"])

    assert started[2:] == [
        "python -m mypy -n 2 --config-file research/pyproject.toml",
        "lint-imports --config research/pyproject.toml",
        f"python -m pytest research/tests {SHARED}",
    ]


def test_chosen_tests_run_as_they_are_asked_for(
    run: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    started, _ = commands_of_tests(run, monkeypatch, ["tests/gui", "-k", "stall"])

    assert started[4:] == ["python -m pytest tests/gui -k stall"]


@pytest.mark.parametrize(
    "line",
    [
        ["--quick"],
        ["--fast"],
        ["--research"],
        ["test", "--fast", "--research"],
        ["tour"],
        ["tour", "a", "b"],
    ],
)
def test_a_wrong_command_line_is_refused(run: ModuleType, line: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        run.parse(line)

    assert ended.value.code == 2


def test_an_older_python_is_refused_in_one_sentence(
    run: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 9, 1, "final", 0))

    assert run.main([]) == 3
    assert capsys.readouterr().err == (
        "CloserToMe needs Python 3.11 or newer and this is Python 3.9: install a newer Python and "
        "start run.py with it.\n"
    )


def test_a_python_without_its_venv_module_names_the_package(tmp_path: Path) -> None:
    code = (
        "import importlib.util, sys; find = importlib.util.find_spec;"
        "importlib.util.find_spec = lambda n, *a: None if n == 'ensurepip' else find(n, *a);"
        f"sys.path.insert(0, {str(ROOT)!r}); import run; from pathlib import Path;"
        f"run.VENV = Path({str(tmp_path)!r}) / 'v'; run.STAMP = run.VENV / 's';"
        "sys.exit(run.main([]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )

    assert done.returncode == 3
    assert "python3-venv" in done.stderr
    assert "Traceback" not in done.stderr
