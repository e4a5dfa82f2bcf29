"""The loops over rows, in Cython and C, and the dispatch from dtypes to them."""
