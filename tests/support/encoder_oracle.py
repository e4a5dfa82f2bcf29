"""The encoder, slow and obvious: Python's own values, one row and one output at a time.

Tables are dicts of lists; what is missing is None or NaN. The options are those of one column.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

INFREQUENT, UNKNOWN, MISSING = "(infrequent)", "(unknown)", "(missing)"


@dataclass
class Options:
    categories: list[Any] | None = None
    drop: Any = None
    handle_missing: str = "ignore"
    handle_unknown: str = "error"
    min_frequency: int | float | None = None
    max_categories: int | None = None


def is_missing(value: Any) -> bool:
    return value is None or value != value


def categories_of(values: list[Any], options: Options) -> list[Any]:
    """Return the categories in their order: numbers come before texts."""
    if options.categories is not None:
        return options.categories
    return sorted({v for v in values if not is_missing(v)}, key=lambda v: (isinstance(v, str), v))


def is_infrequent(values: list[Any], options: Options) -> list[bool]:
    categories = categories_of(values, options)
    counts = [sum(value == category for value in values) for category in categories]
    least = options.min_frequency or 0
    if isinstance(least, float):
        least *= len(values)
    rare = [count < least for count in counts]
    limit = options.max_categories
    if limit is not None and rare.count(False) + 1 > limit:
        # The most frequent stay, of equal ones the last; one place is for the infrequent.
        ranking = sorted(range(len(counts)), key=lambda position: (-counts[position], -position))
        rare = [position not in ranking[: limit - 1] for position in range(len(counts))]
    return rare


def columns_of(values: list[Any], options: Options) -> list[tuple[Any, list[Any]]]:
    """Return the columns of the categories before one is dropped: (label, its categories)."""
    categories = categories_of(values, options)
    rare = is_infrequent(values, options)
    columns = [(c, [c]) for c, is_rare in zip(categories, rare, strict=True) if not is_rare]
    grouped = [c for c, is_rare in zip(categories, rare, strict=True) if is_rare]
    return columns + ([(INFREQUENT, grouped)] if grouped else [])


def dropped(values: list[Any], options: Options) -> int | None:
    columns = columns_of(values, options)
    if not columns or options.drop is None:
        return None
    if options.drop == "if_binary":
        return 0 if len(columns) == 2 else None
    if options.drop == "most_frequent":
        counts = [sum(value in group for value in values) for _, group in columns]
        return counts.index(max(counts))
    return {"first": 0, "last": len(columns) - 1}[options.drop]


def labels(values: list[Any], options: Options) -> list[Any]:
    """Return what each output stands for."""
    position = dropped(values, options)
    found = [label for i, (label, _) in enumerate(columns_of(values, options)) if i != position]
    found += [UNKNOWN] if options.handle_unknown == "indicator" else []
    return found + ([MISSING] if options.handle_missing == "indicator" else [])


def names(column: str, values: list[Any], options: Options) -> list[str]:
    return [f"{column}_{label}" for label in labels(values, options)]


def refused_row(rows: list[Any], values: list[Any], options: Options) -> int | None:
    """Return the row that is refused first: what is missing is looked for first."""
    if options.handle_missing == "error" and any(map(is_missing, rows)):
        return [is_missing(value) for value in rows].index(True)
    known = categories_of(values, options)
    unknown = [not is_missing(value) and value not in known for value in rows]
    return unknown.index(True) if options.handle_unknown == "error" and any(unknown) else None


# The values of handle_unknown; "warn" encodes as "ignore".
UNKNOWN_RULES = ("error", "ignore", "indicator", "infrequent")


def meaning(value: Any, values: list[Any], options: Options) -> Any:
    """Return the label whose output is on; None if none is, or "nan" if all are NaN."""
    if is_missing(value):
        return {"indicator": MISSING, "propagate": "nan"}.get(options.handle_missing)
    for label, group in columns_of(values, options):
        if value in group:
            return label
    return {"indicator": UNKNOWN, "infrequent": INFREQUENT}.get(options.handle_unknown)


def encode(rows: list[Any], values: list[Any], options: Options) -> list[list[float]]:
    """Return the encoding of the rows by an encoder that was fitted on the values."""
    outputs = labels(values, options)
    meanings = [meaning(value, values, options) for value in rows]
    return [
        [float("nan") if on == "nan" else float(on is not None and on == o) for o in outputs]
        for on in meanings
    ]
