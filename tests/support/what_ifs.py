"""What-ifs of all ticked targets at once."""

from __future__ import annotations

from typing import Any

from ctm_gui.targets.what_ifs import WhatIf
from ctm_gui.window.workspace import Workspace


def ask_what_if(workspace: Workspace, **choices: Any) -> None:
    """Predict the ticked targets with another batch, precision or number of threads."""
    selection = workspace.selection
    for device_id in selection.selected_ids:
        selection.set_what_if(selection.catalogue.by_id[device_id], WhatIf(**choices))
