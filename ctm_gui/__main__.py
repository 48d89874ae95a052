"""``python -m ctm_gui`` opens the window."""

import sys

from ctm_gui.app import main

sys.exit(main())
