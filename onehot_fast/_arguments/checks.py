"""Argument checks that many functions share, with their error messages."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from typing import Any, ParamSpec, TypeVar

import numpy as np

from onehot_fast._arguments.messages import did_you_mean, listed, shown

P = ParamSpec("P")
T = TypeVar("T")

# Option name in other libraries → how a message names the option of this library.
FOREIGN_OPTION_NAMES = {
    "drop_first": "drop='first'",
    "dummy_na": "handle_missing='indicator'",
    "drop_nulls": "handle_missing='ignore' (the default), or 'indicator' for a column of nulls",
    "sparse": "output='csr' of Encoder.transform, or .onehot.to_csr()",
    "sparse_output": "output='csr' of Encoder.transform, or .onehot.to_csr()",
    "separator": "prefix_sep=",
    "cols": "columns=",
    "variables": "columns=",
    "subset": "columns=",
    "top_categories": "max_categories=, which also counts the feature of infrequent categories",
    "dtype": "dtype= of Encoder: Encoder(dtype=...) or encoder.set_params(dtype=...)",
    "dim": "axis=",
    "num_classes": "depth=",
    "depth": "num_classes=",
    "all_off": "default=",
}
# Options of `one_hot` and `decode`, suggested only if the called function accepts them.
TENSOR_OPTIONS = ("depth=", "num_classes=", "axis=", "default=")
# Name of an output in other libraries → the value of `output` in this library.
FOREIGN_OUTPUT_NAMES = {"sparse": "csr", "dense": "numpy", "array": "numpy", "pyarrow": "arrow"}


def check_choice(value: object, name: str, choices: tuple[str, ...]) -> str:
    """Return `value` if it is one of `choices`, or raise an error."""
    if isinstance(value, str) and value in choices:
        return str(value)
    error = ValueError if isinstance(value, str) else TypeError
    form = FOREIGN_OUTPUT_NAMES.get(value) if isinstance(value, str) else None
    hint = f" did you mean {form!r}?" if form in choices else did_you_mean(value, choices)
    given = shown(value) + (hint and f";{hint}")
    raise error(f"{name} must be one of {listed(choices)}, got {given}")


def check_options(options: Iterable[str], accepted: Collection[str] | None) -> None:
    """Raise TypeError if an option is not in `accepted`; if that is None, reject every option."""
    for name in options:
        if accepted is None:
            raise TypeError(
                f"{name}= cannot be combined with an Encoder, which has its own options"
            )
        if name not in accepted:
            here = FOREIGN_OPTION_NAMES.get(name)
            if here and (here not in TENSOR_OPTIONS or here[:-1] in accepted):
                raise TypeError(f"{name!r} is not an option: use {here}")
            hint = did_you_mean(name, accepted)
            raise TypeError(f"{name!r} is not an option:{hint} use one of {listed(accepted)}")


@functools.lru_cache(maxsize=64)
def keywords(function: Callable[..., Any]) -> tuple[str, ...]:
    """Return the names of the keyword-only parameters of a function."""
    parameters = inspect.signature(function).parameters.values()
    return tuple(each.name for each in parameters if each.kind is each.KEYWORD_ONLY)


def max_positional(n_arguments: int, hint: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Return a decorator that rejects unknown keywords and too many positional arguments."""

    def decorated(function: Callable[P, T]) -> Callable[P, T]:
        accepted = inspect.signature(function).parameters

        @functools.wraps(function)
        def checked(*args: P.args, **options: P.kwargs) -> T:
            if len(args) > n_arguments:
                raise TypeError(f"unexpected argument {shown(args[n_arguments])}: {hint}")
            if not (options.keys() <= accepted.keys() or "options" in accepted):
                unknown = [name for name in options if name not in accepted]
                check_options(unknown, [*accepted][1:])
            return function(*args, **options)

        return checked

    return decorated


def columns_only(method: Callable[P, T]) -> Callable[P, T]:
    """Decorate a method so that it rejects positional arguments after the columns."""
    return max_positional(2, "pass the columns as one list, columns=['a', 'b']")(method)


def check_text(value: object, name: str) -> str:
    """Return a value that is a str, or raise an error."""
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a str, got {shown(value)}")
    return value


def number_dtype(value: Any, where: str) -> np.dtype[Any]:
    """Return `value` as a Boolean or numeric dtype, or raise an error."""
    dtype: np.dtype[Any] | None = None
    # NumPy would interpret None as float64, and parses some strings as Python.
    with suppress(TypeError, ValueError, SyntaxError):
        dtype = None if value is None else np.dtype(value)
    if dtype is None or (dtype.kind not in "biufc" and dtype.isbuiltin != 2):
        remedy = ""
        if isinstance(value, str) and value.startswith(("bfloat", "float", "int", "uint")):
            remedy = "; `import ml_dtypes` registers bfloat16 and others"
        elif type(value).__module__ == "torch":
            remedy = f": pass {str(value).removeprefix('torch.')!r}"
        raise TypeError(
            f"{where} must be a Boolean, integer, float or complex dtype of NumPy, got"
            f" {shown(value)}{remedy}"
        )
    return dtype
