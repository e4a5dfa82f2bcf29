"""What the project costs: the asv suites (``bench_*.py``) and `benchmarks.compare`."""
