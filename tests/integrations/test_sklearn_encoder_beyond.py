"""What the encoder does beyond scikit-learn's: parts, text, missing and unknown values, tables."""

from __future__ import annotations

import copy
import json
import pickle
from functools import reduce

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("sklearn")

import sklearn
from scipy import sparse
from sklearn import preprocessing
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from onehot_fast.encoder import Special
from onehot_fast.integrations.sklearn import few
from onehot_fast.integrations.sklearn.encoder import OneHotEncoder
from onehot_fast.integrations.sklearn.source import source_of

TEXTS = ["a", "b", "a longer text", None, float("nan")]
NUMBERS = [0, 1, -3, 10**6]
KINDS = {
    "object": (TEXTS, object),
    "str": (["a", "b", "longer"], np.str_),
    "bytes": ([b"a", b"bc"], np.bytes_),
    "int": (NUMBERS, np.int64),
    "float": ([0.5, float("nan"), 2.0], np.float32),
    "bool": ([True, False], np.bool_),
    "time": (["NaT", "2024-02-29", "1969-01-01"], "M8[s]"),
}
# What `Unknown` rows do: each option with the row of an unknown and of a missing value.
MISSING = {
    "ignore": ([0, 0], ["x0_a", "x0_b"]),
    "indicator": ([0, 0, 1], ["x0_a", "x0_b", "x0_(missing)"]),
    "propagate": ([np.nan, np.nan], ["x0_a", "x0_b"]),
}


@st.composite
def arrays(draw, kind=None, min_rows=1, max_rows=10):
    """Return an array of two features, most of whose values repeat."""
    pool, dtype = KINDS[kind or draw(st.sampled_from(sorted(KINDS)))]
    cells = st.lists(st.sampled_from(pool), min_size=2, max_size=2)
    rows = draw(st.lists(cells, min_size=min_rows, max_size=max_rows))
    out = np.empty((len(rows), 2), dtype if dtype is object else np.array(pool, dtype).dtype)
    for at, row in enumerate(rows):
        out[at] = row
    return out


@st.composite
def parts(draw, n_parts):
    """Return arrays of one kind, and the parameters of an encoder."""
    kind = draw(st.sampled_from(sorted(KINDS)))
    tables = [draw(arrays(kind)) for _ in range(n_parts)]
    params = {
        "min_frequency": draw(st.sampled_from([None, 2, 0.3])),
        "max_categories": draw(st.sampled_from([None, 2])),
        "drop": draw(st.sampled_from([None, "first", "if_binary"])),
        "handle_missing": draw(st.sampled_from(["category", "ignore", "indicator"])),
        "handle_unknown": draw(st.sampled_from(["error", "indicator"])),
    }
    return tables, params


def column(*values):
    """Return one feature of objects."""
    return np.array(values, dtype=object).reshape(-1, 1)


def same(one, other, rows):
    """Assert that two encoders are the same in all they do to the rows."""
    assert one.to_json() == other.to_json()
    assert [c.dtype for c in one.categories_] == [c.dtype for c in other.categories_]
    np.testing.assert_equal(one.transform(rows).toarray(), other.transform(rows).toarray())
    assert list(one.get_feature_names_out()) == list(other.get_feature_names_out())


@given(parts(3))
def test_parts_teach_what_the_whole_teaches(drawn):
    """An encoder that met the rows in parts is the one that met them at once."""
    tables, params = drawn
    whole = np.concatenate(tables)
    encoder = reduce(OneHotEncoder.partial_fit, tables, OneHotEncoder(**params))

    same(encoder, OneHotEncoder(**params).fit(whole), whole)


@given(parts(3), st.permutations(range(3)))
def test_merging_has_no_order(drawn, order):
    """Encoders of parts merge into that of the whole, in any order and grouping."""
    tables, params = drawn
    one, two, three = (OneHotEncoder(**params).fit(tables[at]) for at in order)
    whole = np.concatenate(tables)
    expected = OneHotEncoder(**params).fit(whole)

    same(one.merge(two, three), expected, whole)
    same(one.merge(two.merge(three)), expected, whole)
    same(reduce(OneHotEncoder.merge, [clone(one), three, two, one.merge()][:3]).merge(one),
         expected, whole)  # fmt: skip


def test_categories_that_were_given_are_counted_part_by_part():
    """Of given categories the counts add up, and a value that is none of them is refused."""
    encoder = OneHotEncoder(categories=[["b", "a", "c"]], min_frequency=2)
    encoder.partial_fit(column("a")).partial_fit(column("a", "b"))

    assert encoder.categories_[0].tolist() == ["b", "a", "c"]
    assert encoder.infrequent_categories_[0].tolist() == ["b", "c"]
    with pytest.raises(ValueError, match=r"unknown categories \['x'\] in column 0 during fit"):
        encoder.partial_fit(column("x"))
    assert encoder.infrequent_categories_[0].tolist() == ["b", "c"]


@pytest.mark.parametrize(
    ("other", "error", "words"),
    [
        (OneHotEncoder(drop="first").fit(column("a")), ValueError, "differ in their parameters"),
        (OneHotEncoder(categories=[["a"]]), ValueError, "differ in their parameters"),
        (OneHotEncoder().fit([["a", "b"]]), ValueError, r"different features: \[0\] and \[0, 1\]"),
        (None, TypeError, "a NoneType cannot be merged into a OneHotEncoder"),
    ],
)
def test_encoders_that_differ_do_not_merge(other, error, words):
    """Other parameters, other features and other objects are refused."""
    with pytest.raises(error, match=words):
        OneHotEncoder().fit(column("a")).merge(other)


def test_encoders_that_are_not_fitted_merge():
    """They add nothing."""
    empty = OneHotEncoder()

    with pytest.raises(NotFittedError):
        empty.merge(OneHotEncoder()).transform(column("a"))
    same(empty.merge(OneHotEncoder().fit(column("a"))), OneHotEncoder().fit(column("a")),
         column("a"))  # fmt: skip


def test_merged_features_keep_their_names():
    """Names are part of what was learned."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"size": ["S", "L"]})
    encoder = OneHotEncoder().merge(OneHotEncoder().fit(frame))

    assert encoder.feature_names_in_.tolist() == ["size"]
    assert encoder.transform(frame[:1]).toarray().tolist() == [[0, 1]]


@given(parts(2))
def test_an_encoder_comes_back_from_text_and_from_pickle(drawn):
    """It encodes as before, and learns on."""
    (first, second), params = drawn
    encoder = OneHotEncoder(**params).fit(first)
    copies = [
        OneHotEncoder.from_json(encoder.to_json()),
        pickle.loads(pickle.dumps(encoder)),
        copy.deepcopy(encoder),
    ]

    same(copies[0], encoder, first)
    same(copies[1], encoder, first)
    same(copies[2].partial_fit(second), encoder.partial_fit(second), first)


@pytest.mark.parametrize(
    "params",
    [
        {"categories": [np.array([1.5, np.nan])], "drop": [np.nan], "dtype": np.float32},
        {"categories": [[None, "a", 3]], "drop": np.array([None]), "sparse_output": False},
        {"min_frequency": np.int64(2), "max_categories": 3, "dtype": ">i4"},
    ],
)
def test_parameters_come_back_from_text(params):
    """Those that are arrays come back as lists; the text is plain JSON."""
    text = OneHotEncoder(**params).to_json()
    back = OneHotEncoder.from_json(text)

    assert json.loads(text)["fitted"] is None
    assert back.to_json() == text
    assert np.dtype(back.dtype) == np.dtype(params.get("dtype", np.float64))
    assert back.max_categories == params.get("max_categories")


def test_a_function_has_no_text():
    """A name combiner cannot be written."""
    with pytest.raises(TypeError, match=r"feature_name_combiner = .* is a function"):
        OneHotEncoder(feature_name_combiner=lambda f, c: f).to_json()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[]", "no 'format'"),
        ('{"format": "onehot_fast.sklearn.OneHotEncoder", "version": 9}', "has version 9"),
        ('{"format": "onehot_fast.sklearn.OneHotEncoder", "version": 1}', "no complete encoder"),
    ],
)
def test_text_that_is_no_encoder_is_refused(text, words):
    """The error says what is wrong with it."""
    with pytest.raises(ValueError, match=words):
        OneHotEncoder.from_json(text)


@pytest.mark.parametrize("missing", [None, np.nan], ids=["None", "NaN"])
@pytest.mark.parametrize("word", MISSING)
@pytest.mark.parametrize("form", ["sparse", "dense", "many"])
def test_missing_values_are_encoded_as_wanted(missing, word, form):
    """None and NaN are no categories then, whether they were met or not."""
    row, names = MISSING[word]
    encoder = OneHotEncoder(handle_missing=word, sparse_output=form != "dense")
    rows = column("b", missing, *["a"] * (1000 if form == "many" else 1))
    encoded = [encoder.fit(known).transform(rows) for known in (rows, column("b", "a"))]
    arrays = [one.toarray() if sparse.issparse(one) else one for one in encoded]

    np.testing.assert_array_equal(arrays[0], arrays[1])
    np.testing.assert_array_equal(arrays[0][1], row)
    np.testing.assert_array_equal(arrays[0][0], [0, 1, 0][: len(row)])
    assert encoder.get_feature_names_out().tolist() == names
    assert encoder.inverse_transform(encoded[0])[:2].tolist() == [["b"], [None]]


def test_missing_values_are_refused_as_wanted():
    """In `fit` and in `transform`, given categories that are missing too."""
    encoder = OneHotEncoder(handle_missing="error").fit(column("a"))
    with pytest.raises(ValueError, match="missing values in column 0"):
        encoder.transform(column("a", None))
    with pytest.raises(ValueError, match="missing values in column 0"):
        encoder.fit(column(np.nan))
    with pytest.raises(ValueError, match="hold a missing value"):
        encoder.set_params(categories=[["a", None]]).fit(column("a"))


def test_nothing_is_propagated_in_integers():
    """NaN is no integer."""
    encoder = OneHotEncoder(handle_missing="propagate", dtype=int)
    with pytest.raises(ValueError, match="needs a float dtype, not int64"):
        encoder.fit(column("a"))


@pytest.mark.parametrize("dtype", [object, np.str_])
@pytest.mark.parametrize("n_rows", [1, 1000])
@pytest.mark.parametrize("drop", [None, "first"])
def test_the_indicator_of_unknown_values_loses_nothing(drop, n_rows, dtype):
    """An unknown value is told from the dropped category, and comes back as such."""
    encoder = OneHotEncoder(handle_unknown="indicator", drop=drop, dtype="uint8")
    encoder.fit(np.array([["a"], ["b"]], dtype))
    rows = np.array([["?"], ["a"], ["b"]] * n_rows, dtype)
    encoded = encoder.transform(rows)

    expected = [[0, 0, 1], [1, 0, 0], [0, 1, 0]]
    assert encoded[:3].toarray().tolist() == [row[drop == "first" :] for row in expected]
    assert encoder.get_feature_names_out()[-1] == "x0_(unknown)"
    assert encoder.inverse_transform(encoded)[:3, 0].tolist() == [Special.UNKNOWN, "a", "b"]
    assert encoder._n_features_outs == [3 - (drop is not None)]


UNKNOWN_WORDS = ["error", "ignore", "indicator", "infrequent_if_exist"]
MISSING_WORDS = ["category", "ignore", "indicator", "propagate"]


def as_frame(rows):
    """Return a DataFrame with named features."""
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(rows, columns=["one", "two"])


@pytest.mark.parametrize("kind", ["object", "str", "int", "float", "bool"])
@pytest.mark.parametrize("form", [np.asarray, np.ndarray.tolist, as_frame])
@given(data=st.data())
def test_few_rows_are_encoded_as_many(form, kind, data):
    """A row alone, which is looked up, gives what it gives among others, which are read."""
    rows, is_sparse = data.draw(arrays(kind, min_rows=2)), data.draw(st.booleans())
    unknown = data.draw(st.sampled_from(UNKNOWN_WORDS))
    encoder = OneHotEncoder(
        handle_unknown=unknown,
        handle_missing=data.draw(st.sampled_from(MISSING_WORDS)),
        sparse_output=is_sparse,
        dtype="float32",
    )
    table = form(rows)
    encoder.fit(table if unknown == "error" else table[: len(rows) // 2])
    found = [encoder.transform(table[at : at + 1]) for at in range(len(rows))]
    found += [encoder.transform(table)] * 2
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(few, "LIMIT", 0)
        expected = encoder.transform(table)
    dense = [one.toarray() if is_sparse else one for one in (*found, expected)]

    assert {(type(one), one.dtype) for one in found} == {(type(expected), expected.dtype)}
    np.testing.assert_array_equal(np.vstack(dense[:-2]), np.vstack([dense[-1]] * 2))
    np.testing.assert_array_equal(dense[-2], dense[-1])


def test_rows_are_not_modified():
    """Neither are the arrays that were given as parameters."""
    rows, categories = (
        column("b", None, np.nan, "a", "?"),
        np.array(["a", "b", None, np.nan], object),
    )
    before, given_before = rows.copy(), categories.copy()
    rows.flags.writeable = categories.flags.writeable = False
    encoder = OneHotEncoder(categories=[categories], handle_unknown="indicator", drop=[None])
    encoder.fit(rows).transform(rows)
    encoder.fit_transform(rows)

    assert [x is y for x, y in zip(rows.flat, before.flat, strict=True)] == [True] * 5
    assert [x is y for x, y in zip(categories, given_before, strict=True)] == [True] * 4


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_tables_of_other_libraries_keep_their_dtypes(library):
    """What is missing is None among texts and Booleans, NaN among numbers."""
    polars = pytest.importorskip("polars")
    pytest.importorskip("pyarrow")
    size = polars.Series(["S", None, "L", "S"], dtype=polars.Enum(["S", "M", "L"]))
    table = polars.DataFrame(
        {"text": ["b", None, "a", "b"], "n": [3, 1, None, 3], "flag": [True, None, False, True],
         "real": [0.5, 1.5, 0.5, 2.5], "size": size},
    )  # fmt: skip
    table = table.to_arrow() if library == "pyarrow" else table
    encoder = OneHotEncoder(handle_unknown="ignore").fit(table)

    categories = [one.tolist() for one in encoder.categories_]
    assert [one.dtype.kind for one in encoder.categories_] == list("OfOfO")
    assert categories[0] == ["a", "b", None]
    np.testing.assert_array_equal(categories[1], [1, 3, np.nan])
    assert categories[2:] == [[False, True, None], [0.5, 1.5, 2.5], ["L", "S", None]]
    # Of which libraries it knows the names is scikit-learn's affair.
    names = getattr(preprocessing.OneHotEncoder().fit(table), "feature_names_in_", None)
    np.testing.assert_array_equal(getattr(encoder, "feature_names_in_", None), names)
    assert encoder.transform(table).nnz == 20
    assert (encoder.transform(table) != encoder.fit_transform(table)).nnz == 0
    assert encoder.transform(table[:1]).nnz == 5


def test_codes_are_not_hashed_again():
    """The codes of a category column are read where they are; its categories come out sorted."""
    pandas = pytest.importorskip("pandas")
    values = pandas.Categorical(["M", "S", None, "L"], categories=["S", "M", "XL", "L"])
    frame = pandas.DataFrame({"size": values})
    feature = source_of(frame).read(0)
    encoder = OneHotEncoder().fit(frame)

    assert np.shares_memory(feature.codes, frame["size"].array.codes)
    assert encoder.get_feature_names_out().tolist() == ["size_L", "size_M", "size_S", "size_nan"]
    assert encoder.transform(frame).indices.tolist() == [1, 2, 3, 0]
    with pytest.raises(ValueError, match=r"unknown categories \['XL'\]"):
        encoder.transform(frame.assign(size="XL").astype({"size": frame["size"].dtype}))


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_tables_come_out_column_by_column(library):
    """`set_output` wraps a matrix whose columns are contiguous: nothing is copied."""
    module = pytest.importorskip(library)
    frame = module.DataFrame({"size": ["S", "L", "S"], "n": [1, 2, 2]})
    encoder = OneHotEncoder(sparse_output=False, dtype="float32").set_output(transform=library)
    encoded = encoder.fit_transform(frame)

    assert isinstance(encoded, module.DataFrame)
    assert list(encoded.columns) == list(encoder.get_feature_names_out())
    assert encoded.to_numpy().tolist() == [[0, 1, 1, 0], [1, 0, 0, 1], [0, 1, 0, 1]]
    assert encoder.transform(frame[:1]).to_numpy().tolist() == [[0, 1, 1, 0]]
    assert encoder.transform(frame).to_numpy().flags.f_contiguous


def test_a_pipeline_learns_with_it():
    """In a ColumnTransformer, cloned, searched by name, pickled, with names all the way."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"size": list("SMLS") * 5, "n": [0.5, 2.0, 1.5, 3.0] * 5})
    encode = ColumnTransformer(
        [("sizes", OneHotEncoder(drop="first"), ["size"])], remainder="passthrough"
    )
    model = clone(make_pipeline(encode, LogisticRegression()))
    model.set_params(columntransformer__sizes__drop=None)
    wanted = frame["size"] == "S"
    fitted = pickle.loads(pickle.dumps(model.fit(frame, wanted)))

    assert fitted.predict(frame).tolist() == wanted.tolist()
    names = ["sizes__size_L", "sizes__size_M", "sizes__size_S", "remainder__n"]
    assert fitted[0].get_feature_names_out().tolist() == names


def test_names_of_features_are_checked_as_by_scikit_learn():
    """An array where a frame was fitted is warned of, other names are refused, also for one row."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"one": ["a", "b"], "two": ["c", "d"]})
    encoder = OneHotEncoder().fit(frame)

    with pytest.warns(UserWarning, match="does not have valid feature names"):
        encoder.transform(frame.to_numpy()[:1])
    with pytest.raises(ValueError, match="feature names should match"):
        encoder.transform(frame[["two", "one"]][:1])
    with pytest.raises(ValueError, match="X has 1 features, but OneHotEncoder is expecting 2"):
        OneHotEncoder().fit(frame.to_numpy()).transform([["a"]])
    with pytest.warns(UserWarning, match="was fitted without feature names"):
        OneHotEncoder().fit(frame.to_numpy()).transform(frame[:1])


@pytest.mark.parametrize("n_rows", [1, 1000])
def test_parameters_may_change_after_fit(n_rows):
    """As in scikit-learn: dtype, form and the unknown; what is dropped only by `fit`."""
    encoder = OneHotEncoder(drop="first").fit(column("a", "b"))
    encoder.set_params(drop=None, dtype="int8", sparse_output=False, handle_unknown="ignore")
    encoded = encoder.transform(column(*["b", "?"] * n_rows))

    assert encoded.dtype == np.int8
    assert encoded[:2].tolist() == [[1], [0]]
    assert pickle.loads(pickle.dumps(encoder)).transform(column("b")).tolist() == [[1]]


@pytest.mark.parametrize(
    "form", [np.asarray, sparse.csr_matrix, sparse.coo_array, sparse.csc_matrix]
)
@pytest.mark.parametrize(
    "encoded",
    [
        [[0, 1, 0, 1], [1, 0, 1, 0], [0, 0, 0, 1]],
        [[1, 1, 1, 1], [0, 1, 1, 1]],
        [[0.2, 0.7, 0.1, 0.9], [0.0, 0.0, -1.0, 0.0]],
    ],
    ids=["ones", "several", "shares"],
)
def test_the_largest_output_counts(form, encoded):
    """Whatever the container and the values; the first of several that are equal."""
    encoder = OneHotEncoder(handle_unknown="ignore").fit([["a", 1], ["b", 2]])
    rows = np.array(encoded)
    expected = [
        [None if not part.any() else values[part.argmax()] for part, values in parts]
        for parts in ([(row[:2], "ab"), (row[2:], [1, 2])] for row in rows)
    ]

    assert encoder.inverse_transform(form(encoded)).tolist() == expected


@pytest.mark.skipif("sparse_interface" not in sklearn.get_config(), reason="new in 1.9")
@pytest.mark.parametrize("n_rows", [1, 1000])
def test_sparse_arrays_where_scikit_learn_is_configured_so(n_rows):
    """The container is that of scikit-learn's own results."""
    encoder = OneHotEncoder().fit(column("a", "b"))
    with sklearn.config_context(sparse_interface="sparray"):
        assert type(encoder.transform(column(*["a"] * n_rows))) is sparse.csr_array
    assert type(encoder.transform(column(*["a"] * n_rows))) is sparse.csr_matrix


def test_what_is_dropped_may_be_all_there_is():
    """A feature without an output, and a matrix without a column."""
    encoder = OneHotEncoder(drop="first")
    rows = column(*["a"] * 1000)
    encoded = encoder.fit_transform(rows)

    assert encoded.shape == (1000, 0)
    assert encoder.transform(rows[:1]).shape == (1, 0)
    assert encoder.set_params(sparse_output=False).transform(rows).shape == (1000, 0)
    assert encoder.transform(rows[:2]).shape == (2, 0)
