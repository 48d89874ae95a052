"""The dialogs of the wizard: fine-tuning to a signature, trust in a board's host key."""

from __future__ import annotations

from PySide6.QtGui import QFontDatabase
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QProgressBar, QPushButton, QWidget

from ctm_gui.probing.fine_tuning import FineTuning, state_words
from ctm_gui.probing.grids import tuning_grid
from ctm_gui.probing.page_parts import Table, button, column, label, show_words
from ctm_gui.probing.results import Result
from ctm_gui.probing.run import HostKeyQuestion
from ctm_gui.widgets import basic
from ctm_gui.widgets.base_dialog import BaseDialog
from ctm_gui.widgets.basic import STRETCH, hbox
from predictor.presentation.wording import local_time, shown

_SIZE = (560, 480)
_BAR_PX = 10


class FineTuneDialog(BaseDialog):
    """Starts and follows a fine-tuning; closing it cancels the rest and changes nothing.

    Args:
        tuning: the fine-tuning.
        result: with the signature to fine-tune to.
        parent: the wizard.
    """

    def __init__(self, tuning: FineTuning, result: Result, parent: QWidget | None = None) -> None:
        super().__init__("Fine-Tune to a Signature", parent, _SIZE)
        self._tuning, self._result = tuning, result
        tuning.forget()
        self.table = Table("Networks of the signature")
        self.progress_bar = QProgressBar(textVisible=False)
        self.progress_bar.setMaximumHeight(_BAR_PX)
        self.progress_bar.setAccessibleName("Fits that are done")
        self.state = label(name="What came of it")
        self.start_button = basic.button("&Fine-Tune", act=self._start)
        self.start_button.setDefault(True)
        self.close_button = basic.button("Close", act=self._cancel_or_close)
        self._arrange()
        self.finished.connect(tuning.cancel)
        tuning.changed.connect(self._show)
        self._show()
        self.start_button.setFocus()

    def _arrange(self) -> None:
        made = self._result.signature
        when = "" if made is None else local_time(made.created_ns)
        heading = label(f"Fine-tune to the signature of {when}", "heading")
        explanation = label(
            "FiLM, a scale and a shift of each feature of the network, is fitted to these "
            "networks; then to all but one of them in turn, to see how well each is "
            "predicted from the others. It is kept where the median error gets smaller. "
            "That may take a minute.",
            "muted",
        )
        buttons = hbox(STRETCH, self.start_button, self.close_button)
        column(self, heading, explanation, (self.table, 1), self.progress_bar, self.state, buttons)

    def _start(self) -> None:
        self._tuning.start(self._result)
        self.close_button.setFocus()

    def _cancel_or_close(self) -> None:
        if self._tuning.active:
            self._tuning.cancel()
        else:
            self.accept()

    def _show(self) -> None:
        tuning, progress = self._tuning, self._tuning.progress
        # One fit to all networks, then one for each network left out.
        fits = len(self._result.used) + 1
        self.table.show_grid(tuning_grid(self._result.used, tuning.outcome))
        self.progress_bar.setVisible(tuning.active)
        self.progress_bar.setRange(0, fits)
        self.progress_bar.setValue(0 if progress is None else progress.done)
        show_words(self.state, state_words(tuning), "bad" if tuning.error else "")
        self.start_button.setVisible(tuning.outcome is None)
        self.start_button.setEnabled(not tuning.active)
        self.close_button.setText("Cancel" if tuning.active else "Close")


class HostKeyDialog(BaseDialog):
    """Asks about one key; closing it is a no.

    Args:
        question: that is answered.
        parent: the wizard.
    """

    def __init__(self, question: HostKeyQuestion, parent: QWidget | None = None) -> None:
        super().__init__("Unknown host key", parent)
        self.setModal(True)
        host = f"{shown(question.host)}, port {question.port}"
        self.fingerprint = basic.label(
            shown(question.fingerprint),
            name="Fingerprint of the host key",
            wraps=False,
            selectable=True,
        )
        self.fingerprint.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self._buttons = QDialogButtonBox()
        role = QDialogButtonBox.ButtonRole
        self.trust_button = button("&Trust This Key")
        self.refuse_button = QPushButton("&Do Not Connect")
        self._buttons.addButton(self.trust_button, role.AcceptRole)
        self._buttons.addButton(self.refuse_button, role.RejectRole)
        # Enter refuses: trust must be a deliberate choice.
        self.refuse_button.setDefault(True)
        column(
            self,
            label(f"{host} shows a key that is not known.", "heading"),
            label(f"{shown(question.algorithm)} key, fingerprint:"),
            self.fingerprint,
            label(
                "Compare it with the board's own, which this command shows on the board:\n"
                "ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub",
                "muted",
            ),
            label("If they differ, somebody may be in between: do not connect.", "muted"),
            self._buttons,
        )
        self._buttons.accepted.connect(self.accept)
        self._buttons.rejected.connect(self.reject)
        self.finished.connect(
            lambda result: question.answer(accepted=result == QDialog.DialogCode.Accepted)
        )
        self.refuse_button.setFocus()
