"""A writer and a reader of Parquet that handle Boolean columns faster than pyarrow.

This package imports only pyarrow. `docs/performance/files.md` explains the design and the tests.
"""

from onehot_fast.cli.parquet.bits import are_bits, read_bits
from onehot_fast.cli.parquet.footer import (
    Chunk,
    DividedFooter,
    FooterError,
    Part,
    divided,
    groups_of,
)
from onehot_fast.cli.parquet.writer import (
    CODECS,
    GroupWriter,
    as_file,
    footer_in,
    position_of_footer,
)

__all__ = [
    "CODECS",
    "Chunk",
    "DividedFooter",
    "FooterError",
    "GroupWriter",
    "Part",
    "are_bits",
    "as_file",
    "divided",
    "footer_in",
    "groups_of",
    "position_of_footer",
    "read_bits",
]
