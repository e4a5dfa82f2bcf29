"""Check all files of a folder, and print the verdicts."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import traceback
from collections import Counter
from pathlib import Path

import corpus
from corpus import text, typed
from corpus.values import format_of

FAILED = "different", "crash", "no remedy"


def main() -> int:
    """Check all files; return 1 if a verdict is bad."""
    parser = argparse.ArgumentParser(
        description=corpus.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="", help="check only files whose name contains this")
    arguments = parser.parse_args()
    totals: Counter[str] = Counter()
    for path in sorted(arguments.folder.resolve().iterdir()):
        if arguments.only not in path.name or path.is_dir():
            continue
        module = text if format_of(path).is_text else typed
        with tempfile.TemporaryDirectory() as folder:
            # Conversions write beside the file.
            copy = Path(folder, "in", path.name)
            copy.parent.mkdir()
            shutil.copy(path, copy)
            try:
                verdict, detail = module.check(copy, copy.parent)
            except Exception:
                verdict, detail = "crash", " ".join(traceback.format_exc().split()[-40:])
        totals[verdict] += 1
        if verdict != "equal":
            print(f"{verdict:10}{path.name[-60:]:62}{' '.join(detail.split())[-400:]}", flush=True)
    print(", ".join(f"{n} {verdict}" for verdict, n in sorted(totals.items())))
    return int(any(totals[verdict] for verdict in FAILED))


if __name__ == "__main__":
    sys.exit(main())
