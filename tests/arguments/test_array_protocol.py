"""Objects with `__array__`, also those whose method lies, raises, or answers in several ways."""

import numpy as np
import pytest

from onehot_fast import Encoder, OneHotMatrix, decode, multi_hot, one_hot


class Lazy:
    """An array without a length, as of libraries that compute when they are asked."""

    def __init__(self, answer):
        self.answer, self.n_calls = answer, 0

    def __array__(self, dtype=None, copy=None):
        self.n_calls += 1
        return self.answer(self.n_calls)


def test_an_array_without_a_length_is_a_column():
    """It is no scalar, so the mapping is no record."""
    column = Lazy(lambda call: np.array(["b", "a", "b"]))
    encoder = Encoder(["c"]).fit({"c": column})

    assert [*encoder.categories["c"]] == ["a", "b"]
    assert encoder.transform({"c": column}, "numpy").tolist() == [[0, 1], [1, 0], [0, 1]]


def fail():
    raise OSError("the disk is gone")


CALLS = [
    lambda value: one_hot(value, 3),
    lambda value: one_hot([0], 2, on_value=value),
    decode,
    lambda value: multi_hot(value, 3),
    lambda value: Encoder(["a"]).fit_transform({"a": value}),
    lambda value: OneHotMatrix.from_codes([value], [3]),
]
LIES = [
    lambda call: [1, 2],
    lambda call: None,
    lambda call: np.arange(call % 7),
    lambda call: np.zeros((1,) * (call % 5), int),
    lambda call: np.array(["a"] * call) if call % 2 else np.arange(call % 3),
    lambda call: np.array([1.5, None], object) if call % 2 else np.zeros(3, "i4,f8"),
    lambda call: fail(),
]


@pytest.mark.parametrize("lie", LIES)
@pytest.mark.parametrize("call", CALLS)
def test_a_method_that_lies_gives_an_error_or_one_answer(call, lie):
    """The result has the rows of an answer, and the method's own error reaches the caller."""
    value = Lazy(lie)
    try:
        result = call(value)
    except (OSError, TypeError, ValueError) as error:
        message = str(error)
    else:
        shapes = [np.shape(lie(k)) for k in range(1, value.n_calls + 1)]
        lengths = {shape[0] if shape else 1 for shape in shapes} | {1}
        message = "" if np.ndim(result) and result.shape[0] not in lengths else "a result"
    is_raised = lie is LIES[-1] and value.n_calls
    assert "the disk is gone" in message if is_raised else message
