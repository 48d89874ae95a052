"""``python -m ctm_gui.report`` writes PDF files for a program that has no Qt."""

import sys

from ctm_gui.report.writer import main

sys.exit(main())
