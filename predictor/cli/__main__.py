"""``python -m predictor.cli`` is ``ctm``."""

import sys

from predictor.cli import main

sys.exit(main())
