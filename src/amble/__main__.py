"""``python -m amble``: the command line."""

import sys

from amble.cli.main import main

sys.exit(main())
