#!/usr/bin/env python3
"""Set up and start CloserToMe from a checkout, with nothing but Python's standard library.

    python3 run.py [FILES]      open the window on ONNX files; without a file, on a sample
    python3 run.py test         everything that CI runs; what follows goes to pytest
    python3 run.py test --fast          lint, types, import rules and the fast tests of units
    python3 run.py test --research      the same of research/, in place of the product's
    python3 run.py tour DIR     drive the window through its views and save pictures in DIR

The first start makes .venv; later starts find it ready. --install-system-packages lets a start
install Qt's missing system libraries on Debian and Ubuntu; root is asked on a terminal without it.

This file must still parse on Python 3.6, so that an older Python is refused in one sentence.
"""

import argparse
import contextlib
import ctypes
import hashlib
import importlib.util
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

OLDEST = (3, 11)
ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
STAMP = VENV / "closertome-setup.json"
LOCK = ROOT / "packaging" / "lock"
SAMPLES = ROOT / "resources" / "samples"
HOST_FAILED = 3

# What Qt loads, by soname, and the Debian package that has it. Qt's own message names the wrong
# library and ends in an abort, so each is looked up before Qt starts.
QT_LIBRARIES = (
    ("libglib-2.0.so.0", "libglib2.0-0"),
    ("libGL.so.1", "libgl1"),
    ("libEGL.so.1", "libegl1"),
    ("libxkbcommon.so.0", "libxkbcommon0"),
    ("libfontconfig.so.1", "libfontconfig1"),
    ("libdbus-1.so.3", "libdbus-1-3"),
)
X_LIBRARIES = (
    ("libxcb.so.1", "libxcb1"),
    ("libX11-xcb.so.1", "libx11-xcb1"),
    ("libxkbcommon-x11.so.0", "libxkbcommon-x11-0"),
    ("libxcb-cursor.so.0", "libxcb-cursor0"),
    ("libxcb-icccm.so.4", "libxcb-icccm4"),
    ("libxcb-image.so.0", "libxcb-image0"),
    ("libxcb-keysyms.so.1", "libxcb-keysyms1"),
    ("libxcb-randr.so.0", "libxcb-randr0"),
    ("libxcb-render-util.so.0", "libxcb-render-util0"),
    ("libxcb-shape.so.0", "libxcb-shape0"),
    ("libxcb-xkb.so.1", "libxcb-xkb1"),
)
WAYLAND_LIBRARIES = (
    ("libwayland-client.so.0", "libwayland-client0"),
    ("libwayland-cursor.so.0", "libwayland-cursor0"),
)
TEST_PROGRAMS = (
    ("Xvfb", "xvfb"),
    ("xdotool", "xdotool"),
    ("sshd", "openssh-server"),
    ("objdump", "binutils"),
    ("pdftotext", "poppler-utils"),
)
# The tests that want the processors to themselves, by their files because collecting all tests
# takes as long, and then the others, shared out over processes: two more than there are processors,
# because a third of the time a test waits, for a timer or for a program that it has started. The
# larger part comes last, so that its closing line is the last output.
TIMED = ("tests/gui/test_stall.py", "tests/gui/devices/test_this_machine.py")
PROCESSES = str(min(2 + (os.cpu_count() or 1), 8))
SHARED = ("-n", PROCESSES, "--dist", "worksteal")
TEST_PARTS = (
    ("pytest, the tests of timing", (*TIMED, "-m", "timing")),
    ("pytest, all other tests", ("-m", "not timing", *SHARED)),
)
FAST_PARTS = (("pytest, the fast tests", ("tests/unit", "-m", "not slow", *SHARED)),)
RESEARCH_PARTS = (("pytest", ("research/tests", *SHARED)),)
RESEARCH = "research/pyproject.toml"
PROGRAM_FOLDERS = os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin"))
FONT_FOLDERS = ("/usr/share/fonts", "/usr/local/share/fonts", "~/.fonts", "~/.local/share/fonts")
FONT_PACKAGE = "fonts-dejavu-core"


class SetupError(Exception):
    """The host lacks something; the message says what and how to get it."""


def main(arguments):
    """Do what the command line asks and return the exit code."""
    if sys.version_info < OLDEST:
        say(
            "CloserToMe needs Python {}.{} or newer and this is Python {}.{}: install a newer "
            "Python and start run.py with it.".format(*OLDEST, *sys.version_info[:2])
        )
        return HOST_FAILED
    options = parse(arguments)
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    try:
        return options.action(options)
    except SetupError as error:
        say(str(error))
        return HOST_FAILED
    except OSError as error:
        say(f"The set-up failed: {error}.")
        return HOST_FAILED
    except KeyboardInterrupt:
        say("Cancelled.")
        return 130


def parse(arguments):
    """Return the options, with the function that serves them as ``action``."""
    parser = argparse.ArgumentParser(
        prog="run.py",
        description=__doc__.split("This file")[0],
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "words", nargs="*", metavar="FILES", help="ONNX files, or a command: test, tour DIR"
    )
    parser.add_argument(
        "--install-system-packages",
        action="store_true",
        help="install missing system libraries by apt-get",
    )
    parts = parser.add_mutually_exclusive_group()
    parts.add_argument("--research", action="store_true", help="test: the tests of research/")
    parts.add_argument("--fast", action="store_true", help="test: the fast tests of units")
    options, unknown = parser.parse_known_args(arguments)
    command = options.words[0] if options.words else ""
    options.action = {"test": run_tests, "tour": run_tour}.get(command, open_window)
    if options.action is not open_window:
        del options.words[0]
    if options.action is run_tour and len(options.words) != 1:
        parser.error("tour takes one folder: python3 run.py tour DIR")
    options.for_pytest = unknown
    if unknown and options.action is not run_tests:
        parser.error("unknown option " + unknown[0])
    if (options.research or options.fast) and options.action is not run_tests:
        parser.error("--research and --fast go with test")
    return options


def say(text):
    """Tell the user something; stdout belongs to the program that is started."""
    print(text, file=sys.stderr, flush=True)


# --- the three commands ---------------------------------------------------------------------


def open_window(options):
    """Open the window, or print the same comparison as text where there is no display."""
    files = options.words or sample_files()
    prepare_environment(())
    if not has_display_setting():
        return print_comparison(files, "There is no display.")
    require_libraries(options, display_libraries())
    # The window's own question, of standard library only; asked here for the text instead.
    from ctm_gui.display import display_problem  # noqa: PLC0415  # not parsed by an older Python

    problem = display_problem()
    if problem:
        return print_comparison(files, problem)
    return become([venv_program("python"), "-m", "ctm_gui.app", *files])


def print_comparison(files, reason):
    """Print the comparison that the window would show."""
    say(reason + " The window cannot open; this is the same comparison as text.")
    return become([venv_program("python"), "-m", "predictor.cli", "predict", *files])


def sample_files():
    """Return the bundled models, said to the user."""
    files = [str(path) for path in sorted(SAMPLES.glob("*.onnx"))]
    say("No file was given: loading the bundled samples.")
    return files


def run_tour(options):
    """Drive the real window through every view and save pictures."""
    prepare_environment(())
    require_libraries(options, QT_LIBRARIES)
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    tour = ROOT / "packaging" / "tour"
    return become([venv_program("python"), str(tour), options.words[0]])


def run_tests(options):
    """Run every check and then the tests, or those alone that the words and options choose."""
    prepare_environment(("dev", "train"))
    require_libraries(options, QT_LIBRARIES + X_LIBRARIES)
    offer_programs(options)
    # The tests start hundreds of processes: without bytecode each would compile the program anew.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    python = venv_program("python")
    of_mypy, of_imports = [], []
    if options.research:
        of_mypy, of_imports = ["--config-file", RESEARCH], ["--config", RESEARCH]
    checks = (
        ("ruff check", [python, "-m", "ruff", "check", "."]),
        ("ruff format --check", [python, "-m", "ruff", "format", "--check", "."]),
        ("mypy", [python, "-m", "mypy", "-n", "2", *of_mypy]),
        ("lint-imports", [venv_program("lint-imports"), *of_imports]),
    )
    failed = [name for name, command in checks if not passes(name, command)]
    if failed:
        say("Failed so far: {}. The tests follow.".format(", ".join(failed)))
    chosen = [*options.words, *options.for_pytest]
    parts = TEST_PARTS
    if chosen:
        parts = (("pytest", chosen),)
    elif options.research:
        parts = RESEARCH_PARTS
    elif options.fast:
        parts = FAST_PARTS
    failed += [name for name, words in parts if not passes(name, [python, "-m", "pytest", *words])]
    return 1 if failed else 0


def passes(name, command):
    """Run one check in the checkout, announced by its name."""
    say("== " + name)
    return subprocess.call(command, cwd=str(ROOT)) == 0


def become(command):
    """Replace this process by ``command``, so that signals and the exit code are its own."""
    if os.name == "nt":
        return subprocess.call(command)
    sys.stderr.flush()
    return os.execv(command[0], command)  # noqa: S606  # a fixed program of our own environment


# --- the virtual environment ----------------------------------------------------------------


def venv_program(name):
    """Return the path of a program of .venv."""
    if os.name == "nt":
        return str(VENV / "Scripts" / (name + ".exe"))
    return str(VENV / "bin" / name)


def prepare_environment(extras):
    """Make .venv with the package and ``extras``, unless it stands as its stamp says."""
    if not stands_with(extras):
        # Ends what it has started: the next start begins anew.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        with only_set_up():
            set_up(extras)


def stands_with(extras):
    """Whether .venv is set up with ``extras``."""
    stamp = read_stamp()
    is_of_this = all(stamp.get(key) == value for key, value in facts_of_setup().items())
    return is_of_this and set(extras) <= set(stamp["extras"])


@contextlib.contextmanager
def only_set_up():
    """Wait until no other start sets up, and keep others out for the block."""
    with (ROOT / ".venv.lock").open("a") as lock:
        # A program of the set-up that outlives a killed start goes on writing: it has the lock
        # too. Not on Windows, where a lock is of one process: files in use refuse the next start.
        os.set_inheritable(lock.fileno(), True)
        waiting = False
        while not has_locked(lock):
            if not waiting:
                say("Another start is setting up; waiting for it.")
            waiting = True
            time.sleep(0.5)
        yield


def has_locked(lock):
    """Lock an open file until it is closed; False where another process has it."""
    try:
        if os.name == "nt":
            import msvcrt  # noqa: PLC0415  # not on other systems

            msvcrt.locking(lock.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl  # noqa: PLC0415  # not on Windows

            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def set_up(extras):
    """Make .venv, or add to it; nothing where another start has done so meanwhile."""
    stamp = read_stamp()
    wanted = sorted(set(extras) | set(stamp.get("extras", ())))
    facts = facts_of_setup()
    stands = all(stamp.get(key) == value for key, value in facts.items())
    if stands and set(wanted) <= set(stamp["extras"]):
        return
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        STAMP.unlink()  # until pip is done this is an interrupted set-up
    if not stands:
        make_venv()
    install_package(wanted)
    STAMP.write_text(json.dumps(dict(facts, extras=wanted)), encoding="utf-8")
    say("Set-up is done.")


def facts_of_setup():
    """Return what a set-up is made of."""
    return {
        "pyproject": digest(ROOT / "pyproject.toml"),
        "lock": digest(*sorted(LOCK.glob("*.txt"))),
        "python": "{}.{}".format(*sys.version_info[:2]),
        "root": str(ROOT),
    }


def digest(*paths):
    """Return the SHA-256 of files, one after the other."""
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()


def read_stamp():
    """Return what the last complete set-up was made of; empty where there is none."""
    try:
        stamp = json.loads(STAMP.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    is_whole = isinstance(stamp, dict) and isinstance(stamp.get("extras"), list)
    return stamp if is_whole and Path(venv_program("python")).exists() else {}


def make_venv():
    """Make an empty .venv in place of whatever stands there."""
    if importlib.util.find_spec("ensurepip") is None:
        raise SetupError(
            "Python's venv module is not complete on this machine: install the package "
            "python3-venv (on Debian and Ubuntu: apt-get install python3-venv) and start again."
        )
    say(f"First start: setting up in {VENV} (once, some minutes).")
    say("  making a virtual environment")
    if VENV.is_symlink() or VENV.is_file():
        VENV.unlink()
    run_step(
        [sys.executable, "-m", "venv", "--clear", str(VENV)],
        f"The virtual environment {VENV} could not be made: see the message above.",
    )


def install_package(extras):
    """Install what the lock has for ``extras``, then the checkout itself, into .venv."""
    # By the pip of the lock: the one that comes with Python is as old as that Python.
    install_locked(["setup"])
    install_locked(["base", *extras])
    if "train" in extras:
        pip_install([torch_requirement()])
    # All is there now, so nothing may be fetched: not even for a build environment, without hashes.
    what = ".[{}]".format(",".join(extras)) if extras else "."
    pip_install(["--no-index", "--no-build-isolation", "-e", what])


def torch_requirement():
    """Return torch as pyproject.toml pins it; why it is not in the lock: packaging/make_lock.py."""
    import tomllib  # noqa: PLC0415  # new in Python 3.11

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    train = project["optional-dependencies"]["train"]
    return next(line for line in train if line.startswith("torch=="))


def install_locked(names):
    """Install files of the lock; a file with another hash than theirs is refused."""
    files = [word for name in names for word in ("-r", str(LOCK / (name + ".txt")))]
    # Wheels only: a source archive would be built, by what has no hashes.
    pip_install(["--require-hashes", "--only-binary", ":all:", *files])


def pip_install(words):
    """Run pip, telling what it does.

    Raises:
        SetupError: it failed; its last lines have been printed.
    """
    command = [venv_program("python"), "-m", "pip", "install", "--no-input"]
    command += ["--disable-pip-version-check", "--progress-bar", "off", *words]
    run_step(
        command,
        "The dependencies could not be installed: pip's last lines stand above. Check the "
        "network and the free disk space, then start again; the set-up begins anew.",
    )


def run_step(command, failure):
    """Run a program of the set-up, telling what it does; it ends where this start is ended.

    Raises:
        SetupError: it failed; its last lines have been printed.
    """
    process = subprocess.Popen(
        command,
        cwd=str(ROOT),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,  # Ctrl+C is for this process, which says so in its own words
        close_fds=False,  # the lock
    )
    lines = []
    with process:
        try:
            for line in process.stdout:
                lines.append(line.rstrip())
                tell_progress(line.split())
        except BaseException:
            kill_with_children(process)
            raise
    if process.returncode != 0:
        say("\n".join(lines[-20:]))
        raise SetupError(failure)


def kill_with_children(process):
    """End a program that has a session to itself; on Windows it alone."""
    if os.name == "nt":
        process.kill()
        return
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def tell_progress(words):
    """Say in plain words what a line of pip's output means, where it means progress."""
    if words[:1] == ["Collecting"] and len(words) > 1:
        say("  fetching " + words[1])
    elif words[:2] == ["Installing", "collected"]:
        say(f"  installing {len(words) - 3} packages")


# --- system libraries -----------------------------------------------------------------------


def has_display_setting():
    """Whether the environment names a display; Windows and macOS always have one."""
    if not sys.platform.startswith("linux"):
        return True
    if os.environ.get("QT_QPA_PLATFORM", "") in {"offscreen", "minimal"}:
        return False
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def display_libraries():
    """Return the libraries that Qt needs for the display of this environment."""
    return QT_LIBRARIES + (X_LIBRARIES if os.environ.get("DISPLAY") else WAYLAND_LIBRARIES)


def loads(soname):
    """Whether the system's loader finds a library."""
    try:
        ctypes.CDLL(soname)
    except OSError:
        return False
    return True


def has_fonts():
    """Whether a font is installed where fontconfig looks."""
    folders = [Path(folder).expanduser() for folder in FONT_FOLDERS]
    return any(next(folder.rglob("*.[to]tf"), None) for folder in folders if folder.is_dir())


def require_libraries(options, libraries):
    """Install Qt's missing libraries where that is allowed, else say how and stop."""
    if not sys.platform.startswith("linux"):
        return
    missing = [(soname, package) for soname, package in libraries if not loads(soname)]
    if not missing:
        return
    packages = [package for _, package in missing]
    if not has_fonts():
        packages.append(FONT_PACKAGE)
    names = ", ".join(soname for soname, _ in missing)
    say(f"Qt needs system libraries that are not there: {names}.")
    if not may_install(options):
        raise SetupError(how_to_install(packages))
    install_packages(packages)


def offer_programs(options):
    """Install the host programs of the end-to-end tests where allowed, else say what is missing."""
    packages = [
        package
        for program, package in TEST_PROGRAMS
        if not shutil.which(program, path=PROGRAM_FOLDERS)  # sshd is not in every user's PATH
    ]
    if not packages or not sys.platform.startswith("linux"):
        return
    say("Some tests need programs that are not there: {}.".format(", ".join(packages)))
    if may_install(options):
        install_packages(packages)
    else:
        say("Those tests will be skipped. " + how_to_install(packages))


def may_install(options):
    """Whether we may call apt-get: it is there, and the user said so, root on a terminal too."""
    if not shutil.which("apt-get"):
        return False
    if options.install_system_packages:
        return True
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    if not (is_root and sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    sys.stderr.write("Install them by apt-get now? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def how_to_install(packages):
    """Return the exact command, or the list where apt-get is not the tool of this system."""
    if shutil.which("apt-get"):
        return "Install them by: sudo apt-get install -y " + " ".join(packages)
    return "Install what your system calls these Debian packages: " + " ".join(packages)


def install_packages(packages):
    """Install Debian packages, with the lists fetched first where they are missing or stale."""
    prefix = [] if os.geteuid() == 0 else ["sudo"]
    install = [*prefix, "apt-get", "install", "-qy", "--no-install-recommends", *packages]
    say("Installing them: " + " ".join(shlex.quote(word) for word in install))
    os.environ["DEBIAN_FRONTEND"] = "noninteractive"
    if has_package_lists() and subprocess.call(install, stdout=sys.stderr) == 0:
        return
    subprocess.call([*prefix, "apt-get", "update"], stdout=sys.stderr)
    if subprocess.call(install, stdout=sys.stderr) != 0:
        raise SetupError("apt-get failed: see its message above. " + how_to_install(packages))


def has_package_lists():
    """Whether apt-get update was ever run here."""
    return any(Path("/var/lib/apt/lists").glob("*Packages*"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
