"""Export a fitted encoder as SQL, so that a database engine encodes its tables without Python.

>>> from onehot_fast import Encoder
>>> from onehot_fast.integrations import sql
>>> encoder = Encoder(["stars"], handle_unknown="ignore", dtype="uint8")
>>> encoder = encoder.fit({"stars": [5, 1, None]})
>>> print(sql.to_sql(encoder, "duckdb", table="reviews"))
SELECT CAST(CASE WHEN "stars" = 1 THEN 1 ELSE 0 END AS UTINYINT) AS "stars_1",
       CAST(CASE WHEN "stars" = 5 THEN 1 ELSE 0 END AS UTINYINT) AS "stars_5"
FROM "reviews"

No additional library is needed. `Encoder.to_sql` is the same function as a method.
"""

from .statements import DIALECTS, to_sql
from .statements import coded_features as coded_features  # for the Spark integration

__all__ = ["DIALECTS", "to_sql"]


def __dir__() -> list[str]:
    """Return the public names."""
    return [*__all__]
