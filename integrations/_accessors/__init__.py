"""What the accessors ``.onehot`` of pandas, polars and Dask share; no library is imported."""
