"""Damaged JSON documents, pickles, skops files, and arrays that lie (`tests/support/damage.py`)."""

from contextlib import suppress

from support.damage import case as case

SECONDS = 60  # of a case, without the import of skops
with suppress(ImportError):
    import skops.io  # noqa: F401
