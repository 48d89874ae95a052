"""Prove that the frozen program works: build it, start it with a model, ask its command line.

    python packaging/smoke.py [--bundle FOLDER]

Builds the folder into a temporary place unless one is given, then runs both of its programs in an
empty folder with an empty home: the command line with every kind of child process, and the window
on a screen of its own (Xvfb) until it has stored its predictions. Exit code 0 when all of it holds.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from contents import ROOT, version
from make_package import BuildError, build_folder, size_mb

SIZE_LIMIT_MB = 295.0
PATIENCE_S = 300.0
SAMPLE = ROOT / "resources" / "samples" / "mobilenetv2-1.0-224.onnx"
DEVICE = "rpi5"
_NEEDED = ("Xvfb", "xdotool")


class SmokeError(Exception):
    """The frozen program does not do what it should."""


class Bench:
    """The frozen program in an empty place of its own.

    Args:
        bundle: the frozen folder.
        place: an empty folder: home, working folder, store and settings are in it.
    """

    def __init__(self, bundle: Path, place: Path) -> None:
        self.bundle, self.place = bundle, place
        self.store = place / "store.sqlite"
        home = place / "home"
        self.cwd = place / "empty"
        for folder in (home, self.cwd):
            folder.mkdir()
        # As a user's shell has it, and nothing by which this checkout or its Python could be found.
        self.environment = {
            "PATH": "/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "HOME": str(home),
            "CTM_STORE": str(self.store),
            "CTM_SETTINGS": str(place / "settings.ini"),
        }

    def ctm(self, *arguments: str) -> str:
        """Run the frozen command line and return what it printed.

        Raises:
            SmokeError: it ended with another code than 0.
        """
        # Through a link, as the Debian package starts it.
        link = self.place / "ctm"
        if not link.is_symlink():
            link.symlink_to(self.bundle / "ctm")
        done = subprocess.run(
            [str(link), *arguments],
            cwd=self.cwd,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        if done.returncode != 0:
            words = " ".join(arguments)
            raise SmokeError(f"ctm {words} ended with {done.returncode}: {done.stderr.strip()}")
        return done.stdout

    def predictions(self) -> int:
        """Return how many predictions the store has."""
        if not self.store.exists():
            return 0
        with closing(sqlite3.connect(self.store, timeout=PATIENCE_S)) as connection:
            try:
                row = connection.execute("SELECT count(*) FROM predictions").fetchone()
            except sqlite3.OperationalError:  # the store is being made
                return 0
        return int(row[0])


def check_size(bench: Bench) -> str:
    """The folder is under the limit."""
    size = size_mb(bench.bundle)
    if size >= SIZE_LIMIT_MB:
        raise SmokeError(f"the folder has {size:.0f} MB, over {SIZE_LIMIT_MB:.0f} MB")
    return f"{size:.1f} MB"


def check_version(bench: Bench) -> str:
    """Both tell the version of the checkout."""
    told = bench.ctm("--version").split()[-1]
    if told != version():
        raise SmokeError(f"it tells version {told}, not {version()}")
    return told


def check_catalogue(bench: Bench) -> str:
    """The shipped devices are found: as many as there are files."""
    found = len(json.loads(bench.ctm("devices", "list", "--json"))["devices"])
    wanted = len(list((ROOT / "resources" / "devices").glob("*.json")))
    if found != wanted:
        raise SmokeError(f"it lists {found} devices of {wanted}")
    return f"{found} devices"


def check_prediction(bench: Bench) -> str:
    """The command line predicts what the checkout does, and stores it."""
    arguments = ["predict", str(SAMPLE), "--device", DEVICE, "--json"]
    frozen = _latencies(bench.ctm(*arguments))
    source = subprocess.run(
        [sys.executable, "-m", "predictor.cli", *arguments],
        cwd=ROOT,
        env={**os.environ, **bench.environment, "CTM_STORE": str(bench.place / "other.sqlite")},
        capture_output=True,
        text=True,
        check=True,
    )
    if not frozen or frozen != _latencies(source.stdout):
        raise SmokeError(f"it predicts {frozen}, the checkout {_latencies(source.stdout)}")
    if bench.predictions() == 0:
        raise SmokeError("the prediction is not in the store")
    return f"{frozen[0]:.3g} ms"


def check_self_test(bench: Bench) -> str:
    """This machine is measured in a child process."""
    device = json.loads(bench.ctm("devices", "detect", "--measure", "--json"))
    measured = [name for name, text in device["sources"].items() if "measured on" in text]
    if not measured:
        raise SmokeError("nothing of this machine was measured")
    return ", ".join(sorted(measured))


def check_probing(bench: Bench) -> str:
    """Networks are built and measured in child processes, and the runner's sources are packed."""
    kit = bench.place / "kit.zip"
    few = ["--device", DEVICE, "--probes", "3"]
    bench.ctm("probe", "kit", *few, "--output", str(kit))
    bench.ctm("probe", "run", "--probes", "3", "--minutes", "1")
    return f"kit of {kit.stat().st_size / 1e6:.0f} MB, this machine measured"


def check_report(bench: Bench) -> str:
    """A report is written as PDF, with the fonts that ship."""
    path = bench.place / "report.pdf"
    bench.ctm("report", str(SAMPLE), "--device", DEVICE, "-o", str(path))
    data = path.read_bytes() if path.exists() else b""
    if not data.startswith(b"%PDF-") or b"%%EOF" not in data[-64:]:
        raise SmokeError(f"the report of {len(data)} bytes is no PDF file")
    # The fonts that ship are in it, not what this system has.
    if b"DejaVuSansCondensed" not in data:
        raise SmokeError("the report has not the fonts that ship")
    return f"{len(data) / 1e3:.0f} kB"


def check_window(bench: Bench) -> str:
    """The window opens a model, predicts and stores, and closes with 0."""
    before = bench.predictions()
    started = time.monotonic()
    with _screen() as display:
        environment = {**bench.environment, "DISPLAY": display, "QT_QPA_PLATFORM": "xcb"}
        log = bench.place / "window.log"
        with log.open("wb") as output:
            window = subprocess.Popen(
                [str(bench.bundle / "ctm-gui"), str(SAMPLE)],
                cwd=bench.cwd,
                env=environment,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        try:
            _wait("the window", lambda: _shown(environment), window)
            shown_s = time.monotonic() - started
            _wait("its predictions", lambda: bench.predictions() > before, window)
            stored_s = time.monotonic() - started
            window.send_signal(signal.SIGINT)
            code = window.wait(PATIENCE_S)
        except SmokeError as error:
            raise SmokeError(f"{error}; it printed: {log.read_text()[-2000:]}") from error
        finally:
            window.kill()
            window.wait()
    if code != 0:
        raise SmokeError(f"the window ended with {code}: {log.read_text()[-2000:]}")
    new = bench.predictions() - before
    return f"shown after {shown_s:.1f} s, {new} predictions stored after {stored_s:.1f} s"


CHECKS: tuple[tuple[str, Callable[[Bench], str]], ...] = (
    ("size", check_size),
    ("version", check_version),
    ("catalogue", check_catalogue),
    ("prediction", check_prediction),
    ("self-test", check_self_test),
    ("probing", check_probing),
    ("report", check_report),
    ("window", check_window),
)


def run(bundle: Path) -> None:
    """Make every check of a frozen folder and print what each found.

    Raises:
        SmokeError: one does not hold.
    """
    with tempfile.TemporaryDirectory(prefix="ctm-smoke-") as place:
        bench = Bench(bundle, Path(place))
        for name, check in CHECKS:
            started = time.monotonic()
            found = check(bench)
            print(f"{name}: {found} ({time.monotonic() - started:.1f} s)", flush=True)


def _latencies(text: str) -> list[float]:
    return [float(row["latency_ms"]) for row in json.loads(text)["predictions"]]


@contextmanager
def _screen() -> Iterator[str]:
    """Start an X server with a free number and yield its display."""
    read_end, write_end = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(write_end), "-screen", "0", "1600x1000x24", "-nolisten", "tcp"],  # noqa: S607
        pass_fds=[write_end],
        stderr=subprocess.DEVNULL,
    )
    os.close(write_end)
    try:
        with os.fdopen(read_end) as pipe:
            number = pipe.readline().strip()
        if not number:
            raise SmokeError("Xvfb did not start")
        yield f":{number}"
    finally:
        server.terminate()
        server.wait()


def _shown(environment: dict[str, str]) -> bool:
    command = ["xdotool", "search", "--onlyvisible", "--name", "^CloserToMe$"]
    return bool(subprocess.run(command, env=environment, capture_output=True, check=False).stdout)


def _wait(what: str, holds: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    """Poll until something holds.

    Raises:
        SmokeError: the process has ended, or it takes too long.
    """
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        if process.poll() is not None:
            raise SmokeError(f"waiting for {what}: the program ended with {process.returncode}")
        if time.monotonic() > deadline:
            raise SmokeError(f"waited {PATIENCE_S:.0f} s in vain for {what}")
        time.sleep(0.1)


def main(arguments: list[str]) -> int:
    """Build where that is needed, check, and say what did not hold."""
    parser = argparse.ArgumentParser(
        prog="smoke.py", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--bundle", type=Path, help="a frozen folder that is there already")
    options = parser.parse_args(arguments)
    missing = [name for name in _NEEDED if shutil.which(name) is None]
    if missing:
        print(f"smoke.py: {' and '.join(missing)} is not installed", file=sys.stderr)
        return 3
    try:
        with tempfile.TemporaryDirectory(prefix="ctm-bundle-") as output:
            started = time.monotonic()
            bundle = options.bundle or build_folder(Path(output))
            if options.bundle is None:
                print(f"build: {time.monotonic() - started:.0f} s", flush=True)
            run(bundle.resolve())
    except BuildError as error:
        print(f"smoke.py: {error}", file=sys.stderr)
        return 3
    except SmokeError as error:
        print(f"smoke.py: {error}", file=sys.stderr)
        return 1
    print("The frozen program works.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
