"""Damaged JSON documents, pickles, skops files, and arrays that lie (`tests/support/damage.py`)."""

from damage import case as case

SECONDS = 60  # of a case
