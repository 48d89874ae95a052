"""The data that ship, and the page of results that is written from them."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from ctm_research.bridge.environment import RESEARCH
from ctm_research.bridge.measure import drift
from ctm_research.bridge.rows import Network, chosen_networks, planned_rows
from ctm_research.bridge.runtimes import MODULES, adapter
from ctm_research.bridge.table import key_of
from predictor.core.errors import HostError, InputError

PAGE = RESEARCH / "docs" / "results" / "bridge.md"
SHIPPED = Path(__file__).with_name("data")
LATENCIES = "latencies.csv.gz"
MACHINE = "machine.json"
_COLUMNS = (
    *("network", "set", "file", "runtime", "precision", "threads", "median_ms", "verdict"),
    *("difference", "minimum_ms", "p10_ms", "p90_ms", "runs", "load_s", "timed_s"),
    *("others_cores", "stolen_cores", "contended", "started_unix"),
    *("operators", "operators_missing", "reason"),
)
_NUMBERS = ("median_ms", "difference", "minimum_ms", "p10_ms", "p90_ms", "timed_s", "others_cores")
_REFERENCE = "onnxruntime"
Entry = dict[str, Any]


def write_shipped(entries: Sequence[Entry], folder: Path) -> None:
    """Write the rows as a table and the machine as a document.

    Raises:
        InputError: no row is there.
        HostError: they cannot be written.
    """
    rows = [entry for entry in entries if "network" in entry]
    machines = [entry for entry in entries if "machine" in entry]
    if not rows or not machines:
        raise InputError("the file of rows", "no row is in it", "run the bridge first")
    networks = {network.name: network for network in chosen_networks()}
    text = io.StringIO()
    writer = csv.DictWriter(text, _COLUMNS, restval="", lineterminator="\n")
    writer.writeheader()
    for entry in sorted(rows, key=key_of):
        network = networks.get(entry["network"])
        if network is not None:
            writer.writerow(_cells(entry, network))
    document = {
        **machines[-1]["machine"],
        "loads_before": [entry["load"] for entry in machines],
        "drift": drift(entries),
        "timed_s": sum(float(entry.get("timed_s", 0)) for entry in entries),
    }
    document["host"] = {k: v for k, v in document["host"].items() if k != "node"}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # No time in it: equal rows give equal bytes.
        (folder / LATENCIES).write_bytes(gzip.compress(text.getvalue().encode(), mtime=0))
        (folder / MACHINE).write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise HostError(str(folder), f"it cannot be written ({error})", "make room") from error


def _cells(entry: Entry, network: Network) -> Entry:
    cells = {name: entry[name] for name in _COLUMNS if entry.get(name) is not None}
    cells |= {"set": network.set, "file": network.file}
    if "operators" in entry:
        cells["operators"] = json.dumps(entry["operators"], separators=(",", ":"))
    for name in _NUMBERS:
        if name in cells:
            cells[name] = f"{cells[name]:.6g}"
    return cells


def read_shipped(folder: Path) -> tuple[list[Entry], Entry]:
    """Return the rows, their numbers as numbers, and the machine's document.

    Raises:
        InputError: a file is missing or damaged.
    """
    try:
        text = gzip.decompress((folder / LATENCIES).read_bytes()).decode()
        rows: list[Entry] = list(csv.DictReader(io.StringIO(text)))
        for row in rows:
            for name in (*_NUMBERS, "threads"):
                row[name] = float(row[name]) if row[name] else None
            row["operators"] = json.loads(row["operators"] or "{}")
        return rows, dict(json.loads((folder / MACHINE).read_bytes()))
    except (OSError, EOFError, ValueError, KeyError) as error:
        raise InputError(str(folder), f"it holds no bridge ({error})", "write it anew") from error


def write_page(shipped: Path, page: Path) -> None:
    """Write the page of the data that ship.

    Raises:
        InputError: they are missing or damaged.
        HostError: the page cannot be written.
    """
    rows, machine = read_shipped(shipped)
    try:
        page.write_text(page_text(rows, machine), encoding="utf-8")
    except OSError as error:
        raise HostError(str(page), f"it cannot be written ({error})", "check the disk") from error


def page_text(rows: Sequence[Entry], machine: Entry) -> str:
    """Return the page."""
    networks = chosen_networks()
    families = {network.name: network.family for network in networks}
    parts = [
        "# The bridge: one set of networks under every runtime\n",
        "Written by `python -m ctm_research.bridge page`; [how](../bridge.md).\n",
        _machine(machine),
        "## Coverage\n",
        _coverage(rows, len(planned_rows(networks))),
        f"## Latency over that of {_REFERENCE}, FP32, one thread\n",
        "Median over the networks of a family; under 1 is faster.\n",
        _ratios(rows, families),
        "## INT8 and a second thread\n",
        "Latency over that of FP32 on one thread, median and range over the networks.\n",
        _changes(rows),
        "## Where the time goes\n",
        "Mean share of the kinds of operators in the profiled pass, as the runtime names them.\n",
        _kinds(rows),
        "## All medians, FP32, one thread, in ms\n",
        _medians(rows, families),
        "## Rows without a number\n",
        _failures(rows),
    ]
    return "\n".join(parts)


def _table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines) + "\n"


def _machine(machine: Entry) -> str:
    host = machine["host"]
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    loads = ", ".join(f"{load:.2f}" for load in machine["loads_before"])
    memory = (host["memory_bytes"] or 0) / 2**30
    return (
        f"Machine: {host['processor']}, {host['processors']} processors, {memory:.0f} GiB, "
        f"{host['system']}. Versions: {versions}. Work of others before each start: {loads} cores. "
        f"Timed: {machine['timed_s'] / 60:.0f} minutes. The sentinel's medians lie "
        f"{machine['drift']:.1%} apart.\n"
    )


def _measured(rows: Iterable[Entry], precision: str, threads: int) -> dict[tuple[str, str], float]:
    """Return the medians by network and runtime."""
    return {
        (row["network"], row["runtime"]): row["median_ms"]
        for row in rows
        if row["median_ms"] and row["precision"] == precision and row["threads"] == threads
    }


def _coverage(rows: Sequence[Entry], planned: int) -> str:
    verdicts = {
        name: Counter(_verdict(r) for r in rows if r["runtime"] == name) for name in MODULES
    }
    spreads = {
        name: [r["difference"] for r in rows if r["runtime"] == name and r["median_ms"]]
        for name in MODULES
    }
    kinds = ("steady", "noisy", "inconclusive", "no number")
    header = ("runtime", *kinds, "blocks differ by, median", "what is timed")
    body = [
        (
            name, *(verdicts[name][kind] for kind in kinds),
            f"{median(spreads[name]):.1%}" if spreads[name] else "", adapter(name).BOUNDARY,
        )
        for name in MODULES
    ]  # fmt: skip
    return f"{len(rows)} of {planned} planned rows.\n\n{_table(header, body)}"


def _verdict(row: Entry) -> str:
    return str(row["verdict"]) if row["verdict"] else "no number"


def _ratios(rows: Sequence[Entry], families: dict[str, str]) -> str:
    times = _measured(rows, "fp32", 1)
    others = [name for name in MODULES if name != _REFERENCE]
    body = []
    for family in [*dict.fromkeys(families.values()), "all"]:
        cells = []
        for runtime in others:
            ratios = [
                time_ms / times[network, _REFERENCE]
                for (network, name), time_ms in times.items()
                if name == runtime
                and (network, _REFERENCE) in times
                and family in {"all", families.get(network)}
            ]
            cells.append(f"{median(ratios):.2f} ({len(ratios)})" if ratios else "")
        body.append((family, *cells))
    return _table(("family (networks)", *others), body)


def _changes(rows: Sequence[Entry]) -> str:
    base = _measured(rows, "fp32", 1)
    changes = {"INT8": _measured(rows, "int8", 1), "2 threads": _measured(rows, "fp32", 2)}
    body = [
        (name, *(_change(base, changed, name) for changed in changes.values())) for name in MODULES
    ]
    return _table(("runtime", *changes), body)


def _change(
    base: dict[tuple[str, str], float], changed: dict[tuple[str, str], float], runtime: str
) -> str:
    ratios = sorted(
        time_ms / base[key] for key, time_ms in changed.items() if key in base and key[1] == runtime
    )
    if not ratios:
        return ""
    return f"{median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f}, {len(ratios)} networks)"


def _kinds(rows: Sequence[Entry]) -> str:
    body = []
    for runtime in MODULES:
        profiles = [
            row["operators"]
            for row in rows
            if row["runtime"] == runtime and row["operators"] and row["precision"] == "fp32"
        ]
        shares: Counter[str] = Counter()
        for profile in profiles:
            total = sum(ms for _, ms in profile.values()) or 1.0
            for kind, (_, ms) in profile.items():
                shares[kind] += ms / total / len(profiles)
        words = ", ".join(f"{kind} {share:.0%}" for kind, share in shares.most_common(5))
        missing = Counter(
            r["operators_missing"]
            for r in rows
            if r["runtime"] == runtime and r["operators_missing"]
        )
        reasons = "; ".join(f"{why}: {count}" for why, count in missing.most_common(3))
        body.append((runtime, len(profiles), words, reasons))
    return _table(("runtime", "profiles", "kinds, mean share", "without a profile"), body)


def _medians(rows: Sequence[Entry], families: dict[str, str]) -> str:
    times = _measured(rows, "fp32", 1)
    body = [
        (network, *(f"{times[network, r]:.4g}" if (network, r) in times else "" for r in MODULES))
        for network in families
    ]
    return _table(("network", *MODULES), body)


def _failures(rows: Sequence[Entry]) -> str:
    body = [
        (r["runtime"], f"{r['network']} {r['precision']} {r['threads']:g}", _one_line(r["reason"]))
        for r in sorted(rows, key=lambda r: (r["runtime"], r["reason"], r["network"]))
        if not r["median_ms"]
    ]
    return _table(("runtime", "row", "reason"), body)


def _one_line(reason: str) -> str:
    words = " ".join((reason or "its blocks differ").replace("|", "/").split())
    return f"{words[:150]}…" if len(words) > 151 else words
