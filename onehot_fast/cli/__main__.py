"""Run ``onehot-fast`` as ``python -m onehot_fast.cli``."""

import sys

from onehot_fast.cli import main

if __name__ == "__main__":
    sys.exit(main())
