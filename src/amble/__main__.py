"""``python -m amble``: the command line."""

import sys

from amble.cli import main

sys.exit(main())
