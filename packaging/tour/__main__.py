"""``python packaging/tour DIR``: pictures of every view, by this folder's modules."""

import sys

from pictures import main

sys.exit(main())
