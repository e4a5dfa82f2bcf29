"""Every dtype of polars: decoded, encoded, or rejected in `fit`."""

import datetime
import json
import pickle
import warnings
from decimal import Decimal

import numpy as np
import pytest

from support.libraries import plain

pl = pytest.importorskip("polars")

from onehot_fast import Encoder  # noqa: E402  after the skip above
from onehot_fast.adapter import Categories  # noqa: E402
from onehot_fast.integrations.polars._dtypes import dtype_name, dtype_of_name  # noqa: E402

NOON = datetime.datetime(2024, 2, 29, 12)
DAY = datetime.timedelta(1)
UTC = NOON.replace(tzinfo=datetime.UTC)
UNITS = ("ms", "us", "ns")
ZONES = ("UTC", "Europe/Paris", "Asia/Kolkata", "Etc/GMT+3", "Africa/Monrovia")
# Classes that no column has.
ABSTRACT = {
    "NumericType", "IntegerType", "SignedIntegerType", "UnsignedIntegerType", "FloatType",
    "TemporalType", "NestedType", "ObjectType", "Unknown",
}  # fmt: skip
NESTED = {
    "List": lambda: pl.List(pl.Int8),
    "Array": lambda: pl.Array(pl.Int8, 1),
    "Struct": lambda: pl.Struct({"a": pl.Int8}),
    "Map": lambda: pl.Map(pl.String, pl.Int8),
}


def integers(bits, sign):
    low = -(2 ** (bits - 1)) if sign else 0
    return [[1, None, 0], [low, low + 2**bits - 1, None], [0, low + 2**bits - 1]]


def samples():
    """Return a dict from the name of each class to pairs of a dtype and values."""
    named = [("shop", "", "UInt32"), ("sh'op\\\n\"é", "n=,)", "UInt8"), ("shop", "n", "UInt16")]
    categoricals = [pl.Categorical()]
    if hasattr(pl, "Categories"):  # polars 1.32
        for name, space, physical in named:
            kind = pl.Categories(name, namespace=space, physical=getattr(pl, physical))
            categoricals.append(pl.Categorical(kind))
        like_random = "58a0970f-3414-44d6-950d-423e3006c00c"  # as of pl.Categories.random()
        categoricals.append(pl.Categorical(pl.Categories(like_random)))
    found = {
        **{f"Int{n}": [(f"Int{n}", v) for v in integers(n, True)] for n in (8, 16, 32, 64, 128)},
        **{f"UInt{n}": [(f"UInt{n}", v) for v in integers(n, False)] for n in (8, 16, 32, 64, 128)},
        **{f"Float{n}": [(f"Float{n}", [1.5, None, 0.5])] for n in (16, 32, 64)},
        "Boolean": [("Boolean", [True, None, False])],
        "String": [("String", ["b", None, "a"]), ("String", [None])],
        "Binary": [("Binary", [b"b", None, b""])],
        "Date": [("Date", [NOON.date(), None])],
        "Time": [("Time", [NOON.time(), None])],
        "Datetime": [
            *((pl.Datetime(unit), [NOON, None]) for unit in UNITS),
            *(
                (pl.Datetime(unit, zone), [UTC, None, UTC + DAY])
                for unit in UNITS
                for zone in ZONES
            ),
        ],
        "Duration": [(pl.Duration(unit), [DAY, None, -DAY]) for unit in UNITS],
        "Decimal": [
            (pl.Decimal(precision, scale), [Decimal(1).scaleb(-scale), None])
            for precision, scale in [(5, 2), (38, 0), (38, 38), (10, 0), (1, 1)]
        ],
        "Enum": [(pl.Enum(["b", "a", "unused"]), ["a", None, "b"]), (pl.Enum([]), [None])],
        "Categorical": [
            (dtype, values) for dtype in categoricals for values in (["b", "a"], [None])
        ],
        "Null": [("Null", [None, None])],
        "Object": [("Object", [v, None]) for v in (1, "a", Decimal(1))],
    }
    if hasattr(pl, "BaseExtension"):
        storages = [(pl.Int8(), [1, None]), (pl.String(), ["a", None]), (pl.Date(), [NOON.date()])]
        found["Extension"] = [
            (pl.Extension("a.'b", storage, metadata), values)
            for storage, values in storages
            for metadata in ("", "{'x'}")
        ]
    return found


def subclasses(kind):
    for child in kind.__subclasses__():
        yield child
        yield from subclasses(child)


def columns():
    for group in samples().values():
        for dtype, values in group:
            kind = getattr(pl, dtype, None) if isinstance(dtype, str) else dtype
            if kind is None:  # a dtype that an older polars lacks
                continue
            if "Extension(" in repr(kind):
                yield pl.Series("c", values, dtype=kind.ext_storage()).ext.to(kind)
            else:
                yield pl.Series("c", values, dtype=kind)


each_column = pytest.mark.parametrize("series", [*columns()], ids=lambda s: repr(s.dtype))


def test_every_class_of_dtypes_has_a_sample():
    defined = {
        kind.__name__
        for kind in subclasses(pl.DataType)
        if kind.__module__.partition(".")[0] == "polars" and kind.__name__ != "BaseExtension"
    }
    assert defined - ABSTRACT - NESTED.keys() <= samples().keys()


@each_column
def test_a_decoded_column_is_the_fitted_one(series):
    """A column of polars is decoded as fitted, whole, one row or none, and by a copied encoder.

    One category is dropped; the copies are by JSON, pickle and merge.
    """
    frame = series.to_frame()
    encoder = Encoder(["c"], handle_missing="indicator", drop="first").fit(frame)
    encoded = encoder.transform(frame)
    text = encoder.to_json()
    copies = [encoder, pickle.loads(pickle.dumps(encoder)), encoder.merge(encoder)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for copy in [*copies, Encoder.from_json(text)]:
            decoded = copy.inverse_transform(encoded)["c"]
            assert (decoded.dtype, decoded.to_list()) == (series.dtype, series.to_list())
        for row in range(-1, len(frame)):
            part = slice(max(row, 0), row + 1)  # no row, or one row
            decoded = encoder.inverse_transform(encoder.transform(frame[part]))["c"]
            assert (decoded.dtype, decoded.to_list()) == (series.dtype, series.to_list()[part])


@each_column
def test_the_name_of_a_dtype_is_read_as_this_dtype(series):
    known = series.dtype.categories.to_list() if isinstance(series.dtype, pl.Enum) else []
    name = dtype_name(series.dtype)
    assert dtype_of_name(name, Categories.of(np.array(known, object))) == series.dtype


@each_column
def test_features_are_those_of_the_values(series):
    """The features of a Series and of a frame of polars are those of their plain values."""
    encoder = Encoder(["c"], handle_missing="indicator").fit(series.to_frame())
    known = encoder.categories["c"].tolist() if isinstance(series.dtype, pl.Enum) else "auto"
    by_values = Encoder(["c"], handle_missing="indicator", categories={"c": known})
    matrix = by_values.fit_transform({"c": series.to_list()}, output="numpy")
    np.testing.assert_array_equal(encoder.transform(series.to_frame(), "numpy"), matrix)
    assert [*encoder.get_feature_names_out()] == [*by_values.get_feature_names_out()]
    alone = series.onehot(handle_missing="indicator")
    assert alone.equals(series.to_frame().onehot(["c"], handle_missing="indicator"))


@pytest.mark.parametrize("name", ["Struct", "Map"])
def test_dtypes_without_labels_are_rejected_in_fit(name):
    if not hasattr(pl, name):
        pytest.skip(f"this polars has no {name}")
    frame = pl.DataFrame({"c": pl.Series([None], dtype=NESTED[name]())})
    with pytest.raises(TypeError, match=rf"column 'c'.*{name}.* cannot be categories"):
        Encoder(["c"]).fit(frame)


@pytest.mark.parametrize(
    ("stored", "dtype"),
    [
        ("Categorical", "Categorical"),
        ("Categorical(ordering='physical')", "Categorical"),
        ("Categorical(ordering='lexical')", "Categorical"),
        ('Categorical(Categories("shop"))', "Categorical"),
        ("Datetime(time_unit='us', time_zone=None)", "Datetime"),
        ("Decimal(precision=7, scale=2)", "Decimal"),
    ],
)
def test_names_of_earlier_releases_mean_what_they_meant(stored, dtype):
    found = dtype_of_name(stored, Categories.of([]))
    assert found.base_type() == getattr(pl, dtype)
    if "shop" in stored and hasattr(pl, "Categories"):
        assert found == pl.Categorical(pl.Categories("shop"))
    elif dtype == "Categorical" and "shop" not in stored:
        # Before named categories, a Categorical had an order.
        is_lexical = "lexical" in stored and not hasattr(pl, "Categories")
        assert found == (pl.Categorical("lexical") if is_lexical else pl.Categorical())


@pytest.mark.parametrize("stored", ["Float8", "DataFrame", "Int8(", "Decimal(x=1)", "pl", ""])
def test_an_unknown_name_gives_the_dtype_of_the_values(stored):
    """E.g. one that a later version of polars will have."""
    frame = pl.DataFrame({"c": pl.Series([1], dtype=pl.Int8)})
    document = json.loads(Encoder(["c"]).fit(frame).to_json())
    document["fitted"]["columns"][0]["types"] = [f"polars:{stored}"]
    encoder = Encoder.from_json(json.dumps(document))
    assert encoder.inverse_transform(encoder.transform(frame))["c"].dtype == pl.Int64


@pytest.mark.parametrize(
    ("dtype", "substitute", "expected"),
    [
        (pl.Int8, 300, pl.Int64),
        (pl.UInt8, -1, pl.Int64),
        (pl.Enum(["a"]), "b", pl.String),
        (pl.Int8, "none", pl.Object),
        (pl.Int8, 3, pl.Int8),
        (pl.String, "none", pl.String),
    ],
)
def test_a_substitute_may_change_the_dtype(dtype, substitute, expected):
    """The column then has the dtype of the values."""
    value = "a" if dtype in (pl.String, pl.Enum(["a"])) else 1
    frame = pl.DataFrame({"c": pl.Series([value, None], dtype=dtype)})
    encoder = Encoder(["c"], handle_missing="indicator").fit(frame)
    decoded = encoder.inverse_transform(encoder.transform(frame), missing=substitute)["c"]
    assert (decoded.dtype, decoded.to_list()) == (expected, [value, substitute])


@pytest.mark.parametrize(
    "values", [[1, 2**100], [-1, 2**64], [0, 2**64 - 1], [2**128 - 1, None], [-1, 2**127], [2**200]]
)
def test_integers_of_any_size_are_decoded(values):
    """Python integers of any size are decoded in polars to the integers that were fitted."""
    encoder = Encoder(["c"], handle_missing="indicator").fit({"c": values})
    features = pl.DataFrame(encoder.transform({"c": values}, "numpy"), [*encoder.features["name"]])
    decoded = encoder.inverse_transform(features)["c"]
    assert decoded.to_list() == values


def test_missing_times_of_objects_are_null():
    """Missing durations among objects are decoded to nulls of polars, without a warning."""
    spans = np.array([np.timedelta64(1, "s"), np.timedelta64(2, "ms"), None], object)
    encoder = Encoder(["c"], handle_missing="indicator").fit({"c": spans})
    features = pl.DataFrame(encoder.transform({"c": spans}, "numpy"), [*encoder.features["name"]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        decoded = encoder.inverse_transform(features)["c"]
    assert plain(decoded.to_list()) == [DAY / 86400, DAY / 86_400_000 * 2, None]


def test_named_categories_of_parts_are_merged():
    """A common dtype of parts with different categories is the global Categorical or String."""
    if not hasattr(pl, "Categories"):
        pytest.skip("came with polars 1.32")
    frames = [
        pl.DataFrame({"c": pl.Series(["a"], dtype=pl.Categorical(pl.Categories(name)))})
        for name in ("one", "one", "two")
    ]
    one, same, other = (Encoder(["c"]).fit(frame) for frame in frames)
    decoded = one.merge(same).inverse_transform(one.transform(frames[0]))["c"]
    assert decoded.dtype == frames[0]["c"].dtype
    decoded = one.merge(other).inverse_transform(one.transform(frames[0]))["c"]
    assert decoded.to_list() == ["a"]
    assert decoded.dtype == pl.String


class TestExportToArrow:
    """Data of polars in the functions for Arrow, in dtypes that its exporter writes wrongly."""

    def test_integers_of_128_bits_are_encoded_and_passed_through(self):
        pytest.importorskip("pyarrow")
        from onehot_fast.integrations.arrow import encode, one_hot

        wide = pl.Series("c", [2**100, None, 1], dtype=pl.Int128)
        frame = pl.DataFrame({"c": wide, "other": wide, "none": [None] * 3})

        encoded = encode(frame, Encoder(["c"]).fit(frame))
        assert encoded.column("c_1").to_pylist() == [False, False, True]
        assert encoded.column("other").to_pylist() == [2**100, None, 1]
        assert encoded.column("none").to_pylist() == [None] * 3
        assert np.asarray(one_hot(wide)).tolist() == [[0, 1], [0, 0], [1, 0]]
        no_values = pl.DataFrame({"c": pl.Series([None], dtype=pl.Int128), "n": [1]})
        kind = encode(no_values, Encoder(["n"]).fit(no_values)).schema.field("c").type
        assert str(kind) == "decimal256(39, 0)"

    @pytest.mark.parametrize("function", ["encode", "one_hot"])
    def test_objects_are_rejected(self, function):
        """An export has their addresses."""
        pytest.importorskip("pyarrow")
        from onehot_fast.integrations import arrow

        frame = pl.DataFrame({"c": pl.Series([1, 2], dtype=pl.Object), "n": [1, 2]})
        encoder = Encoder(["n"]).fit(frame)

        with pytest.raises(TypeError, match=r"'c' has dtype Object.*Encoder\.transform"):
            arrow.encode(frame, encoder) if function == "encode" else arrow.one_hot(frame["c"])

    def test_features_of_a_categorical_do_not_depend_on_other_columns(self):
        pytest.importorskip("pyarrow")
        from onehot_fast.integrations.arrow import one_hot

        others = pl.Series(["zebra", "ape"], dtype=pl.Categorical)
        animals = pl.Series(["ape", "zebra"], dtype=pl.Categorical)
        assert len(others) == 2
        assert np.asarray(one_hot(animals)).tolist() == [[1, 0], [0, 1]]
