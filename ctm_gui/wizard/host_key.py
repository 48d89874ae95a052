"""The question whether a board's host key is trusted; nothing is accepted without an answer."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontDatabase
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLabel, QPushButton, QWidget

from ctm_gui.presenters.probing.run import HostKeyQuestion
from ctm_gui.wizard.parts import column, label
from predictor.core.wording import shown


class HostKeyDialog(QDialog):
    """Asks about one key; closing it is a no.

    Args:
        question: that is answered.
        parent: the wizard.
    """

    def __init__(self, question: HostKeyQuestion, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._question = question
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Unknown host key")
        self.setModal(True)
        host = f"{shown(question.host)}, port {question.port}"
        fingerprint = QLabel(shown(question.fingerprint))
        fingerprint.setTextFormat(Qt.TextFormat.PlainText)
        fingerprint.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        fingerprint.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        fingerprint.setAccessibleName("Fingerprint of the host key")
        self.fingerprint = fingerprint
        self._buttons = QDialogButtonBox()
        role = QDialogButtonBox.ButtonRole
        self.trust_button = QPushButton("&Trust This Key")
        self.trust_button.setAutoDefault(False)
        self.refuse_button = QPushButton("&Do Not Connect")
        self._buttons.addButton(self.trust_button, role.AcceptRole)
        self._buttons.addButton(self.refuse_button, role.RejectRole)
        self.refuse_button.setDefault(True)
        column(
            self,
            label(f"{host} shows a key that is not known.", "heading"),
            label(f"{shown(question.algorithm)} key, fingerprint:"),
            fingerprint,
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
        self.finished.connect(self._answer)
        self.refuse_button.setFocus()

    def _answer(self, result: int) -> None:
        self._question.answer(accepted=result == QDialog.DialogCode.Accepted)
