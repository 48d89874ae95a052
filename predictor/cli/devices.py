"""``ctm devices``: the catalogue, one device, a device file, this machine."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from predictor.cli.catalogue import measured_now, open_catalogue, quiet_catalogue
from predictor.cli.console import Console
from predictor.cli.parser import EPILOG, Parser, everywhere, json_option
from predictor.cli.tables import render_table
from predictor.core.errors import CtmError
from predictor.core.metrics import MEASURABLE, METRICS
from predictor.core.records import Device, OperatingPoint
from predictor.core.text import printable
from predictor.core.units import GIB
from predictor.devices.catalogue import THIS_ID, plugin_devices
from predictor.presentation.wording import number, runs_text
from predictor.services.devices import this_machine
from predictor.services.devices.catalogue import load_catalogue
from predictor.services.devices.design import design_facts
from predictor.services.devices.inferred import contradicted_facts, inferred_facts
from predictor.services.devices.products import Product, product_entry
from predictor.services.devices.user_devices import user_devices_of
from predictor.services.loads.boxes import all_boxes, box_entry
from predictor.services.models import inspection
from predictor.services.prediction.defaults import DefaultsOfKind, count_defaults
from predictor.services.prediction.engines import measured_configurations
from predictor.services.signatures.user_signatures import NOTHING_MEASURED, stored_signatures

_T = TypeVar("_T")
_POINT_HEADERS = (
    *("Operating point", "Power W", "CPU MHz", "GPU MHz", "Memory MHz", "Cores", "GPU cores"),
    "Source",
)
_DEFAULT_HEADERS = (
    *("Devices", "Runtime", "Precision", "Threads"),
    *("Number", "Measured", "Few chips"),
)
_PRODUCT_HEADERS = ("Product", "Maker", "Kind", "Year", "Chip", "Devices")
_BOX_HEADERS = ("Box", "Name", "Units", "Shared memory", "GB/s", "Host cores", "W")
_METRICS = ("fp32_tflops", "fp16_tflops", "int8_tops", "dram_bw_gbps", "dram_gb")


def add_devices(parser: Parser) -> None:
    """Add the actions; without one the catalogue is listed."""
    parser.description = "List the catalogue, show or check a device, or describe this machine."
    parser.epilog = EPILOG
    parser.set_defaults(run=_list)
    json_option(parser)
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    shared = everywhere()
    listing = actions.add_parser("list", parents=[shared], help="list the catalogue (default)")
    products = actions.add_parser(
        "products", parents=[shared], help="phones, computers and boards by name, newest first"
    )
    products.add_argument(
        "words", nargs="*", metavar="WORD", help="words of name, model number, maker, kind or chip"
    )
    boxes = actions.add_parser(
        "boxes", parents=[shared], help="boxes of several units, as ctm load takes them"
    )
    show = actions.add_parser("show", parents=[shared], help="one device with its sources")
    show.add_argument("device", metavar="ID")
    check = actions.add_parser("check", parents=[shared], help="check a device file")
    check.add_argument("device", metavar="DEVICE.json")
    defaults = actions.add_parser(
        "defaults", parents=[shared], help="what the shipped devices run by default, and why"
    )
    detect = actions.add_parser("detect", parents=[shared], help="describe this machine")
    detect.add_argument(
        "--measure",
        action="store_true",
        help="also measure the memory bandwidth and the FP32 rate (some seconds)",
    )
    for action, run in (
        (listing, _list),
        (products, _products),
        (boxes, _boxes),
        (show, _show),
        (check, _check),
        (defaults, _defaults),
        (detect, _detect),
    ):
        action.set_defaults(run=run)
        json_option(action)


def _list(options: argparse.Namespace, console: Console) -> int:
    user_devices = _user_records("devices", user_devices_of(options.store), console) or ()
    devices = load_catalogue().with_devices((*user_devices, *plugin_devices())).devices
    # This machine before all others: as the user stored it, else as detected.
    machine = quiet_catalogue(options).find(THIS_ID)
    devices = (machine, *(device for device in devices if device.id != machine.id))
    if options.json:
        measured = _user_records("signatures", partial(stored_signatures, options.store), console)
        signatures = measured or NOTHING_MEASURED
        entries = [
            inspection.device_summary(
                d, has_signature=signatures.has_device(d.id) or bool(measured_configurations(d))
            )
            for d in devices
        ]
        console.document({"devices": entries})
    else:
        console.result(_catalogue_table(devices))
    return 0


def _user_records(kind: str, read: Callable[[], _T], console: Console) -> _T | None:
    """Return the user's own records; None, with a note, where the store cannot be read."""
    try:
        return read()
    except CtmError as error:
        console.note(f"Your own {kind} are left out: {error}")
        return None


def _products(options: argparse.Namespace, console: Console) -> int:
    matches = load_catalogue().products(" ".join(options.words))
    products = [(product, devices) for devices, product in matches if product is not None]
    if options.json:
        console.document({"products": [product_entry(*pair) for pair in products]})
    elif products:
        console.result(render_table(_PRODUCT_HEADERS, [_product_row(*pair) for pair in products]))
    else:
        console.note("No product has all of these words.")
    return 0


def _product_row(product: Product, devices: Sequence[Device]) -> tuple[str, ...]:
    return (
        product.name,
        product.maker,
        product.kind,
        str(product.year),
        f"{product.chip} ({product.region})" if product.region else product.chip,
        ", ".join(device.id for device in devices) or "not in the catalogue",
    )


def _boxes(options: argparse.Namespace, console: Console) -> int:
    entries = [box_entry(box) for box in all_boxes(load_catalogue())]
    if options.json:
        console.document({"boxes": entries})
    else:
        console.result(render_table(_BOX_HEADERS, [*map(_box_row, entries)], "   rrrr"))
    return 0


def _box_row(entry: Mapping[str, Any]) -> tuple[str, ...]:
    units = [
        f"{name} {unit['device']}" + (f" × {unit['count']}" if unit["count"] > 1 else "")
        for name, unit in entry["units"].items()
    ]
    memory, bandwidth = entry["shared_memory_bytes"], entry["shared_bandwidth_bytes_per_s"]
    return (
        entry["id"],
        printable(entry["name"]),
        ", ".join(units),
        number(None if memory is None else memory / GIB) + (" GiB" if memory else ""),
        number(None if bandwidth is None else bandwidth / 1e9),
        number(entry["host_cores"]),
        number(entry["power_w"]),
    )


def _show(options: argparse.Namespace, console: Console) -> int:
    device = open_catalogue(options, console).find(options.device)
    return _print_device(device, options, console)


def _defaults(options: argparse.Namespace, console: Console) -> int:
    counts = count_defaults(load_catalogue().devices)
    if options.json:
        console.document({"defaults": [_default_entry(defaults) for defaults in counts]})
        return 0
    rows = [
        [
            defaults.deployment.title,
            defaults.configuration.runtime,
            defaults.configuration.precision,
            defaults.deployment.threads,
            str(defaults.devices),
            str(defaults.measured),
            str(defaults.few_chips),
        ]
        for defaults in counts
    ]
    reasons = dict.fromkeys(
        (defaults.deployment.title, defaults.deployment.reason) for defaults in counts
    )
    console.result(
        render_table(_DEFAULT_HEADERS, rows, "    rrr")
        + "\n\n"
        + "\n".join(f"{title}: {reason}" for title, reason in reasons)
    )
    return 0


def _default_entry(defaults: DefaultsOfKind) -> dict[str, object]:
    return {
        "kind": defaults.deployment.title,
        "runtime": defaults.configuration.runtime,
        "precision": defaults.configuration.precision,
        "threads": defaults.deployment.threads,
        "devices": defaults.devices,
        "measured": defaults.measured,
        "few_chips": defaults.few_chips,
        "reason": defaults.deployment.reason,
    }


def _check(options: argparse.Namespace, console: Console) -> int:
    device, warnings = inspection.check_device_file(options.device)
    if options.json:
        inferred = inspection.device_document(device).get("inferred", [])
        valid = {"id": device.id, "valid": True, "warnings": list(warnings), "inferred": inferred}
        console.document(valid)
        return 0
    if device.inferences:
        console.note(f"{printable(options.device)}: {inferred_facts(device)}")
    for warning in warnings:
        console.note(f"{printable(options.device)}: {printable(warning)}")
    console.result(
        f"{printable(options.device)}: {printable(device.name)} ({device.id}), "
        f"{len(device.metrics)} metrics: the file is valid."
    )
    return 0


def _detect(options: argparse.Namespace, console: Console) -> int:
    device = this_machine.describe_this_machine()
    if options.measure:
        console.note("Measuring this machine; other programs disturb it.")
        rates = measured_now(this_machine.MachineRates(options.store), console, device)
        device = this_machine.with_measured_rates(device, rates)
    return _print_device(device, options, console)


def _print_device(device: Device, options: argparse.Namespace, console: Console) -> int:
    if options.json:
        # A device file is edited by hand.
        console.document(inspection.device_document(device), indent=2)
    else:
        console.result(_sheet(device))
    return 0


def _catalogue_table(devices: tuple[Device, ...]) -> str:
    labels = {metric.name: f"{metric.label} {metric.unit}" for metric in METRICS}
    headers = ["Id", "Name", "Vendor", "Family", *(labels[name] for name in _METRICS)]
    rows = [
        [
            device.id,
            printable(device.name),
            printable(device.vendor),
            device.family.value,
            *(number(device.metric(name), 6) for name in _METRICS),
        ]
        for device in devices
    ]
    return render_table(headers, rows, "    " + "r" * len(_METRICS))


def _sheet(device: Device) -> str:
    """Return the facts of a device, and its metrics each with its source."""
    facts = [
        ("Name", printable(device.name)),
        ("Id", device.id),
        ("Vendor", printable(device.vendor)),
        ("Family", device.family.value),
        ("System", printable(device.system)),
        *((title, printable(text)) for title, text in design_facts(device)),
        ("Inferred", inferred_facts(device)),
        ("Contradicted", contradicted_facts(device)),
        ("Runs", runs_text(device.configurations)),
        ("Notes", printable(device.notes)),
    ]
    metrics = [
        (m.label, number(value, 6), m.unit, printable(device.sources.get(m.name, "")))
        for m in METRICS
        if (value := device.metric(m.name)) is not None
    ]
    blocks = [
        render_table(("", ""), [fact for fact in facts if fact[1]]).lstrip("\n"),
        render_table(("Metric", "Value", "Unit", "Source"), metrics, " r"),
    ]
    if device.measured:
        blocks.append(
            render_table(("Measured", "Value", "Unit", "Source"), _measured(device), " r")
        )
    if device.operating_points:
        blocks.append(
            render_table(_POINT_HEADERS, [*map(_point, device.operating_points)], " rrrrrr")
        )
    return "\n\n".join(blocks)


def _measured(device: Device) -> list[tuple[str, ...]]:
    return [
        (m.label, number(rate.value, 6), m.unit, printable(rate.source))
        for m in MEASURABLE.values()
        if (rate := device.measured.get(m.name)) is not None
    ]


def _point(point: OperatingPoint) -> tuple[str, ...]:
    clocks = (point.cpu_mhz, point.gpu_mhz, point.memory_mhz)
    values = (point.power_w, *clocks, point.cores, point.gpu_cores)
    return (
        printable(point.name),
        *(number(value, 6) for value in values),
        printable(point.source),
    )
