"""The encoder gives the same results for the tables of every library."""

from __future__ import annotations

import datetime
from collections import ChainMap, OrderedDict, UserDict, defaultdict
from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
import pytest
from hypothesis import given

from onehot_fast import Encoder
from onehot_fast._categories.values import read_column
from onehot_fast.table import read_table
from support.engines import CHOICES, IN_ONE_PROCESS, OPTIONS, PARTS, check_engine
from support.libraries import LIBRARIES
from support.strategies import examples


def test_large_tables_are_decoded_column_by_column(library):
    values = {name: ["a", "b"] * 300_000 for name in ("p", "q")}
    encoder = Encoder(["p", "q"]).fit(values)
    decoded = encoder.inverse_transform(encoder.transform(library.table(values)))

    assert list(library.columns(decoded)["q"]) == values["q"]


DECLARED = {"numpy": "category", "pandas": "category"}


def test_declared_categories_keep_their_order(library):
    column = library.coded(["S", None, "L"], ["S", "M", "L"])
    table = library.table({"size": column})

    read = read_column(column).encode()
    assert (read.source, read.ordered) == (DECLARED.get(library.name, "enum"), True)
    assert read.categories.tolist() == ["S", "M", "L"]
    encoder = Encoder(dtype="uint8").fit(table)

    assert list(encoder.get_feature_names_out()) == ["size_S", "size_M", "size_L"]
    assert encoder.transform(table, "numpy").tolist() == [[1, 0, 0], [0, 0, 0], [0, 0, 1]]


def test_null_decodes_as_zero_and_other_numbers_are_rejected(library):
    encoder = Encoder(["c"], dtype="uint8").fit({"c": ["a", "b", "d"]})
    outputs = {"c_a": [None, 0, 1], "c_b": [1, 0, 0], "c_d": [0, 1, None]}
    decoded = encoder.inverse_transform(library.table(outputs))
    assert library.columns(decoded) == {"c": ["b", "d", "a"]}

    outputs["c_a"][1] = 2
    with pytest.raises(ValueError, match="row 1: one feature is 1, and 'c_a' is 2"):
        encoder.inverse_transform(library.table(outputs))


@pytest.mark.parametrize("output", ["numpy", "pandas", "polars", "arrow"])
def test_a_table_of_one_library_becomes_that_of_another(library, output):
    """Features and other columns, with their missing values."""
    other = LIBRARIES[output]()
    source = library.table({"p": ["a", None, "b"], "n": [1.5, None, 2.5]})
    encoder = Encoder(["p"]).fit(source)

    encoded = encoder.transform(source, output)

    outputs = {"p_a": [True, False, False], "p_b": [False, False, True]}
    if output == "numpy":
        expected = [*outputs.values(), [1.5, np.nan, 2.5]]
        np.testing.assert_array_equal(encoded.T, np.array(expected, float))
    else:
        found = other.columns(encoded)
        kept = [None if value != value else value for value in found.pop("n")]  # NaN is missing
        assert (found, kept) == (outputs, [1.5, None, 2.5])


@pytest.mark.parametrize("library", ["pandas", "polars"], indirect=True)
def test_a_series_is_a_table_of_one_column(library):
    """A Series is a table of one column with its name, or with the name `x0` if it has none."""
    column = library.table({"size": ["a"]})["size"]
    unnamed = [column.alias("")] if library.name == "polars" else [column.rename(None)]
    unnamed += [pytest.importorskip("pandas").Index(["a"])] if library.name == "pandas" else []

    assert read_table(column).names == ("size",)
    assert [read_table(one).names for one in unnamed] == [("x0",)] * len(unnamed)


COLUMNS = {"number": [1, 2], "city": ["b", "a"], "size": ["S", "L"]}


@pytest.mark.parametrize(
    ("columns", "names"),
    [
        ("size", ["size_L", "size_S"]),
        (("size", "city"), ["city_a", "city_b", "size_L", "size_S"]),
        (lambda table: ["city"], ["city_a", "city_b"]),
        (lambda table: "number", ["number_1", "number_2"]),
        (lambda table: [], []),
        (None, ["city_a", "city_b", "size_L", "size_S"]),
    ],
    ids=["name", "names", "function", "function of a name", "none", "default"],
)
def test_columns_are_chosen_by_name_names_or_a_function(library, columns, names):
    """A function is called with the table itself."""
    table = library.table(COLUMNS)
    encoder = Encoder(columns).fit(table)

    assert list(encoder.schema.names) == names
    assert list(Encoder(columns).partial_fit(table).schema.names) == names


@pytest.mark.parametrize(
    ("change", "kept"),
    [
        ({"columns": "size"}, False),
        ({"drop": "last"}, True),
        ({"remainder": "drop"}, True),
        ({"categories": {"size": ["S"]}}, False),
    ],
)
def test_parameters_of_a_fitted_encoder_change(library, change, kept):
    """The encoder equals one that was fitted with them, or is no longer fitted."""
    table = library.table(COLUMNS)
    encoder = Encoder(handle_unknown="ignore").fit(table).set_params(**change)

    assert encoder.__sklearn_is_fitted__() == kept
    whole = Encoder(handle_unknown="ignore", **change).fit(table)
    assert (encoder if kept else encoder.fit(table)).to_json() == whole.to_json()


@pytest.mark.parametrize("name", IN_ONE_PROCESS)
@examples(0.5)
@given(train=PARTS, test=PARTS, names=CHOICES, options=OPTIONS)
def test_an_engine_learns_the_same_as_one_process(name, train, test, names, options):
    check_engine(IN_ONE_PROCESS[name](), train, test, names, options)


RECORDS = [
    {"carrier": "UA", "hour": 5, "note": None, "gate": None},
    {"carrier": None, "hour": 6, "note": None, "gate": None},
    {"hour": 7, "carrier": "AA", "gate": "B", "note": None},
    UserDict(carrier="UA", hour=8, note=None, gate=None),
]
OF_RECORDS = {
    "carrier": ["UA", None, "AA", "UA"], "hour": [5, 6, 7, 8], "note": [None] * 4,
    "gate": [None, None, "B", None],
}  # fmt: skip


@pytest.mark.parametrize("columns", [None, ["carrier"], ["hour", "gate"]])
def test_records_are_the_mapping_of_their_columns(columns):
    """The same encoder and the same rows, in every call that takes a table."""
    records, mapping = (
        Encoder(columns, handle_unknown="ignore", remainder="drop").fit(table)
        for table in (RECORDS, OF_RECORDS)
    )

    assert records == mapping
    assert records.to_json() == mapping.to_json()
    assert records.partial_fit(RECORDS) == mapping.partial_fit(OF_RECORDS)
    for form in ("numpy", "codes", "indices"):
        np.testing.assert_array_equal(
            records.transform(RECORDS, form), records.transform(OF_RECORDS, form)
        )
    assert repr(records.check(RECORDS)) == repr(records.check(OF_RECORDS))
    assert records.estimate(RECORDS).bytes == records.estimate(OF_RECORDS).bytes
    encoded = records.transform(OF_RECORDS, "numpy")
    rows = [dict(zip(records.get_feature_names_out(), row, strict=True)) for row in encoded]
    decoded, wanted = records.inverse_transform(rows), records.inverse_transform(encoded)
    assert str(decoded) == str(wanted)


@pytest.mark.parametrize(
    "record",
    [{"c": "UA"}, {"c": "UA", "n": 1.5, "d": datetime.date(2024, 1, 1)}, {"c": "UA", "x": None}],
)
def test_a_mapping_of_scalars_is_one_record(record):
    encoder = Encoder(["c"], remainder="drop").fit({"c": ["UA", "AA"]})

    for table in (record, [record], {"c": np.str_("UA")}):
        assert encoder.transform(table, "numpy").tolist() == [[False, True]]


class Request(Mapping):
    """A mapping that is not a dict."""

    def __init__(self, **values):
        self._values = values

    def __getitem__(self, key):
        return self._values[key]

    def __iter__(self):
        return iter(self._values)

    def __len__(self):
        return len(self._values)


KINDS_OF_RECORDS = {
    "dict": dict,
    "UserDict": UserDict,
    "Mapping": Request,
    "ChainMap": lambda **values: ChainMap({}, values),
    "OrderedDict": OrderedDict,
    "defaultdict": lambda **values: defaultdict(lambda: "UA", values),
    "MappingProxyType": lambda **values: MappingProxyType(values),
}


@pytest.mark.parametrize("kind", KINDS_OF_RECORDS)
def test_a_record_that_lacks_an_encoded_key_is_rejected(kind):
    """Methods that apply an encoder reject a record that lacks a key; `fit` reads it as missing.

    No default of the user's mapping is used, because that would change the mapping.
    """
    make = KINDS_OF_RECORDS[kind]
    records = [make(c="UA", n=1, p="x"), make(n=2, p="y"), make(c="AA", n=3, p="x")]
    encoder = Encoder(["c", "p"], handle_unknown="ignore").fit(records)

    assert encoder == Encoder(["c", "p"], handle_unknown="ignore").fit(
        {"c": ["UA", None, "AA"], "n": [1, 2, 3], "p": ["x", "y", "x"]}
    )
    encoder.partial_fit(records)
    for call in (encoder.transform, encoder.check, encoder.fit_transform):
        with pytest.raises(ValueError, match=r"record 1 lacks the key 'c'; .*'c': None"):
            call(records)
    for output in ("csr", "codes", "implicit"):
        with pytest.raises(ValueError, match="record 1 lacks the key 'c'"):
            encoder.transform(records, output)
    for alone in (records[1], [records[1]], [records[1], make(p="x")]):
        for call in (encoder.transform, encoder.check):
            with pytest.raises(ValueError, match=r"record 0 lacks the key 'c'; .*'c': None"):
                call(alone)
    with pytest.raises(ValueError, match="record 0 lacks the key 'c': did you mean 'C'"):
        encoder.transform([make(C="UA", p="x")])
    assert "c" not in records[1]
    assert encoder.transform([records[0], make(c=None, n=2, p="y")]).tolist() == [
        [0, 1, 1, 1, 0], [0, 0, 2, 0, 1],
    ]  # fmt: skip


def test_a_record_that_lacks_a_number_of_a_matrix_or_a_feature_is_rejected():
    """A column that is not encoded is part of a matrix, but not of the features alone."""
    records = [{"c": "UA", "n": 1}, {"c": "AA"}]
    encoder = Encoder(["c"]).fit({"c": ["UA", "AA"], "n": [1, 2]})

    with pytest.raises(ValueError, match="record 1 lacks the key 'n'"):
        encoder.transform(records)
    features = Encoder(["c"], remainder="drop").fit({"c": ["UA", "AA"]})
    assert features.transform(records).tolist() == [[0, 1], [1, 0]]
    with pytest.raises(ValueError, match="record 0 lacks the key 'c_AA'"):
        features.inverse_transform([{"c_UA": 1}, {"c_UA": 0, "c_AA": 1}])


@pytest.mark.parametrize("rows", [iter, tuple, lambda rows: (row for row in rows)])
def test_records_must_be_a_list(rows):
    with pytest.raises(TypeError, match=r"list\(rows\)"):
        Encoder(["c"]).fit(rows([{"c": "UA"}]))
