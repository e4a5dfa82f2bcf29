"""What a process pays before the first result."""

from __future__ import annotations


def timeraw_import() -> str:
    """Import the package, and with it NumPy."""
    return "import onehot_fast"


def timeraw_import_numpy() -> str:
    """Import NumPy alone: the difference is the package's own."""
    return "import numpy"


def timeraw_first_call() -> tuple[str, str]:
    """Encode a million indices into memory that the process never had."""
    setup = "import numpy, onehot_fast; indices = numpy.arange(1_000_000) % 10"
    return "onehot_fast.one_hot(indices, 10)", setup


def timeraw_first_touch() -> tuple[str, str]:
    """Touch each page of as much zeroed memory: what the first call is measured by."""
    setup = "import numpy"
    return "numpy.zeros((1_000_000, 10), numpy.float32).reshape(-1)[::1024] = 1", setup
