"""Adapters between onehot_fast and the libraries people already use.

Each package imports the one library it is named after, and only when it is imported itself:
``import onehot_fast.integrations`` costs nothing. Those that the core calls by name fulfil
`onehot_fast.adapter.Integration`.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onehot_fast.adapter import Integration
    from onehot_fast.integrations import arrow, pandas, polars

    # Held by the type checker.
    INTEGRATIONS: tuple[Integration, ...] = (arrow, pandas, polars)
