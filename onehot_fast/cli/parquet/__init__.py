"""A writer of Parquet that writes Boolean columns 7 to 10 times as fast as pyarrow.

This package imports only pyarrow. `docs/performance/files.md` explains the design and the tests.
"""

from onehot_fast.cli.parquet.footer import Chunk, FooterError, groups_of
from onehot_fast.cli.parquet.writer import CODECS, GroupWriter, footer_in

__all__ = ["CODECS", "Chunk", "FooterError", "GroupWriter", "footer_in", "groups_of"]
