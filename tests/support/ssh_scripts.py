"""A stand-in for the runner's file: prints the lines that a plan gives and obeys commands."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from predictor.probing.measuring.documents import PLAN_FILE
from predictor.probing.measuring.interface import MeasuringPlan, NetworkFile
from predictor.probing.runner.bundle import RUNNER_FILE

# Each step is a message to print, or {"wait": FILE}: go on when the file is there,
# {"command": NAME}: go on when it was told so, {"exit": CODE}, {"die": true}, {"print": TEXT}.
PROGRAM = """
import json, os, signal, sys, threading, time
told = []
def listen():
    for line in sys.stdin.buffer:
        told.append(json.loads(line)["command"])
        if told[-1] == "stop":
            os._exit(130)
    os._exit(130)
threading.Thread(target=listen, daemon=True).start()
plan = json.load(open(sys.argv[sys.argv.index("--plan") + 1]))
for step in plan["steps"]:
    if "wait" in step:
        while not os.path.exists(step["wait"]):
            time.sleep(0.01)
    elif "command" in step:
        while step["command"] not in told:
            time.sleep(0.01)
    elif "once" in step:
        if not os.path.exists(step["once"]):
            open(step["once"], "w").close()
            os.kill(os.getppid(), signal.SIGKILL)
            os._exit(9)
    elif "exit" in step:
        sys.stderr.write("it hurts\\n")
        sys.stderr.flush()
        os._exit(step["exit"])
    elif "print" in step:
        print(step["print"], flush=True)
    else:
        print(json.dumps(step, separators=(",", ":")), flush=True)
os._exit(0)  # a thread still reads standard input
"""

PLAN_ID = "0123456789abcdef0123456789abcdef"


def plan(*names: str) -> MeasuringPlan:
    """A plan of these networks, a and b where none is named."""
    files = [
        NetworkFile(name=n, path=Path(f"{n}.onnx"), sha256="0" * 64, fingerprint="f" * 64)
        for n in names or ("a", "b")
    ]
    return MeasuringPlan(PLAN_ID, tuple(files))


def message(number: int, kind: str, **payload: Any) -> dict[str, Any]:
    return {"id": number, "kind": kind, "payload": payload}


STARTED = message(0, "progress", event="run", host={"node": "board"})
FINISHED = message(0, "progress", event="finished")


def measured(name: str) -> dict[str, Any]:
    return message(1, "result", event="measured", name=name, median_ms=2.0, verdict="steady")


class Script:
    """The files of a plan whose runner does these steps."""

    def __init__(self, *steps: dict[str, Any], extra: dict[str, bytes] | None = None) -> None:
        self._steps = steps
        self._extra = extra or {}

    def __call__(self, plan: MeasuringPlan) -> Iterator[tuple[str, bytes]]:
        document = {"steps": self._steps, "networks": [network.name for network in plan.networks]}
        yield PLAN_FILE, json.dumps(document).encode()
        yield RUNNER_FILE, PROGRAM.encode()
        yield from self._extra.items()
