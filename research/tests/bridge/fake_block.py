"""A block's process that answers at once, or as the environment says: sleeps or dies."""

import json
import os
import sys
import time
from pathlib import Path

job = json.loads(sys.stdin.readline())
name = Path(job["source"]).parts[-3]
if name == os.environ.get("FAKE_CRASHES"):
    sys.exit("a converter's file was damaged")
time.sleep(float(os.environ.get("FAKE_SECONDS", "0")))
samples = [10_000_000 + 1000 * number for number in range(20)]
payload = {
    "samples_ns": samples,
    "median_ns": samples[10],
    "warm_up": {"seconds": 0.1},
    "load_s": 0.01,
    "started_unix": 1.0,
    "others_cores": 0.02,
    "stolen_cores": 0.0,
    "contended": False,
}
sys.stdout.write(json.dumps({"id": 0, "kind": "result", "payload": payload}) + "\n")
if job["profile"]:
    operators = [["a", "Conv", 7_000_000], ["b", "Conv", 2_000_000], ["c", "Relu", 1_000_000]]
    event = {"event": "operators", "operators": operators}
    sys.stdout.write(json.dumps({"id": 0, "kind": "progress", "payload": event}) + "\n")
