"""A writer and a reader of Parquet that handle Boolean columns faster than pyarrow.

This package imports only pyarrow. `docs/performance/files.md` explains the design and the tests.
"""

from onehot_fast.cli.parquet.bits import are_bits, read_bits
from onehot_fast.cli.parquet.footer import Chunk, FooterError, groups_of
from onehot_fast.cli.parquet.writer import CODECS, GroupWriter, footer_in

__all__ = [
    "CODECS",
    "Chunk",
    "FooterError",
    "GroupWriter",
    "are_bits",
    "footer_in",
    "groups_of",
    "read_bits",
]
