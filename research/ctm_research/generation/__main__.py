"""Fits the shipped rates of language models.

``python -m ctm_research.generation --data DIR`` writes ``resources/generation/rates.json``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from ctm_research.generation.fit import rows_of
from ctm_research.generation.make import make_backends
from ctm_research.generation.published import read_published
from ctm_research.generation.served import read_served
from ctm_research.generation.several import read_several
from predictor.core.errors import CtmError
from predictor.devices.catalogue import shipped_devices
from predictor.language.rates_file import rates_path, write_rates


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the file; the exit code is that of the error where there is one."""
    parser = argparse.ArgumentParser(
        prog="python -m ctm_research.generation",
        description="Fit the engine of language models to published rates.",
    )
    parser.add_argument("--data", type=Path, required=True, help="folder with one folder a source")
    parser.add_argument("--output", type=Path, default=rates_path(), help="default: %(default)s")
    options = parser.parse_args(arguments)
    try:
        devices = {device.id: device for device in shipped_devices()}
        published = read_published(options.data, devices)
        served, _ = read_served(options.data, devices)
        several = read_several(options.data, devices)
        backends = make_backends(rows_of(published.rates), served, several)
        options.output.parent.mkdir(exist_ok=True)
        write_rates(options.output, backends, "python -m ctm_research.generation --data DIR")
    except CtmError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    sys.stdout.write(f"{len(published.rates)} rates, {len(backends)} backends\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
