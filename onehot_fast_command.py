"""The console script ``onehot-fast``, which handles Ctrl-C before it imports the package.

Until the command handles signals itself, Ctrl-C ends the process without the traceback of an
import. This does not help ``python -m onehot_fast.cli``, which imports the package first.
"""

import signal

__all__ = ["main"]

if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # and not ignored, as by nohup
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def main() -> int:
    """Run the command; see `onehot_fast.cli.main`."""
    from onehot_fast.cli import main as run

    return run()
