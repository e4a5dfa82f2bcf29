"""`inverse_transform` returns the types of the fitted columns where they hold the values."""

import datetime
import pickle
from decimal import Decimal

import numpy as np
import pytest

from onehot_fast import Encoder
from support.libraries import equal


def table_of(library, values, dtype):
    """Return a table of pandas, polars or pyarrow with one column."""
    module = pytest.importorskip(library)
    dtype = dtype(module) if callable(dtype) else dtype
    if library == "pyarrow":
        return module.table({"c": module.array(values).cast(dtype)})
    if library == "pandas" and "Paris" in str(dtype):
        values = [None if v is None else module.Timestamp(v, tz="UTC") for v in values]
    return module.DataFrame({"c": module.Series(values, dtype=dtype)})


NOON = datetime.datetime(2024, 2, 29, 12)
CASES = [
    ("pandas", [3, 1], lambda pd: pd.CategoricalDtype(np.array([3, 1, 2], "i1"))),
    ("pandas", ["a", None], "string"),
    ("pandas", ["2024-01", "2024-02"], "period[M]"),
    ("pandas", [NOON, None], "datetime64[ms, Europe/Paris]"),
    ("pyarrow", ["S", "L", None], lambda pa: pa.dictionary(pa.int8(), pa.string(), ordered=True)),
    ("pyarrow", [NOON.replace(tzinfo=datetime.UTC)], lambda pa: pa.timestamp("us", "Europe/Paris")),
    ("pyarrow", [Decimal("1.50"), None], lambda pa: pa.decimal128(7, 2)),
    ("pyarrow", [datetime.timedelta(1), None], lambda pa: pa.duration("ms")),
    ("pyarrow", [b"ab", None], lambda pa: pa.binary(2)),
    ("polars", [Decimal("1.50"), None], lambda pl: pl.Decimal(7, 2)),
    ("polars", [datetime.timedelta(1), None], lambda pl: pl.Duration("ms")),
    ("polars", [NOON, None], lambda pl: pl.Datetime("us", "Europe/Paris")),
]


@pytest.mark.parametrize(("library", "values", "dtype"), CASES)
def test_a_decoded_table_is_the_fitted_one(library, values, dtype):
    """Types with parameters, also after JSON, pickle and merge."""
    table = table_of(library, values, dtype)
    encoder = Encoder(["c"], handle_missing="indicator", drop="first").fit(table)
    encoded = encoder.transform(table)
    copies = [Encoder.from_json(encoder.to_json()), pickle.loads(pickle.dumps(encoder))]
    for again in (encoder, *copies, encoder.merge(encoder)):
        assert equal(again.inverse_transform(encoded), table)


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "+02:00"])
@pytest.mark.parametrize("library", ["arrow", "pandas"])
def test_nanoseconds_of_zoned_times_come_back(library, zone):
    """Arrow and polars return them, also before 1970 and in a repeated hour."""
    pd = pytest.importorskip("pandas", "3.0")  # older ones have zones of pytz, which polars rejects
    pa = pytest.importorskip("pyarrow")
    pl = pytest.importorskip("polars")
    counts = [1, 2, -1, 1_729_990_800_000_000_001, 1_729_987_200_000_000_001, 10**18, None]
    limits = [1 - 2 * 10**18, pd.Timestamp.max.value - 10**14]
    table = pa.table({"c": pa.array(counts + limits, pa.timestamp("ns", zone))})
    fitted = table if library == "arrow" else table.to_pandas()
    encoder = Encoder(["c"], handle_missing="indicator").fit(fitted)
    for again in (encoder, Encoder.from_json(encoder.to_json())):
        encoded = again.transform(table)
        decoded = again.inverse_transform(encoded)["c"]
        assert decoded.type == pa.timestamp("ns", zone)
        assert decoded.cast(pa.int64()).to_pylist() == counts + limits
        series = again.inverse_transform(pl.from_arrow(encoded))["c"]
        assert series.dtype == pl.Datetime("ns", "UTC" if zone == "+02:00" else zone)
        assert series.to_physical().to_list() == counts + limits
        decoded = again.inverse_transform(encoded.to_pandas())["c"]
        assert [t.value for t in decoded if t is not pd.NaT] == [*counts[:-1], *limits]


def test_values_without_a_type_are_not_rounded():
    """No type holds nanoseconds beside a distant year, and polars has no such decimals."""
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    pa = pytest.importorskip("pyarrow")
    times = [pd.Timestamp(1, tz="UTC"), pd.Timestamp("2500-01-01", tz="UTC").as_unit("us")]
    values = np.array(times, object)
    encoder = Encoder(["c"]).fit({"c": values})
    encoded = encoder.transform({"c": values}, "pandas")

    with pytest.raises(ValueError, match="column 'c' has both nanoseconds and years outside"):
        encoder.inverse_transform(pl.from_pandas(encoded))
    with pytest.raises(TypeError, match="column 'c' has no Arrow type"):
        encoder.inverse_transform(pa.Table.from_pandas(encoded))
    encoder = Encoder(["c"]).fit({"c": np.array([Decimal("1E+999999999")], object)})
    rows = pl.DataFrame(np.ones((1, 1), "u1"), encoder.get_feature_names_out().tolist())
    with pytest.raises(ValueError, match="column 'c' has no polars dtype"):
        encoder.inverse_transform(rows)


@pytest.mark.parametrize("dtype", ["i1", "u2", "f4", "f2", "?", "M8[s]", "m8[h]", "u8"])
@pytest.mark.parametrize("form", ["numpy", "csr"])
def test_arrays_of_a_mapping_come_back(dtype, form):
    """A mapping and a matrix give the arrays of a mapping back."""
    pytest.importorskip("scipy")
    values = np.array([1, 0, 1], "i8").astype(dtype)
    encoder = Encoder(["c"]).fit({"c": values})
    encoder = Encoder.from_json(encoder.to_json())
    decoded = encoder.inverse_transform(encoder.transform({"c": values}, form))["c"]

    assert (decoded.dtype, decoded.tolist()) == (values.dtype, values.tolist())


def test_values_that_do_not_fit_come_back_without_the_type():
    """They come back as if no type was known: a missing integer, a substitute, an unknown value."""
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"c": pd.Series([1, 2], dtype="int8")})
    encoder = Encoder(["c"], handle_unknown="indicator").fit(frame)
    rows = encoder.transform(pd.DataFrame({"c": [1, None]}))

    assert encoder.inverse_transform(rows)["c"].dtype != "int8"
    assert encoder.inverse_transform(rows, missing=300)["c"].tolist() == [1, 300]
    assert encoder.inverse_transform(rows, missing=3)["c"].dtype == "int8"
    pa = pytest.importorskip("pyarrow")
    prices = pd.Series([Decimal("1.50"), None], dtype=pd.ArrowDtype(pa.decimal128(5, 2)))
    encoder = Encoder(["c"], handle_missing="indicator").fit(prices.to_frame("c"))
    rows = encoder.transform(prices.to_frame("c"))
    assert encoder.inverse_transform(rows)["c"].dtype == prices.dtype
    decoded = encoder.inverse_transform(rows, missing="none")["c"]
    assert decoded.tolist() == [Decimal("1.50"), "none"]
    sizes = pd.DataFrame({"c": pd.Categorical(["S"])})
    encoder = Encoder(["c"], handle_unknown="indicator").fit(sizes)
    rows = encoder.transform(pd.DataFrame({"c": ["S", "XL"]}))
    assert encoder.inverse_transform(rows, unknown="?")["c"].tolist() == ["S", "?"]


def test_the_type_after_merging_is_the_common_one():
    """Merged encoders decode to the common type of all parts, in any order and grouping."""
    pd = pytest.importorskip("pandas")
    frames = [
        pd.DataFrame({"c": pd.Series([value], dtype=dtype)})
        for value, dtype in [(1, "int8"), (2, "uint8"), (3, "int32")]
    ]
    a, b, c = (Encoder(["c"]).fit(frame) for frame in frames)
    for merged in (a.merge(b, c), c.merge(b).merge(a), b.merge(a.merge(c))):
        decoded = merged.inverse_transform(merged.transform(frames[0]))
        assert decoded["c"].dtype == "int32"
        assert merged.to_json() == a.merge(b, c).to_json()


def test_another_library_has_its_own_types():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    encoder = Encoder(["c"]).fit(pd.DataFrame({"c": pd.Categorical(["S", "L"])}))
    rows = encoder.transform(pl.DataFrame({"c": ["S"]}))

    assert encoder.inverse_transform(rows)["c"].dtype == pl.String
