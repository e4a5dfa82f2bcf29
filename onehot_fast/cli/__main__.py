"""``python -m onehot_fast.cli`` is ``onehot-fast``."""

import sys

from onehot_fast.cli import main

if __name__ == "__main__":
    sys.exit(main())
