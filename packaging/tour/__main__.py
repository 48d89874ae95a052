"""``python packaging/tour DIR``: pictures of every view, by this folder's modules."""

import sys

from predictor.core.libraries import settle_libraries

settle_libraries()

from pictures import main  # noqa: E402  # imports NumPy, which must find them settled

sys.exit(main())
