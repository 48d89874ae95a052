"""What a frozen CloserToMe starts: the command line as ``ctm``, the window by any other name.

It is the writer of PDF files too: the command line knows no Qt and starts itself as that.
"""

import multiprocessing
import sys
from pathlib import Path

# Serves the children of process pools, which end in it; a usual start goes on.
multiprocessing.freeze_support()

if sys.argv[1:2] == ["--report-writer"]:
    from ctm_gui.report.writer import main
elif Path(sys.executable).stem == "ctm":
    from predictor.cli import main
else:
    from ctm_gui.app import main

sys.exit(main())
