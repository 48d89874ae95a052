"""PyTorch, compiled ahead of time by TorchInductor (AOTInductor): one shared library a network."""

from __future__ import annotations

from typing import Any

from ctm_research.bridge.runtimes import torch_eager
from ctm_research.bridge.runtimes.job import ConversionError, Job, Operators

BOUNDARY = "one call of the compiled library in inference mode"


def convert(job: Job) -> None:
    """Compile the program that runs eagerly."""
    import torch  # noqa: PLC0415

    program = job.folder.with_name("pytorch-fp32") / "model.pt2"
    if not program.exists():
        raise ConversionError("the export, which it starts from, failed")
    torch.set_num_threads(1)
    with torch.no_grad():
        torch._inductor.aoti_compile_and_package(  # noqa: SLF001  # no public name yet
            torch.export.load(program),
            package_path=str(job.folder / "model.pt2"),
            # The loops take the number of threads of the run.
            inductor_configs={"cpp.dynamic_threads": True, "freezing": True},
        )


class Session(torch_eager.Session):
    """A library that TorchInductor has compiled."""

    def _loaded(self, job: Job) -> Any:
        import torch  # noqa: PLC0415

        # torch._inductor.aoti_load_package does the same after importing the compiler for seconds.
        loader = torch._C._aoti.AOTIModelPackageLoader(  # noqa: SLF001
            str(job.folder / "model.pt2"), "model", False, 1, -1
        )
        return lambda *inputs: loader.run(list(inputs))


def operators(job: Job) -> Operators:
    """Refuse: torch's profiler sees the calls of libraries only, not the generated loops."""
    del job
    raise ConversionError("the generated loops are not seen by torch's profiler")
