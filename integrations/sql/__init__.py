"""A fitted encoder as SQL, for five engines: they encode by themselves, and nothing calls back.

>>> from onehot_fast import Encoder
>>> from onehot_fast.integrations import sql
>>> encoder = Encoder(handle_unknown="ignore", dtype="uint8").fit({"size": ["S", "L", None]})
>>> print(sql.to_sql(encoder, "duckdb", table="shirts"))
SELECT CAST(CASE WHEN "size" = 'L' THEN 1 ELSE 0 END AS UTINYINT) AS "size_L",
       CAST(CASE WHEN "size" = 'S' THEN 1 ELSE 0 END AS UTINYINT) AS "size_S"
FROM "shirts"

No library is needed for it. `Encoder.to_sql` is the same as a method.
"""

from .statements import DIALECTS, to_sql

__all__ = ["DIALECTS", "to_sql"]
