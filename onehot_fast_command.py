"""Where the console script ``onehot-fast`` begins: before the package, which loads NumPy.

Until the command notes signals itself, Ctrl-C ends the process as it ends any other program, and
not with the traceback of an import. What comes before, while the interpreter starts, is out of the
reach of any package; so is ``python -m onehot_fast.cli``, which imports the package first.
"""

import signal

__all__ = ["main"]

if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # and not ignored, as by nohup
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def main() -> int:
    """Run the command; see `onehot_fast.cli.main`."""
    from onehot_fast.cli import main as run

    return run()
