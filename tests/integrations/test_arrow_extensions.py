"""Extension types of Arrow are what their Python values are: UUIDs, Booleans, values of users."""

import enum
import pickle
import uuid
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.libraries import assert_read

pa = pytest.importorskip("pyarrow")
dataset = pytest.importorskip("pyarrow.dataset")

from onehot_fast import Encoder, UnknownValueError, multi_hot, one_hot  # noqa: E402
from onehot_fast.integrations import arrow  # noqa: E402

IDS = [uuid.UUID(int=1), uuid.UUID(int=2**127), uuid.UUID(int=2**64)]


def extended(kind, stored):
    """Return values of the storage type as an array of an extension type."""
    return pa.ExtensionArray.from_storage(kind, pa.array(stored, kind.storage_type))


def uuids(values):
    return extended(pa.uuid(), [None if value is None else value.bytes for value in values])


# --- types of users ---------------------------------------------------------------------------


class Size(enum.Enum):
    SMALL = 0
    LARGE = 1


class SizeScalar(pa.ExtensionScalar):
    """Small numbers are small, all others are large, and 99 is missing."""

    def as_py(self, **options):
        stored = self.value.as_py() if self.value is not None else None
        return None if stored in (None, 99) else Size(min(stored, 1))


class FractionScalar(pa.ExtensionScalar):
    def as_py(self, **options):
        stored = None if self.value is None else self.value.as_py()
        return None if stored is None else Fraction(stored)


class CapitalsScalar(pa.ExtensionScalar):
    """Texts that pyarrow can store again."""

    def as_py(self, **options):
        return None if self.value is None else self.value.as_py().upper()


class ListScalar(pa.ExtensionScalar):
    """Values that have no hash."""

    def as_py(self, **options):
        return None if self.value is None else [self.value.as_py()]


class UserType(pa.ExtensionType):
    """An extension type whose scalars have a class, or the one of pyarrow."""

    def __init__(self, storage, scalar=pa.ExtensionScalar, name="tests.user_type"):
        self.scalar = scalar
        super().__init__(storage, name)

    def __arrow_ext_serialize__(self):
        return self.scalar.__name__.encode()

    @classmethod
    def __arrow_ext_deserialize__(cls, storage, serialized):
        return cls(storage, globals().get(serialized.decode(), pa.ExtensionScalar))

    def __arrow_ext_scalar_class__(self):
        return self.scalar


@pytest.fixture(autouse=True, scope="module")
def registered():
    """Register the type, so that it can be restored from its name."""
    pa.register_extension_type(UserType(pa.int8()))
    yield
    pa.unregister_extension_type("tests.user_type")


STORED = {
    "numbers": (UserType(pa.int16(), SizeScalar), pa.array([1, 0, None, 5, 99, 1], pa.int16())),
    "texts": (UserType(pa.string(), FractionScalar), pa.array(["1/3", "2/6", None, "2", "1/3"])),
    "views": (
        UserType(pa.string_view(), FractionScalar),
        pa.array(["1/3", "2/6", None, "2"], pa.string_view()),
    ),
    "a dictionary": (
        UserType(pa.dictionary(pa.int8(), pa.string()), FractionScalar),
        pa.DictionaryArray.from_arrays(pa.array([2, 0, None, 2], pa.int8()), ["1/3", "7", "2/6"]),
    ),
    "runs": (
        UserType(pa.run_end_encoded(pa.int64(), pa.string()), FractionScalar),
        pa.RunEndEncodedArray.from_arrays([2, 3, 5], ["1/3", None, "2/6"]),
    ),
    "UUIDs": (UserType(pa.uuid()), uuids([IDS[0], None, IDS[1]])),
    "Booleans": (UserType(pa.bool8()), extended(pa.bool8(), [2, None, 1, 0])),
    "capitals": (UserType(pa.string(), CapitalsScalar), pa.array(["b", "B", None, "a"])),
    "stored values": (UserType(pa.string()), pa.array(["b", None, "a"])),
}


@pytest.mark.parametrize("name", STORED)
def test_the_scalars_of_a_type_are_its_values(name):
    """Values may be equal or missing although what is stored is not, whatever stores them."""
    kind, stored = STORED[name]
    array = pa.ExtensionArray.from_storage(kind, stored)
    values = array.to_pylist()

    for column, rows in (
        (array, values),
        (array.slice(1, 2), values[1:3]),
        (pa.chunked_array([array, array[:0], array[:2]]), values + values[:2]),
        (pa.chunked_array([], kind), []),
    ):
        assert_read(column, rows)
        encoder = Encoder(["c"]).fit(pa.table({"c": column}))
        assert (
            encoder.categories["c"].tolist()
            == Encoder(["c"]).fit({"c": rows}).categories["c"].tolist()
        )
        np.testing.assert_array_equal(
            encoder.transform({"c": rows}, "numpy"),
            encoder.transform(pa.table({"c": column}), "numpy"),
        )


def test_a_dictionary_may_have_a_type_of_users():
    kind, stored = STORED["texts"]
    levels = pa.ExtensionArray.from_storage(kind, stored)
    for ordered in (False, True):
        column = pa.DictionaryArray.from_arrays(
            pa.array([3, 1, 0, 2, None], pa.int8()), levels, ordered=ordered
        )
        encoder = Encoder(["c"]).fit(pa.table({"c": column}))
        wanted = [Fraction(2), Fraction(1, 3)]
        wanted = wanted[::-1] if ordered else sorted(wanted)
        assert encoder.categories["c"].tolist() == wanted
        matrix = encoder.transform(pa.table({"c": column}), "numpy")
        codes = [wanted.index(Fraction(2)), *[wanted.index(Fraction(1, 3))] * 2]
        assert matrix[:3].argmax(1).tolist() == codes
        assert not matrix[3:].any()


def test_types_need_not_be_registered():
    """The scalars are the values in the process that has the class; a file has what is stored."""
    kind = UserType(pa.int16(), SizeScalar, "tests.not_registered")
    table = pa.table({"c": extended(kind, [1, 0, None, 5])})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    stored = pa.ipc.open_stream(sink.getvalue()).read_all()

    assert stored["c"].type == pa.int16()
    assert Encoder(["c"]).fit(table).categories["c"].tolist() == [Size.LARGE, Size.SMALL]
    assert Encoder(["c"]).fit(stored).categories["c"].tolist() == [0, 1, 5]


def test_values_without_a_hash_are_rejected():
    column = pa.ExtensionArray.from_storage(UserType(pa.int8(), ListScalar), pa.array([1], "int8"))

    with pytest.raises(TypeError, match=r"'c'.*list"):
        Encoder(["c"]).fit(pa.table({"c": column}))


@pytest.mark.parametrize("name", ["capitals", "stored values"])
def test_a_type_of_users_is_decoded_as_such(name):
    kind, stored = STORED[name]
    table = pa.table({"c": pa.ExtensionArray.from_storage(kind, stored)})
    encoder = Encoder(["c"]).fit(table)

    for decoded in (
        encoder.inverse_transform(encoder.transform(table)),
        arrow.decode(encoder.transform(table), encoder),
    ):
        assert decoded["c"].type == kind
        assert decoded["c"].to_pylist() == table["c"].to_pylist()


def test_values_that_pyarrow_cannot_convert_are_decoded_in_a_mapping():
    kind, stored = STORED["texts"]
    table = pa.table({"c": pa.ExtensionArray.from_storage(kind, stored)})
    encoder = Encoder(["c"]).fit(table)
    encoded = encoder.transform(table)

    with pytest.raises(TypeError, match="'c' has no Arrow type"):
        encoder.inverse_transform(encoded)
    with pytest.raises(TypeError, match="'c' have no common Arrow type"):
        arrow.decode(encoded, encoder)
    decoded = encoder.inverse_transform(encoder.transform(table, "numpy"))
    assert decoded["c"].tolist() == table["c"].to_pylist()


# --- UUIDs ------------------------------------------------------------------------------------


def test_uuids_equal_those_of_a_mapping():
    rows = [IDS[1], IDS[0], None, IDS[1]]
    table, mapping = pa.table({"c": uuids(rows)}), {"c": rows}
    encoders = [Encoder(["c"]).fit(table), Encoder(["c"]).fit(mapping)]

    assert encoders[0].get_feature_names_out().tolist() == [f"c_{IDS[0]}", f"c_{IDS[1]}"]
    for encoder in encoders:
        assert encoder.categories["c"].tolist() == IDS[:2]
        for source in (table, mapping):
            assert encoder.transform(source, "numpy").argmax(1).tolist() == [1, 0, 0, 1]


@pytest.mark.parametrize(
    "rows",
    [
        pa.array([IDS[0].bytes], pa.binary(16)),
        pa.array([IDS[0].bytes]),
        pa.array([str(IDS[0])]),
    ],
    ids=["fixed", "binary", "text"],
)
def test_bytes_and_text_equal_no_uuid(rows):
    """Bytes and text equal no UUID, neither as rows, nor as fitted or declared categories."""
    table = pa.table({"c": uuids([IDS[0]])})

    with pytest.raises(UnknownValueError, match="column 'c'"):
        Encoder(["c"]).fit(table).transform(pa.table({"c": rows}))
    with pytest.raises(UnknownValueError, match="column 'c'"):
        Encoder(["c"]).fit(pa.table({"c": rows})).transform(table)
    with pytest.raises(UnknownValueError, match="column 'c'"):
        Encoder(["c"], categories={"c": rows.to_pylist()}).fit(table)


def test_uuids_may_be_declared_categories():
    table = pa.table({"c": uuids([IDS[1], None, IDS[0]])})

    for categories in (IDS, uuids(IDS), pa.chunked_array([uuids(IDS)])):
        encoder = Encoder(["c"], categories={"c": categories}).fit(table)
        assert encoder.categories["c"].tolist() == IDS
        assert encoder.transform(table, "numpy").tolist() == [
            [False, True, False],
            [False, False, False],
            [True, False, False],
        ]
        matrix = np.asarray(arrow.one_hot(table["c"], categories=categories))
        assert matrix.tolist() == [[0, 1, 0], [0, 0, 0], [1, 0, 0]]
        lists = pa.ListArray.from_arrays([0, 2, 2], uuids([IDS[1], IDS[0]]))
        assert multi_hot(lists, categories=categories).tolist() == [[1, 1, 0], [0, 0, 0]]


def test_substitutes_and_labels_of_uuids_have_their_type():
    """Substitutes and labels of UUIDs have Arrow's UUID type, even if `fit` saw no Arrow type."""
    rows = [IDS[0], None, IDS[1]]
    for source in (pa.table({"c": uuids(rows)}), {"c": rows}):
        encoder = Encoder(["c"]).fit(source)
        encoded = encoder.transform(source, "arrow")
        decoded = arrow.decode(encoded, encoder, missing=IDS[2])
        assert decoded["c"].type == pa.uuid()
        assert decoded["c"].to_pylist() == [IDS[0], IDS[2], IDS[1]]

        codes = arrow.encode(pa.table({"c": uuids(rows)}), encoder, layout="dictionary")
        assert codes["c"].type.value_type == pa.uuid()
        again = arrow.decode(codes, encoder, layout="dictionary")
        assert again["c"].to_pylist() == rows


def test_uuids_survive_json_and_pickle():
    table = pa.table({"c": uuids([IDS[0], None, IDS[1]])})
    encoder = Encoder(["c"]).fit(table)

    for other in (Encoder.from_json(encoder.to_json()), pickle.loads(pickle.dumps(encoder))):
        assert other == encoder
        assert other.inverse_transform(other.transform(table)).equals(table)


def test_each_uuid_becomes_an_object_once(monkeypatch):
    """Rows are hashed by their bytes: the number of objects is that of the distinct values."""
    made = []
    original = uuid.UUID.__init__
    monkeypatch.setattr(
        uuid.UUID, "__init__", lambda *args, **options: made.append(1) or original(*args, **options)
    )
    column = uuids(IDS * 1000)
    made.clear()

    Encoder(["c"]).fit(pa.table({"c": column}))

    assert len(made) == len(IDS)


# --- Booleans of one byte ---------------------------------------------------------------------


def test_every_byte_but_zero_is_true():
    column = extended(pa.bool8(), [0, 1, None, 2, -128])
    table, mapping = pa.table({"c": column}), {"c": [False, True, None, True, True]}
    assert column.to_pylist() == mapping["c"]
    encoder = Encoder(["c"]).fit(table)

    assert encoder.get_feature_names_out().tolist() == ["c_False", "c_True"]
    assert encoder.categories["c"].tolist() == [False, True]
    wanted = Encoder(["c"]).fit(mapping).transform(mapping, "numpy")
    for source in (table, mapping):
        np.testing.assert_array_equal(encoder.transform(source, "numpy"), wanted)
    declared = Encoder(["c"], categories={"c": [True, False]}).fit(table)
    np.testing.assert_array_equal(declared.transform(table, "numpy"), wanted[:, ::-1])


def test_booleans_of_one_byte_are_passed_through_and_decoded_as_booleans():
    """Any Boolean of one byte but 0 is a 1, in a matrix and as a feature of an encoded table."""
    columns = {"c": pa.array(["a", "b"]), "n": extended(pa.bool8(), [2, 0])}
    encoder = Encoder(["c"]).fit(pa.table(columns))
    assert encoder.transform(pa.table(columns), "numpy").tolist() == [[1, 0, 1], [0, 1, 0]]

    features = Encoder(["c"]).fit(pa.table({"c": columns["c"]}))
    encoded = pa.table({"c_a": extended(pa.bool8(), [2, 0]), "c_b": extended(pa.bool8(), [0, 1])})
    for decoded in (features.inverse_transform(encoded), arrow.decode(encoded, features)):
        assert decoded["c"].to_pylist() == ["a", "b"]


def test_booleans_of_one_byte_are_no_classes():
    """`one_hot` and `arrow.one_hot` reject Booleans as classes, also those of one byte.

    Those of one byte could be confused with the integers that store them.
    """
    for column in (extended(pa.bool8(), [1, 0]), pa.array([True, False])):
        with pytest.raises(TypeError, match="integers"):
            arrow.one_hot(column, depth=2)
        with pytest.raises(TypeError):
            one_hot(column, 2)


@given(st.lists(st.one_of(st.none(), st.integers(-128, 127)), max_size=30), st.integers(0, 30))
def test_any_bytes_equal_the_booleans_that_pyarrow_gives(stored, cut):
    column = extended(pa.bool8(), stored)
    chunked = pa.chunked_array([column[:cut], column[cut:]], column.type)

    for each in (column, chunked, column[cut:]):
        assert_read(each, each.to_pylist())
        encoder = Encoder(["c"]).fit(pa.table({"c": each}))
        decoded = encoder.inverse_transform(encoder.transform(pa.table({"c": each})))["c"]
        assert decoded.type == pa.bool8()
        assert decoded.to_pylist() == each.to_pylist()


@given(st.lists(st.one_of(st.none(), st.sampled_from(IDS), st.uuids()), max_size=30))
def test_any_uuids_equal_those_of_a_mapping(rows):
    table = pa.table({"c": uuids(rows)})
    encoder, wanted = Encoder(["c"]).fit(table), Encoder(["c"]).fit({"c": rows})

    assert encoder.categories["c"].tolist() == sorted({*rows} - {None})
    assert wanted.categories["c"].tolist() == sorted({*rows} - {None})
    np.testing.assert_array_equal(
        encoder.transform(table, "numpy"), wanted.transform({"c": rows}, "numpy")
    )
    assert encoder.inverse_transform(encoder.transform(table)).equals(table)


# --- expressions ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "array", [uuids(IDS[:2]), extended(pa.bool8(), [2, 0])], ids=["uuid", "bool8"]
)
def test_expressions_compare_the_values(array):
    """A plain field and a dictionary, with an encoder of the type or of a mapping."""
    indices = pa.array([1, None, 0, 1])
    for column in (array.take(indices), pa.DictionaryArray.from_arrays(indices, array)):
        table = pa.table({"c": column})
        encoder = Encoder(["c"]).fit(table)
        wanted = encoder.transform({"c": column.to_pylist()}, "numpy")
        found = dataset.dataset(table).to_table({"x": arrow.expression(encoder, "c")})["x"]
        np.testing.assert_array_equal(found.combine_chunks().to_numpy_ndarray(), wanted)


def test_expressions_reject_values_that_pyarrow_cannot_compare():
    """An expression for values that pyarrow cannot compare is an error which names their type.

    Otherwise what is stored would be compared.
    """
    kind, stored = STORED["capitals"]
    encoder = Encoder(["c"]).fit(pa.table({"c": pa.ExtensionArray.from_storage(kind, stored)}))

    with pytest.raises(TypeError, match=r"'c'.*tests\.user_type.*Encoder\.transform"):
        arrow.expression(encoder, "c")


# --- pandas -----------------------------------------------------------------------------------


def held_by_pandas(array):
    """Return an array as a pandas Series, or None if this version of pandas has no such column."""
    pd = pytest.importorskip("pandas")
    try:
        dtype = pd.ArrowDtype(array.type)
        assert dtype.type is not None
    except NotImplementedError:
        return None
    return pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([array])), name="c")


@pytest.mark.parametrize(
    ("array", "values"),
    [
        (uuids([IDS[1], None, IDS[0]]), [IDS[0], IDS[1]]),
        (extended(pa.bool8(), [2, None, 0]), [False, True]),
    ],
    ids=["uuid", "bool8"],
)
def test_pandas_columns_of_extension_types(array, values):
    """Plain, as dictionaries and as categories; decoded columns have their dtype."""
    pd = pytest.importorskip("pandas")
    import onehot_fast.integrations.pandas  # noqa: F401  the accessor

    levels = array.take(pa.array([0, 2]))
    for dictionary in (array, pa.DictionaryArray.from_arrays(pa.array([0, None, 1]), levels)):
        series = held_by_pandas(dictionary)
        if series is None:
            continue
        encoded = series.to_frame().onehot(["c"])
        assert encoded.columns.tolist() == [f"c_{value}" for value in values]
        assert encoded.to_numpy().tolist() == [[False, True], [False, False], [True, False]]
        encoder = Encoder(["c"]).fit(series.to_frame())
        assert encoder.inverse_transform(encoded)["c"].dtype == series.dtype
    series = held_by_pandas(array)
    if series is not None:
        column = series.astype(pd.CategoricalDtype(series[[0, 2]]))
        assert [*Encoder(["c"]).fit(column.to_frame()).categories["c"]] == values[::-1]


def test_categories_of_pandas_that_are_equal_as_values():
    """Pandas compares what is stored: 1 and 2 are two categories, and both are True."""
    pd = pytest.importorskip("pandas")
    series = held_by_pandas(extended(pa.bool8(), [2, 1, 0, None]))
    if series is None:
        return
    column = pd.Series(pd.Categorical.from_codes([0, 1, 2, -1], series[:3].array), name="c")

    encoder = Encoder(["c"]).fit(column.to_frame())

    assert [*encoder.categories["c"]] == [True, False]
    matrix = encoder.transform(column.to_frame(), "numpy")
    assert matrix.tolist() == [[True, False], [True, False], [False, True], [False, False]]
