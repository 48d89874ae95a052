"""A block's process that does what the name of its network says, well or badly."""

import json
import os
import signal
import sys
from pathlib import Path


def say(*lines):
    for line in lines:
        sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def send(kind, **payload):
    say(json.dumps({"id": 0, "kind": kind, "payload": payload}))


def result(median_ns):
    samples = [median_ns] * 5
    send("progress", event="samples", samples_ns=samples)
    send("result", samples_ns=samples, median_ns=median_ns, contended=False)


def count(path):
    """Return how many blocks of this network were begun before."""
    marks = path.with_suffix(".blocks")
    before = len(marks.read_text()) if marks.exists() else 0
    marks.write_text("x" * (before + 1))
    return before


job = json.loads(sys.stdin.readline())
network = Path(job["path"])
name = network.stem.partition("_")[0]
block = count(network)
if name == "steady":
    say("a library says something", '{"id": "not a number"}')
    send("progress", event="loaded", seconds=0.1)
    result(1000)
elif name == "process":
    while name == "process":  # the jobs of further networks follow
        result(os.getpid())
        send("progress", event="operators", operators=[["stem", "Conv", 900]])
        name = Path(json.loads(sys.stdin.readline())["path"]).stem.partition("_")[0]
    send("error", failure="missing-operator", reason="there is no Foo")
elif name == "profiled":
    result(1000)
    if job["profile"]:
        (Path(job["profile"]) / "profile.json").write_text("[]")
        send("progress", event="loaded")
        send("progress", event="operators", operators=[["stem", "Conv", 900]])
elif name in ("dying", "stuck"):
    result(1000)
    if name == "dying" and job["profile"]:
        os.kill(os.getpid(), signal.SIGKILL)
    send("progress", event="profiling")
    sys.stdin.read()
elif name == "noisy":
    result(1000 * 2**block)
elif name == "third":
    result([1000, 2000, 2010][block])
elif name == "drifting":
    result(1000 + 100 * block)
elif name == "crashing":
    sys.stderr.write("the reason of the crash\n")
    sys.stderr.flush()
    os.kill(os.getpid(), signal.SIGABRT)
elif name == "killed":
    os.kill(os.getpid(), signal.SIGKILL)
elif name == "rubbish":
    say("{" * 1000, "no json", "\x00\xff")
elif name == "silent":
    sys.exit(0)
elif name == "exiting":
    sys.exit(7)
elif name == "failing":
    send("error", failure="missing-operator", reason="there is no Foo")
elif name == "empty":
    send("result")
elif name == "wordless":
    send("error")
elif name == "hanging":
    send("progress", event="loaded", seconds=0.1)
    sys.stdin.read()
