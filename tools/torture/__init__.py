"""Fuzzers that run for as long as one lets them: ``cd tools; python -m torture --minutes 10``.

A part is a module with ``case(seed) -> Counter``: one case, made of its seed alone, which counts
what it called and raises AssertionError where something is wrong. Cases run in processes of their
own, so that a crash and a hang are failures like any other, and each is told with the line that
replays it.
"""

import sys
from pathlib import Path

# The oracles and strategies of the tests are modules there.
sys.path.append(str(Path(__file__).parents[2] / "tests" / "support"))
