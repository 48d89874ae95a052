"""The rows worker: a child process that predicts one file after the other.

It reads one line with the request of every file, then one a file, and answers in JSON lines:

    in   {"request"}, a pickle in Base64; then {"id", "path", "name"}
    out  {"id", "kind", "payload"}, kind one of progress, result, error; id 0 before any file
"""

from __future__ import annotations

import base64
import json
import pickle
import sys
from collections.abc import Sequence

from predictor.core.errors import CtmError
from predictor.core.libraries import settle_libraries
from predictor.formats.worker import Answers


def main(_: Sequence[str] = ()) -> int:
    """Answer until the standard input ends."""
    answers = Answers()
    settle_libraries()
    # They import NumPy, which reads what is settled.
    from predictor.services.models.ingestion import IngestionWorker  # noqa: PLC0415
    from predictor.services.prediction.engines import open_engine  # noqa: PLC0415
    from predictor.services.rows.request import read, rows_of  # noqa: PLC0415

    with IngestionWorker() as reader:
        line = json.loads(sys.stdin.buffer.readline())
        request = pickle.loads(base64.b64decode(line["request"]))  # noqa: S301  # of the parent
        open_engine(request.engine)
        answers.send(0, "progress", {"message": "ready"})
        for line in map(json.loads, sys.stdin.buffer):
            try:
                rows = rows_of(request, line["name"], read(request, reader, line["path"]))
            except CtmError as error:
                answers.send(line["id"], "error", error.to_dict())
            else:
                payload = {"fingerprints": rows.fingerprints, "text": rows.text.decode()}
                answers.send(line["id"], "result", payload)
    return 0


if __name__ == "__main__":
    sys.exit(main())
