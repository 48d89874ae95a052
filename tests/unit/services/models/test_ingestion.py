"""The parent's side of ingestion: real children, some of which misbehave on purpose."""

import json
import logging
import os
import signal
import sys
import textwrap
import threading
from pathlib import Path

import pytest

from predictor.core.errors import CancelledError, HostError, InputError
from predictor.core.progress import CancelToken
from predictor.services.models.ingestion import IngestionLimits, IngestionWorker

PRELUDE = """
import json, os, sys, time
def say(number, kind, payload):
    print(json.dumps({"id": number, "kind": kind, "payload": payload}), flush=True)
def fail(number, text):
    say(number, "error", {"kind": "input", "subject": "s", "reason": text, "action": "a"})
"""
READY = 'say(0, "progress", {"message": "ready"})\n'


def child(body, ready=True):
    """Command line of a child that runs ``body``."""
    script = PRELUDE + (READY if ready else "") + textwrap.dedent(body)
    return [sys.executable, "-c", script]


# Answers every request with its pid as an error; for a file named "bad" it does ACTION first.
MOODY = """
for line in sys.stdin:
    request = json.loads(line)
    if os.path.basename(request["path"]) == "bad":
        ACTION
    fail(request["id"], str(os.getpid()))
"""


def moody(action):
    return child(MOODY.replace("ACTION", action))


def reason_of(worker, path, **arguments):
    with pytest.raises(InputError) as caught:
        worker.ingest(path, **arguments)
    return caught.value.reason


def test_a_child_serves_many_requests():
    with IngestionWorker(command=moody("pass")) as worker:
        assert reason_of(worker, "one") == reason_of(worker, "two")


def test_the_request_carries_everything():
    command = child(
        """
        for line in sys.stdin:
            fail(json.loads(line)["id"], line.strip())
        """
    )
    with IngestionWorker(command=command) as worker:
        text = reason_of(worker, "a.onnx", bindings={"n": 3}, batch=2, shapes={"x": (1, 2)})
    request = json.loads(text)
    assert request.pop("id") == 1
    assert request == {
        "path": str(Path("a.onnx").absolute()),
        "bindings": {"n": 3},
        "batch": 2,
        "shapes": {"x": [1, 2]},
    }


@pytest.mark.parametrize(
    ("subject", "shown"),
    [('request["path"]', "folder/../a.onnx"), ('"node conv1"', "folder/../a.onnx, node conv1")],
)
def test_an_error_names_the_path_as_it_was_given(subject, shown):
    command = child(
        f"""
        for line in sys.stdin:
            request = json.loads(line)
            say(request["id"], "error",
                {{"kind": "input", "subject": {subject}, "reason": "r", "action": "a"}})
        """
    )
    with IngestionWorker(command=command) as worker, pytest.raises(InputError) as caught:
        worker.ingest("folder/../a.onnx")
    assert caught.value.subject == shown


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")
@pytest.mark.parametrize("name", ["SIGSEGV", "SIGKILL"])
def test_a_crash_names_the_file_and_the_next_request_works(name):
    number = int(signal.Signals[name])
    with IngestionWorker(command=moody(f"os.kill(os.getpid(), {number})")) as worker:
        first = reason_of(worker, "good")
        with pytest.raises(InputError) as caught:
            worker.ingest("folder/bad")
        assert caught.value.subject == "folder/bad"
        assert caught.value.reason == (
            f"reading it crashed the reader (signal {number}, {name}), "
            "which may take 4 GiB of memory"
        )
        assert reason_of(worker, "good") != first


def test_a_defect_of_the_child_is_told_by_its_last_words():
    with IngestionWorker(command=moody("raise ValueError('broken rule')")) as worker:
        assert reason_of(worker, "bad").startswith(
            "reading it crashed the reader (exit code 1: ValueError: broken rule)"
        )
        assert reason_of(worker, "good").isdigit()


def test_a_child_that_hangs_is_stopped_by_the_time_limit():
    limits = IngestionLimits(seconds=0.2)
    with IngestionWorker(limits, moody("time.sleep(1000)")) as worker:
        assert reason_of(worker, "bad") == "reading it took more than the 0.2 s that it may take"


def test_a_child_that_eats_memory_is_stopped_by_the_memory_limit():
    limits = IngestionLimits(memory_bytes=200 * 2**20)
    eat = "hoard = bytearray(b'x') * 300 * 2**20; time.sleep(1000)"
    with IngestionWorker(limits, moody(eat)) as worker:
        assert reason_of(worker, "bad") == (
            "reading it takes more than the 0.195 GiB of memory that it may take"
        )
        assert reason_of(worker, "good").isdigit()


def test_lines_that_are_not_answers_are_logged(caplog):
    caplog.set_level(logging.INFO, "predictor")
    noise = "print('EP Error: none'); print('{\"id\": 1}'); print('{broken'); say(99, 'result', {})"
    with IngestionWorker(command=moody(noise)) as worker:
        assert reason_of(worker, "bad").isdigit()
    assert "a child printed: EP Error: none" in caplog.text
    assert "{broken" in caplog.text


def test_cancel_stops_a_request_and_the_next_one_works():
    cancel = CancelToken()
    timer = threading.Timer(0.1, cancel.cancel)
    with IngestionWorker(command=moody("time.sleep(1000)")) as worker:
        timer.start()
        with pytest.raises(CancelledError):
            worker.ingest("bad", cancel=cancel)
        assert reason_of(worker, "good").isdigit()
    timer.join()


def test_a_cancelled_request_leaves_the_queue():
    cancelled = CancelToken()
    cancelled.cancel()
    worker = IngestionWorker(command=moody("pass"))
    with worker._turn, pytest.raises(CancelledError):  # another thread's request has the turn
        worker.ingest("good", cancel=cancelled)


def test_close_cancels_a_request_that_runs():
    worker = IngestionWorker(command=moody("print('asleep', flush=True); time.sleep(1000)"))
    errors = []

    def ask():
        try:
            worker.ingest("bad")
        except CancelledError as error:
            errors.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    worker.close()
    thread.join(10)
    assert len(errors) == 1


def test_requests_of_many_threads_take_turns():
    answers = []
    with IngestionWorker(command=moody("pass")) as worker:
        threads = [
            threading.Thread(target=lambda: answers.append(reason_of(worker, "x")))
            for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(answers) == 4
    assert len(set(answers)) == 1


def test_a_child_that_cannot_start_is_the_hosts_fault():
    command = child("raise SystemExit('no onnx here')", ready=False)
    with IngestionWorker(command=command) as worker, pytest.raises(HostError) as caught:
        worker.ingest("a.onnx")
    assert caught.value.reason == "it cannot start (exit code 1: no onnx here)"


def test_a_command_that_does_not_exist_is_the_hosts_fault(tmp_path):
    worker = IngestionWorker(command=[str(tmp_path / "missing")])
    with pytest.raises(HostError, match="cannot be started"):
        worker.start()


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")
def test_a_child_that_died_idle_is_replaced():
    with IngestionWorker(command=moody("pass")) as worker:
        pid = int(reason_of(worker, "x"))
        os.kill(pid, signal.SIGKILL)
        worker._child._process.wait()
        assert int(reason_of(worker, "x")) != pid


def test_close_ends_the_child():
    worker = IngestionWorker(command=moody("pass"))
    reason_of(worker, "x")
    process = worker._child._process
    worker.close()
    worker.close()
    assert process.returncode is not None
