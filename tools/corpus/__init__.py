"""Run the command on a folder of files, and compare every cell with other readers.

    python -m corpus FOLDER [--only TEXT]

Each CSV, Parquet and Arrow file is encoded to each format in each layout, and decoded again. For
CSV, Python's `csv` and DuckDB (``all_varchar``) say which cells the file has; for other files,
pyarrow says which types and values, and polars and DuckDB must read the same from input and output.
If the command rejects a file, its remedy is tried. There is a line for each file that is not equal,
and a table of the verdicts at the end:

equal      all kept, encoded and decoded cells are those of the other readers
read       the command reads the file; no other reader agrees on its cells, or nothing is encoded
refused    the command rejects the file; its remedy works, or pyarrow rejects the file, too
no remedy  the command rejects the file, and names no remedy that works
different  a cell, type, name or number of rows differs
crash      a traceback, or an error without a code of its own
"""
