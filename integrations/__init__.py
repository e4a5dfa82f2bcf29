"""Integrations with other libraries; import the one that you need.

- pandas, polars, dask: ``import onehot_fast.integrations.pandas`` adds ``.onehot`` to columns and
  frames
- arrow: ``from onehot_fast.integrations.arrow import one_hot, encode``
- sklearn: ``from onehot_fast.integrations.sklearn import OneHotEncoder``
- torch: ``from onehot_fast.integrations.torch import one_hot``
- spark, onnx, sql, narwhals: use an `Encoder` with these libraries

Each of these packages imports its library. ``import onehot_fast.integrations`` imports no library.
"""

from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from onehot_fast import Column
    from onehot_fast.adapter import Part, Table, Values
    from onehot_fast.integrations.arrow import _read as arrow_in
    from onehot_fast.integrations.arrow import _write as arrow_out
    from onehot_fast.integrations.pandas import _read as pandas_in
    from onehot_fast.integrations.pandas import _write as pandas_out
    from onehot_fast.integrations.polars import _read as polars_in
    from onehot_fast.integrations.polars import _write as polars_out

    # Makes type checkers verify the `Integration` protocol; they see only public names of a module.
    READ_TABLE: tuple[Callable[[Any], Table], ...] = (
        arrow_in.read_table, pandas_in.read_table, polars_in.read_table,
    )  # fmt: skip
    READ_COLUMN: tuple[Callable[[Any], Column | Values], ...] = (
        arrow_in.read_column, pandas_in.read_column, polars_in.read_column,
    )  # fmt: skip
    WRAP: tuple[Callable[[Table, Sequence[Part]], Any], ...] = (
        arrow_out.wrap, pandas_out.wrap, polars_out.wrap,
    )  # fmt: skip


def __dir__() -> list[str]:
    """Return the names of the integrations that are already imported."""
    modules = (name for name, value in globals().items() if isinstance(value, ModuleType))
    return sorted(name for name in modules if not name.startswith("_"))
