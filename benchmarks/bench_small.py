"""Small calls, where arguments cost more than the work."""

from __future__ import annotations

from benchmarks.suite import ORDINARY, WARM, make_checked_call, make_work


class Small:
    """Float32 rows of ten classes."""

    params = ([*ORDINARY, *WARM], [1, 32, 1000])
    param_names = ("call", "rows")

    def setup(self, name: str, rows: int) -> None:
        work = make_work("rows", "float32", 10, n_bytes=rows * 40)
        self.call = make_checked_call(name, work, None)

    def time_call(self, *_: object) -> None:
        self.call()
