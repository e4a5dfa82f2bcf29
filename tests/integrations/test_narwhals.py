"""Frames of narwhals, which go out as such frames, and expressions of narwhals and polars."""

import numpy as np
import pytest

from support.libraries import plain

nw = pytest.importorskip("narwhals")
pl = pytest.importorskip("polars")

import narwhals.stable.v1 as stable  # noqa: E402  after the skips above

from onehot_fast import Encoder, multi_hot  # noqa: E402

COLUMNS = {"size": ["S", "L", None, "S"], "price": [1.5, 2.0, 3.0, 2.5]}


@pytest.fixture(params=["pandas", "polars", "pyarrow"])
def native(request):
    """Return a table of a library that has an integration."""
    module = pytest.importorskip(request.param)
    return (getattr(module, "DataFrame", None) or module.table)(COLUMNS)


@pytest.fixture(params=[nw, stable], ids=["narwhals", "stable"])
def frame(request, native):
    """Return a frame of a version of the API over the native table."""
    return request.param.from_native(native, eager_only=True)


def as_native(columns):
    """Return the columns of a native table as lists."""
    table = nw.from_native(columns, eager_only=True).to_dict(as_series=False)
    return {name: plain(values) for name, values in table.items()}


@pytest.mark.parametrize("output", [None, "category"])
def test_a_frame_equals_its_native_table(frame, native, output):
    """Encoded and decoded, in every form."""
    encoder = Encoder(["size"], handle_missing="indicator").fit(frame)
    assert encoder.to_json() == Encoder(["size"], handle_missing="indicator").fit(native).to_json()

    encoded, expected = (encoder.transform(table, output) for table in (frame, native))
    decoded = encoder.inverse_transform(encoded)

    for found, table in ((encoded, expected), (decoded, COLUMNS)):
        assert type(found) is type(frame)
        assert type(found.to_native()) is type(native)
        assert as_native(found) == (table if table is COLUMNS else as_native(table))
    assert type(encoder.transform(frame, "polars")).__module__.startswith("polars")
    assert encoder.transform(frame, "csr").shape == (4, 4)
    codes = encoder.transform(frame, "codes")
    np.testing.assert_array_equal(codes, encoder.transform(native, "codes"))
    assert Encoder().fit(frame["size"]).get_feature_names_out().tolist() == ["size_L", "size_S"]


def test_inverse_transform_restores_the_type_of_polars():
    frame = nw.from_native(pl.DataFrame({"c": pl.Series(["b", "a"], dtype=pl.Enum(["b", "a"]))}))
    encoder = Encoder().fit(frame)

    decoded = encoder.inverse_transform(encoder.transform(frame))

    assert decoded.to_native().equals(frame.to_native())
    assert decoded.to_native().schema == frame.to_native().schema


def test_rows_of_labels_come_as_a_series():
    rows = nw.from_native(pl.Series([["a"], ["b", "a"]]), series_only=True)

    matrix = multi_hot(rows, categories=["a", "b"], dtype="uint8")

    assert matrix.tolist() == [[1, 0], [1, 1]]


def test_a_lazy_frame_is_sent_to_its_expressions():
    frame = nw.from_native(pl.LazyFrame({"size": ["S"]}))

    with pytest.raises(TypeError, match=r"no rows: pass frame\.collect\(\), or .*expressions"):
        Encoder(["size"]).fit(frame)


@pytest.mark.parametrize("library", ["pandas", "pyarrow", "duckdb"])
def test_the_two_zeros_are_one_value(library):
    other = pytest.importorskip(library)
    frame = pl.DataFrame({"x": [-0.0, 0.0, 1.5, 7.0, None]})
    options = {"min_frequency": 2, "handle_unknown": "indicator"}
    encoder = Encoder(["x"], **options).fit({"x": np.array([0.0, 1.5])})
    native = {
        "pandas": lambda: frame.to_pandas(),
        "pyarrow": lambda: frame.to_arrow(),
        "duckdb": lambda: other.from_arrow(frame.to_arrow()),
    }[library]()
    narwhal = nw.from_native(native)

    found = narwhal.select(encoder.expressions(narwhal)).lazy().collect("polars").to_native()

    np.testing.assert_array_equal(found.to_numpy(), encoder.transform(frame, "numpy"))


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "Asia/Tokyo", "Asia/Kathmandu"])
@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
@pytest.mark.parametrize("library", ["polars", "lazy", "pyarrow", "pandas"])
def test_times_of_every_zone_are_found(library, unit, zone):
    """Before and after 1970, and the two times of a repeated hour."""
    seconds = [0, -1, 1_729_990_800, 1_729_987_200, None]
    times = pl.Series("t", seconds).cast(pl.Int64) * 1000
    moments = times.cast(pl.Datetime("ms", "UTC")).dt.cast_time_unit(unit)
    table = moments.dt.convert_time_zone(zone).to_frame()
    encoder = Encoder(["t"], handle_unknown="ignore").fit(table[:3])
    native = table
    if library != "polars":
        pytest.importorskip("pyarrow")
        native = table.lazy() if library == "lazy" else table.to_arrow()
    if library == "pandas":
        pytest.importorskip("pandas")
        native = native.to_pandas()
    frame = nw.from_native(native)

    found = frame.select(encoder.expressions(frame)).lazy().collect("polars").to_native()

    np.testing.assert_array_equal(found.to_numpy(), encoder.transform(table, "numpy"))


def test_string_views_of_pyarrow_are_read():
    pa = pytest.importorskip("pyarrow")
    values = pa.array(["a", "b", None, "other"], pa.string_view())
    encoder = Encoder(["c"], handle_unknown="ignore").fit({"c": ["a", "b"]})

    frame = nw.from_native(pa.table({"c": values}))
    found = frame.select(encoder.expressions(frame)).to_native()
    assert found.to_pydict() == encoder.transform(pa.table({"c": values})).to_pydict()

    coded = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), values)
    frame = nw.from_native(pa.table({"c": coded}))
    with pytest.raises(TypeError, match=r"column 'c' .*dictionary<values=string_view.*transform"):
        frame.select(encoder.expressions(frame))


@pytest.mark.parametrize("texts", [["1", "2"], [1, 2]])
def test_narwhals_encodes_categories_that_are_texts(texts):
    """Narwhals casts other categories to texts, so that no number would be found."""
    pd = pytest.importorskip("pandas")
    for ordered in (False, True):
        table = pd.DataFrame({"c": pd.Categorical([*texts, None], ordered=ordered)})
        encoder, frame = Encoder(handle_unknown="ignore").fit(table), nw.from_native(table)
        if texts == ["1", "2"]:
            found = frame.select(encoder.expressions(frame)).to_native()
            pd.testing.assert_frame_equal(found, encoder.transform(table))
        else:
            with pytest.raises(TypeError, match=r"column 'c' .* cast the column"):
                encoder.expressions(frame)


@pytest.mark.parametrize(
    ("frame", "error", "message"),
    [
        # Expressions cannot reject a value, and an Encoder does so by default.
        (nw.from_native(pl.DataFrame({"c": ["a"]})), ValueError, "expressions cannot raise"),
        ({"c": ["a"]}, TypeError, "frame must be a frame of polars or narwhals, got"),
        (np.array([["a"]]), TypeError, "frame must be a frame of polars or narwhals, got"),
        (pl.DataFrame({"c": [["a"]]}), TypeError, "column 'c' has dtype List"),
    ],
    ids=["strict", "mapping", "array", "lists"],
)
def test_frames_without_expressions_are_rejected(frame, error, message):
    with pytest.raises(error, match=message):
        Encoder().fit({"c": ["a"]}).expressions(frame)


def test_expressions_find_missing_values_of_categoricals():
    """Early versions of pandas cast a missing value of a Categorical to the text "nan"."""
    pd = pytest.importorskip("pandas")
    frame = nw.from_native(pd.DataFrame({"g": pd.Categorical(["a", None, "b"])}))
    encoder = Encoder(["g"], handle_missing="indicator", handle_unknown="indicator").fit(frame)
    found = frame.select(encoder.expressions(frame)).to_numpy()
    np.testing.assert_array_equal(found, encoder.transform(frame, "numpy"))
