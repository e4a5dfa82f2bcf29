"""The metadata of a schema whose columns change."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

__all__ = ["metadata_without"]

PANDAS = b"pandas"


def metadata_without(
    metadata: Mapping[bytes, bytes] | None, changed: Collection[str]
) -> Mapping[bytes, bytes] | None:
    """Return the metadata of a schema, which no longer says how pandas kept the changed columns.

    ``Table.to_pandas`` believes it: it would make the text that a column once was of its outputs.
    """
    if metadata is None or PANDAS not in metadata:
        return metadata
    try:
        noted: dict[str, Any] = json.loads(metadata[PANDAS])
        noted["columns"] = [c for c in noted["columns"] if c["field_name"] not in changed]
        noted["index_columns"] = [
            c for c in noted["index_columns"] if isinstance(c, dict) or c not in changed
        ]
    except (ValueError, KeyError, TypeError):  # not what pyarrow writes, and so not what it reads
        return metadata
    return {**metadata, PANDAS: json.dumps(noted).encode()}
