"""``python -m amble``: the command line."""

import sys

from amble.cli.main import main

if __name__ == "__main__":  # and not in processes that it starts
    sys.exit(main())
