"""Adapters between onehot_fast and the libraries people already use.

Each package imports the one library it is named after, and only when it is imported itself:
``import onehot_fast.integrations`` costs nothing. Those that the core calls by name fulfil
`onehot_fast.adapter.Integration`.
"""

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

    # `Integration`, held by the type checker, which looks at public names of a module only.
    READ_TABLE: tuple[Callable[[Any], Table], ...] = (
        arrow_in.read_table, pandas_in.read_table, polars_in.read_table,
    )  # fmt: skip
    READ_COLUMN: tuple[Callable[[Any], Column | Values], ...] = (
        arrow_in.read_column, pandas_in.read_column, polars_in.read_column,
    )  # fmt: skip
    WRAP: tuple[Callable[[Table, Sequence[Part]], Any], ...] = (
        arrow_out.wrap, pandas_out.wrap, polars_out.wrap,
    )  # fmt: skip
