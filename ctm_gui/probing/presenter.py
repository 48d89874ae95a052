"""All that the wizard stands on: one object with its workers, made once a window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from ctm_gui.probing.choice import TargetChoice, Ticked, Way, ticked_targets
from ctm_gui.probing.fine_tuning import FineTuning
from ctm_gui.probing.imports import Imported, ProbeImport
from ctm_gui.probing.load import LoadWatch
from ctm_gui.probing.plan import ProbePlanner
from ctm_gui.probing.run import ProbeRun
from ctm_gui.probing.shelf import Lookup, ProbingStore, SignatureShelf
from ctm_gui.window.workspace import Workspace
from predictor.core.records import Configuration, Device
from predictor.core.stored import StoredSignature
from predictor.devices.catalogue import THIS_MACHINE_ID
from predictor.devices.schema import DeviceFile
from predictor.presentation.wording import configuration_text, shown
from predictor.probing.planning import ProbePlan
from predictor.services.prediction.targets import resolve_targets
from predictor.services.probing.kits import make_kit
from predictor.services.probing.open import Probing
from predictor.services.probing.sessions import ProbeSession
from predictor.services.signatures.checks import is_used


class ProbingPresenter(QObject):
    """Planner, run, import and signatures, over one store.

    ``ticked_changed`` is emitted when ``ticked`` may be another.

    Attributes:
        library: the devices that can be probed: the user's, then the shipped ones.
        models: returns the models of the window, candidates for imported names.
        planner: plans.
        run: measures.
        imports: imports measurements from elsewhere.
        shelf: shows stored sessions and signatures.
        tuning: fine-tunes to a signature.
        watch: looks at the work of other programs while a plan is shown.
        undo_stack: of the window; deleted signatures are on it.

    Args:
        store: the store's file; None for the usual one.
        workspace: of the window: its devices, models and undo.
    """

    ticked_changed = Signal()

    def __init__(self, store: Path | None, workspace: Workspace) -> None:
        super().__init__()
        self._workspace = workspace
        self.library, self.models = workspace.library, workspace.shelf.models
        self.undo_stack = workspace.library_stack
        self._store = ProbingStore(store, self)
        self.planner = ProbePlanner(store, self.models, self)
        self.run = ProbeRun(self._store, self.models, self)
        self.imports = ProbeImport(store, self)
        lookup = Lookup(self._device, self.models)
        self.shelf = SignatureShelf(self._store, workspace.library_stack, lookup, self)
        self.tuning = FineTuning(store, self.shelf, self)
        self.watch = LoadWatch(parent=self)
        for failing in (self.shelf.failed, self.imports.failed):
            failing.connect(workspace.messages.error)
        self.shelf.done.connect(workspace.messages.info)
        self.run.changed.connect(lambda: workspace.machine.set_probing(active=self.run.active))
        self.run.ended.connect(self._tick_session)
        self.imports.imported.connect(self._tick_imported)
        for ticking in (
            workspace.selection.changed,
            workspace.selection.devices_changed,
            workspace.user_measurements.changed,
        ):
            ticking.connect(self.ticked_changed)
        # What is measured, activated or deleted is predicted with at once.
        for changing in (self.run.ended, self.imports.imported, self.shelf.sessions_changed):
            changing.connect(workspace.user_measurements.read)

    def _device(self, device_id: str) -> Device | None:
        return next((e.device for e in self.library.entries if e.device.id == device_id), None)

    @property
    def ticked(self) -> tuple[Ticked, ...]:
        """The ticked targets, as they are compared now."""
        workspace = self._workspace
        targets = resolve_targets(workspace.selection.selected)
        return ticked_targets(targets, workspace.user_measurements.signatures)

    @property
    def is_first_selection(self) -> bool:
        """Whether the ticks are those that the program begins with, not the user's."""
        catalogue = self._workspace.selection.catalogue
        first = {device.id for device in catalogue.cross_section}
        return set(self._workspace.selection.selected_ids) - {catalogue.machine_id} == first

    def user_machine(self) -> Device | None:
        """Return this machine as the user's device; None while it is none."""
        machine = self.library.machine
        return machine.device if machine is not None and machine.stored_id else None

    def start(self, plan: ProbePlan, choice: TargetChoice) -> None:
        """Measure a plan in a new session."""
        self._keep_machine(plan)
        self.run.start(plan, choice)

    def write_kit(self, plan: ProbePlan, path: str) -> None:
        """Write the kit of a plan; the shelf shows its session, waiting for results."""

        def work_done(session: ProbeSession) -> None:
            self._workspace.messages.info(f"Wrote the kit {path}")
            self.shelf.show_session(session.id)

        self._store.run(
            lambda probing: make_kit(probing.sessions, plan, Path(path)),
            on_result=work_done,
            on_error=self.shelf.failed.emit,
        )

    def close(self) -> None:
        """Stop all work; finished measurements are stored."""
        self.run.close()
        self.planner.close()
        self.imports.close()
        self.tuning.close()
        self.watch.close()
        self._store.close()

    def _tick_session(self, session_id: str) -> None:
        """Tick what a session measured, so that the comparison shows it."""

        def tick(ended: tuple[ProbeSession, bool]) -> None:
            session, is_used = ended
            if any(probe.measurement_id for probe in session.probes):
                self._tick(session.device_id, session.configuration, is_used=is_used)
            else:
                self._workspace.messages.info("Probing has ended without a measurement")

        self._store.run(
            partial(_ended, session_id), on_result=tick, on_error=self.shelf.failed.emit
        )

    def _tick_imported(self, imported: Imported) -> None:
        if imported.session_id:
            self._tick_session(imported.session_id)
            return

        def tick(stored: Sequence[StoredSignature]) -> None:
            for signature in stored:
                if signature.signature.id == imported.signature_id:
                    self._tick(signature.signature.device_id, signature.signature.configuration)

        self._store.run(
            lambda probing: probing.signatures.all(),
            on_result=tick,
            on_error=self.shelf.failed.emit,
        )

    def _tick(self, device_id: str, probed: Configuration, *, is_used: bool = True) -> None:
        ticked_as = self._workspace.selection.show_probed(device_id, probed)
        self.library.keep(device_id)
        device = self._device(device_id)
        words = configuration_text(replace(ticked_as, threads=probed.threads))
        name = shown(device.name if device is not None else device_id)
        hidden = device_id in self._workspace.selection.what_ifs
        more = ". A what-if changes that: Reset shows it as probed" if hidden else ""
        failed = "" if is_used else ". It failed its own checks, so predictions do not use it"
        self._workspace.messages.info(
            f"Probing has ended: {name} is ticked with {words}{failed}{more}"
        )

    def _keep_machine(self, plan: ProbePlan) -> None:
        """Make this machine a device of the user's, so that its signature belongs to a target."""
        device = plan.target.device
        if device.id == THIS_MACHINE_ID and self.user_machine() is None:
            self.library.add(DeviceFile(device))


def _ended(session_id: str, probing: Probing) -> tuple[ProbeSession, bool]:
    """Return a session, and whether predictions use a signature of it."""
    used = any(
        is_used(stored, probing.signatures.noted_reason(stored))
        for stored in probing.signatures.all()
        if stored.session_id == session_id
    )
    return probing.sessions.get(session_id), used


def resumed_choice(choice: TargetChoice, way: Way | None) -> TargetChoice:
    """Return the choice of a session that goes on: as begun, with the address that is given now.

    Where nothing was measured yet, as the first page says.
    """
    if way is None or way is choice.way:
        return choice
    return TargetChoice(
        way=way,
        address=choice.address,
        key_file=choice.key_file,
        python=choice.python,
        source=choice.source,
        path=choice.path,
    )
