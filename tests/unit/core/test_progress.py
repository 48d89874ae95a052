from __future__ import annotations

import threading

import pytest

from predictor.core.errors import CancelledError
from predictor.core.progress import CancelToken, Progress, no_progress


def test_a_token_stops_nothing_until_it_is_cancelled() -> None:
    token = CancelToken()
    token.check()
    assert not token.cancelled


def test_a_cancelled_token_stops_every_check() -> None:
    token = CancelToken()
    token.cancel()
    assert token.cancelled
    for _ in range(2):
        with pytest.raises(CancelledError):
            token.check()


def test_another_thread_sees_the_cancel() -> None:
    token = CancelToken()
    stopped_after: list[int] = []

    def work() -> None:
        steps = 0
        while not token.cancelled:
            steps += 1
        stopped_after.append(steps)

    worker = threading.Thread(target=work)
    worker.start()
    token.cancel()
    worker.join(timeout=30)
    assert len(stopped_after) == 1


def test_progress_may_go_to_nobody() -> None:
    no_progress(Progress(1, 2, "reading"))
