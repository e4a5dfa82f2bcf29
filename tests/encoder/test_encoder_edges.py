"""Options and tables that an encoder rejects, the forms of its results, attributes and copies."""

from __future__ import annotations

import copy
import gc
import pickle
import pickletools
import sys
import weakref
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import numpy as np
import pytest

from onehot_fast import Column, Encoder
from onehot_fast.adapter import CodedColumn, write

FORMS = ("numpy", "csr", "csc")


def in_form(array, form):
    """Return an array as a matrix of a form."""
    if form == "numpy":
        return array
    if form == "matrix":
        return np.asfortranarray(array).view(np.matrix)
    return getattr(pytest.importorskip("scipy.sparse"), f"{form}_array")(array)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"drop": {"p": "z"}}, r"drop\['p'\] must be one of the categories 'a', 'b', got 'z'"),
        ({"drop": {"p": "a"}, "min_frequency": 2}, "must be a frequent category, got 'a'"),
        ({"drop": {"q": "a"}}, "drop: the column must be one of"),
        ({"columns": ["q"]}, r"the table has no column 'q'; its columns are \['p'\]"),
        ({"handle_missing": "propagate"}, "column 'p': dtype must be a float type .* got bool"),
    ],
)
def test_fit_rejects_options_that_do_not_suit_the_table(options, message):
    encoder = Encoder(**options)

    with pytest.raises(ValueError, match=message):
        encoder.fit({"p": ["a", "b", "b"]})
    assert encoder.columns in (None, ("q",))


UNIQUE = r"must differ .* column\.dropna\(\)\.unique\(\) \(polars: \.drop_nulls\(\)"


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"prefix": ["p", "q"]}, TypeError, "a mapping from columns to prefixes .* got a list"),
        ({"remainder": "dorp"}, ValueError, "did you mean 'drop'"),
        ({"drop_first": True}, TypeError, "'drop_first' is not an option: use drop='first'"),
        ({"colums": "a"}, TypeError, "'colums' is not an option: did you mean 'columns'?"),
        ({"columns": ["a", "b", "a"]}, ValueError, "columns must have different names, got 'a' tw"),
        ({"drop": "second"}, ValueError, "drop must be one of .* got 'second'"),
        ({"handle_missing": "drop"}, ValueError, "handle_missing must be one of .*, got 'drop'"),
        ({"handle_unknown": {"a": 1}}, TypeError, r"handle_unknown\['a'\] must be one .*, got 1"),
        ({"categories": "all"}, ValueError, "categories must be one of .*, got 'all'"),
        ({"categories": {"a": ["x", "x"]}}, ValueError, r"\['a'\]\[1\] must differ .*'x', got 'x'"),
        ({"categories": [1, True]}, ValueError, r"\[1\] must differ from .*\[0\] = 1, got True"),
        ({"categories": ["a", "a"]}, ValueError, UNIQUE),
        ({"categories": ["a", np.nan]}, ValueError, r"column\.dropna\(\)\.unique\(\)"),
        ({"categories": {"a": ["x", None]}}, ValueError, r"\[1\] must not be a miss.*, got None"),
        ({"categories": [["x"]]}, TypeError, r"hashable .*; .* pass categories={'plan': \[...\]}"),
        ({"categories": {"a": [["x"]]}}, TypeError, "must be hashable .* unhashable type: 'list'$"),
        ({"categories": 3}, TypeError, "must be 'auto' or a sequence"),
        ({"categories": {"p": {"x": 1}}}, TypeError, "must be 'auto' or .* got a dict"),
        ({"categories": {"p": {1}}}, TypeError, "must be 'auto' or a sequence .* got a set"),
        ({"min_frequency": 0}, ValueError, "an int >= 1"),
        ({"min_frequency": 1.0}, ValueError, r"a float in \(0, 1\)"),
        ({"min_frequency": True}, TypeError, "got a bool"),
        ({"max_categories": 0}, ValueError, "must be at least 1"),
        ({"max_categories": 2.0}, TypeError, "got a float"),
        ({"dtype": None}, TypeError, "dtype must be a Boolean, .*, got None"),
        ({"dtype": "U3"}, TypeError, "dtype must be a Boolean, .*, got 'U3'"),
        ({"prefix": 1}, TypeError, "prefix must be a str, got 1"),
        ({"prefix_sep": None}, TypeError, "prefix_sep must be a str, got None"),
    ],
)
def test_the_constructor_checks_options(options, error, message):
    with pytest.raises(error, match=message):
        Encoder(**options)


@pytest.mark.parametrize(
    "call",
    [
        lambda e: e.transform({}), lambda e: e.get_feature_names_out(), lambda e: e.estimate(1),
        lambda e: e.categories, lambda e: e.inverse_transform(np.zeros((1, 1))),
    ],
)  # fmt: skip
def test_an_encoder_that_is_not_fitted_raises_an_error(call):
    with pytest.raises(RuntimeError, match="the encoder is not fitted"):
        call(Encoder())


def test_unknown_formats_are_rejected():
    with pytest.raises(ValueError, match=r"output must be one of 'numpy', 'csr'.*, got 'xml'"):
        Encoder().fit({"p": ["a"]}).transform({"p": ["a"]}, "xml")


@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize("n_rows", [1, 100])
def test_sparse_dtypes_are_those_of_scipy(form, n_rows):
    """SciPy would accept a matrix of other dtypes and fail later."""
    pytest.importorskip("scipy.sparse")
    table = {"p": ["a", None] * n_rows}
    for dtype in "?" + np.typecodes["AllInteger"] + "fdgFDG":
        encoded = Encoder(dtype=dtype).fit(table).transform(table, form)
        assert encoded.toarray().tolist() == [[1], [0]] * n_rows
    half = Encoder(dtype="float16", handle_missing="propagate").fit(table)
    with pytest.raises(ValueError, match=r"dtype must be bool, .* got 'float16'"):
        half.transform(table, form)


def test_sparse_formats_need_scipy(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.sparse", None)

    with pytest.raises(ImportError, match="a csr_array needs scipy: pip install scipy"):
        Encoder().fit({"p": ["a"]}).transform({"p": ["a"]}, "csr")


@pytest.mark.parametrize("output", FORMS)
@pytest.mark.parametrize(
    "table", [{"p": []}, {"p": [None, None]}, {}], ids=["no rows", "no values", "no columns"]
)
def test_tables_may_lack_rows_values_or_columns(table, output):
    encoder = Encoder([*table]).fit(table)
    encoded = encoder.transform(table, output)

    assert encoded.shape == (len(table.get("p", [])), 0)
    assert list(encoder.inverse_transform(encoded)) == list(table)


def test_a_result_that_is_too_large_names_the_smaller_formats(monkeypatch):
    table = {"p": np.arange(1000).astype(str)}
    encoder = Encoder(dtype="float32").fit(table)
    many = {"p": Column(np.zeros(100_000, np.int8), np.array(["1"]))}
    monkeypatch.setattr("onehot_fast._runtime.system.available_memory", lambda: 1 << 20)
    smaller = r"output='csr' or .* \(1.1 MiB\), output='csc' .* \(.*\), dtype=bool \(95.4 MiB\)"

    with pytest.raises(MemoryError, match=rf"needs 381.5 MiB .*; smaller: {smaller}"):
        encoder.transform(many)


@pytest.mark.parametrize("module", ["pandas", "polars"])
def test_a_table_is_not_accepted_as_columns(module):
    table = pytest.importorskip(module).DataFrame({"p": ["a"]})
    with pytest.raises(TypeError, match=r"column names, got a DataFrame; pass .* to fit\(\)"):
        Encoder(table)


def test_an_estimate_is_the_size_of_the_result():
    """It needs a number of rows."""
    encoder = Encoder(dtype="float32", handle_missing="propagate").fit({"p": ["a", "b"]})
    table = {"p": ["a", "b", None, "a"]}
    size = encoder.estimate(4)
    csr, csc = (encoder.transform(table, form) for form in ("csr", "csc"))

    assert (size.rows, size.columns) == (4, 2)
    assert [*size.bytes] == ["numpy", "pandas", "arrow", "csr", "csc"]
    assert size.bytes["numpy"] == size.bytes["pandas"] == encoder.transform(table).nbytes
    assert csr.data.nbytes + csr.indices.nbytes + csr.indptr.nbytes <= size.bytes["csr"]
    assert csc.data.nbytes + csc.indices.nbytes + csc.indptr.nbytes <= size.bytes["csc"]
    for n_rows, error in [(-1, ValueError), (True, TypeError), ("3", TypeError)]:
        with pytest.raises(error, match="n_rows"):
            encoder.estimate(n_rows)


@pytest.mark.parametrize(("n_rows", "n_bytes"), [(0, 0), (1, 2), (8, 2), (9, 4), (40_000, 10_112)])
def test_an_estimate_counts_bits(n_rows, n_bytes):
    """Arrow packs eight Booleans of a column into a byte, and a long column begins with a line."""
    assert Encoder().fit({"p": ["a", "b"]}).estimate(n_rows).bytes["arrow"] == n_bytes
    assert write.bits([CodedColumn(np.zeros(n_rows, np.int8), None, 2)]).nbytes == n_bytes


def test_fit_keeps_no_reference_to_the_data():
    codes, labels = np.zeros(5, np.int8), np.array(["a"], object)
    column = Column(codes, labels)
    gone = [weakref.ref(codes), weakref.ref(labels), weakref.ref(column)]
    encoder = Encoder().fit(column)
    del codes, labels, column
    gc.collect()

    assert [one() for one in gone] == [None] * 3
    assert tuple(encoder.get_feature_names_out()) == ("x0_a",)


def test_many_threads_may_use_one_encoder():
    table = {"p": [str(i % 7) for i in range(500)]}
    encoder = pickle.loads(pickle.dumps(Encoder().partial_fit(table)))
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda _: encoder.transform(table).tobytes(), range(32)))

    assert len(set(results)) == 1


LAST = Encoder(["p"], drop={"p": "last"}, dtype=np.float32)
MANY = Encoder(["p"]).fit({"p": np.arange(1234)})


@pytest.mark.parametrize(
    ("encoder", "text"),
    [
        (Encoder(), "Encoder()"),
        (LAST, "Encoder(columns=['p'], drop={'p': 'last'}, dtype='float32')"),
        (Encoder(drop={"p": ["last"]}, categories=[1]),
         "Encoder(categories=[1], drop={'p': ['last']})"),
        (Encoder().fit({"p": ["a", "b"]}), "<Encoder(): 1 column -> 2 features, from 2 rows>"),
        (MANY, "<Encoder(columns=['p']): 1 column -> 1,234 features, from 1,234 rows>"),
        (Encoder(categories=[*range(11)]),
         "Encoder(categories=[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, … (11 in all)])"),
    ],
)  # fmt: skip
def test_the_repr_shows_options_and_size(encoder, text):
    assert repr(encoder) == text


@pytest.mark.parametrize(
    ("encoded", "message"),
    [
        ([[1, 1]], "column 'p', row 0: more than one feature is 1"),
        ([[1, 0], [0, 0]], "column 'p', row 1: no feature is 1; exactly one must be 1"),
        ([[1, 0, 0]], r"encoded must have shape \(n_rows, 2\), got \(1, 3\)"),
    ],
)
@pytest.mark.parametrize("form", FORMS)
def test_inverse_rejects_matrices(encoded, message, form):
    encoder = Encoder(handle_missing="error").fit({"p": ["a", "b"]})

    with pytest.raises(ValueError, match=message):
        encoder.inverse_transform(in_form(np.array(encoded), form))


@pytest.mark.parametrize(
    ("encoded", "message"),
    [
        ([[0.9, 0.1]], "row 0: no feature is 1, and 'p_a' is 0.9, expected 0 or 1.*argmax"),
        ([[1, 0], [0, 2]], "row 1: no feature is 1, and 'p_b' is 2.*argmax"),
        ([[0.5, 0.5]], "row 0: no feature is 1, and 'p_a' is 0.5.*argmax"),
        ([[0, 0], [np.nan, 0]], "row 1: no feature is 1, and 'p_a' is nan.*argmax"),
        ([[-0.0, 0.0], [1, 0.5]], "row 1: one feature is 1, and 'p_b' is 0.5.*argmax"),
        ([[1, 0], [-1, 1]], "row 1: one feature is 1, and 'p_a' is -1.*argmax"),
        ([[0, 1], [1, np.inf]], "row 1: one feature is 1, and 'p_b' is inf.*argmax"),
        ([[0, 1], [1, np.nan]], "row 1: one feature is 1, and 'p_b' is nan.*argmax"),
        ([[-0.0, 0.0], [1, -0.0]], None),
    ],
)
@pytest.mark.parametrize("form", [*FORMS, "matrix", "table", "object", "columns"])
def test_inverse_rejects_scores(encoded, message, form):
    """A row holds one 1 at most, and otherwise 0, or null in a table. The error names argmax."""
    encoder, array = Encoder().fit({"p": ["a", "b"]}), np.array(encoded)
    dtypes = {"table": (float, float), "columns": (object, "f4")}
    if form in dtypes:
        columns = zip("ab", array.T, dtypes[form], strict=True)
        given_form = {f"p_{x}": column.astype(dtype) for x, column, dtype in columns}
    else:
        given_form = array.astype(object) if form == "object" else in_form(array, form)
    is_null = form in ("table", "object", "columns") and message is not None and "nan" in message
    if message is None or is_null:
        wanted = ["a" if a == 1 else "b" if b == 1 else None for a, b in array.tolist()]
        assert encoder.inverse_transform(given_form)["p"].tolist() == wanted
        return

    with pytest.raises(ValueError, match=message):
        encoder.inverse_transform(given_form)


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("dtype", [*np.typecodes["AllInteger"], *np.typecodes["Float"], "O"])
@pytest.mark.parametrize("shape", [(1, 2), (2500, 3), (5, 600)])
def test_inverse_finds_the_only_wrong_cell(shape, dtype, order):
    """One cell that is neither 0 nor 1 is found in any row and feature, beside a 1 or alone.

    The shapes have several tiles of rows, and more features than one byte can number.
    """
    rng = np.random.default_rng(len(order) + shape[1])
    n_rows, n_features = shape
    encoder = Encoder(["p"], categories={"p": range(n_features)}).fit({"p": [0]})
    classes = rng.integers(-1, n_features, n_rows)  # -1: no feature is 1
    encoded = np.array(np.arange(n_features) == classes[:, np.newaxis], dtype, order=order)
    wanted = [None if c < 0 else int(c) for c in classes]
    assert encoder.inverse_transform(encoded)["p"].tolist() == wanted

    for _ in range(20):
        row, feature = int(rng.integers(n_rows)), int(rng.integers(n_features))
        spoiled = encoded.copy(order=order)
        spoiled[row, feature] = 3
        n_ones = "one" if classes[row] not in (-1, feature) else "no"
        wanted_error = f"row {row}: {n_ones} feature is 1, and 'p_{feature}' is 3"
        with pytest.raises(ValueError, match=wanted_error):
            encoder.inverse_transform(spoiled)


@pytest.mark.parametrize("form", FORMS)
def test_inverse_reads_rows_of_nan_as_missing(form):
    """A row of NaN is a missing value, as is every row without features; scores are rejected."""
    pytest.importorskip("scipy")
    table = {"nothing": [None] * 4, "p": ["a", None, "b", "c"]}
    encoder = Encoder([*table], handle_missing="propagate", drop="first", dtype="f4")
    encoded = encoder.fit_transform(table, output=form)

    decoded = encoder.inverse_transform(encoded)
    assert {name: values.tolist() for name, values in decoded.items()} == table
    encoded[2, 0] = 0.25
    with pytest.raises(ValueError, match=r"row 2: no feature is 1, and 'p_b' is 0.25"):
        encoder.inverse_transform(encoded)


@pytest.mark.parametrize(
    "table",
    [
        np.ma.array([["a", "x"], ["b", "y"], ["a", "x"]], mask=[[0, 0], [1, 0], [0, 1]]),
        np.ma.array(
            [("a", "x"), ("b", "y"), ("a", "x")],
            dtype=[("x0", "U1"), ("x1", "U1")],
            mask=[(0, 0), (1, 0), (0, 1)],
        ),
    ],
    ids=["plain", "structured"],
)
def test_masked_cells_of_a_table_are_missing(table):
    columns = {"x0": ["a", None, "a"], "x1": ["x", "y", None]}
    encoder = Encoder().fit(table)

    expected = Encoder().fit(columns).transform(columns, "numpy")
    np.testing.assert_array_equal(encoder.transform(table, "numpy"), expected)
    np.testing.assert_array_equal(encoder.transform(table[1:2], "numpy"), expected[1:2])
    assert encoder.get_feature_names_out().tolist() == ["x0_a", "x1_x", "x1_y"]


def test_inverse_rejects_a_masked_matrix():
    encoder = Encoder().fit({"c": ["a", "b"]})
    with pytest.raises(TypeError, match="encoded must not be a masked array"):
        encoder.inverse_transform(np.ma.array([[1, 0]], mask=[[0, 1]]))


def test_inverse_rejects_strings():
    with pytest.raises(TypeError, match="encoded must hold Booleans or numbers, got dtype <U1"):
        Encoder().fit({"p": ["a"]}).inverse_transform(np.array([["x"]]))


EVERY_TYPE = {
    "size": ["S", "L", None, "S"],
    "zip": np.array([1, 2, 2, 1]),
    "bytes": [b"a", b"b", b"a", b"b"],
    "mixed": [Decimal("1.5"), (1, "a"), 2**70, None],
    "day": np.array(["2024-01-01"] * 4, "M8[D]"),
    "coded": Column(np.array([0, 1, -1, 1], "i1"), np.array(["S", "M", "L"]), True, "category"),
}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("dtype", r"'dtype' is an option: call set_params\(dtype=...\)"),
        ("columns", r"set_params\(columns=...\)"),
        ("categories", r"set_params\(categories=...\)"),
        ("handle_unknwon", r"no attribute 'handle_unknwon': did you mean 'handle_unknown'\?.*set"),
        ("anything", r"no attribute 'anything': use set_params\(...\) to change"),
    ],
)
def test_a_public_attribute_cannot_be_assigned(name, message):
    """It would be ignored, as an option is checked where it is passed."""
    encoder = Encoder().fit({"size": ["S"]})
    before = encoder.to_json()

    with pytest.raises(AttributeError, match=message):
        setattr(encoder, name, "float32")
    assert encoder.to_json() == before


def test_private_names_can_be_assigned():
    """Private names, which scikit-learn assigns, methods, and anything on a subclass."""
    encoder = Encoder()
    encoder._parent_callback_ctx = 1
    encoder._sklearn_output_config = {"transform": "csr"}
    encoder.transform = lambda table: table
    assert encoder.transform(3) == 3

    class Mine(Encoder):
        pass

    mine = Mine(["size"])
    mine.note = "kept"
    assert copy.deepcopy(mine).note == "kept"


def test_options_can_be_read():
    options = {
        "drop": "first", "handle_missing": "indicator", "handle_unknown": {"size": "ignore"},
        "min_frequency": 2, "max_categories": 5, "dtype": "f4", "prefix": "p", "prefix_sep": ".",
        "remainder": "drop",
    }  # fmt: skip
    for encoder in (Encoder(["size"], **options), Encoder(["size"]).set_params(**options)):
        assert {name: getattr(encoder, name) for name in options} == options
    assert Encoder(["size"]).columns == ("size",)


@pytest.mark.parametrize("fitted", [True, False])
def test_copies_and_pickles_do_the_same(fitted):
    """A pickle names only the public class."""
    encoder = Encoder([*EVERY_TYPE], drop="first", handle_unknown={"size": "ignore"}, dtype="f4")
    encoder = encoder.set_output(transform="numpy")
    if fitted:
        encoder.fit(EVERY_TYPE).transform(EVERY_TYPE)
    copies = [pickle.loads(pickle.dumps(encoder)), copy.copy(encoder), copy.deepcopy(encoder)]
    texts = [str(text) for _, text, _ in pickletools.genops(pickle.dumps(encoder, 2))]
    names = {text for text in texts if text.startswith("onehot_fast")}

    assert names == {"onehot_fast.encoder Encoder"}
    for other in copies:
        assert other == encoder
        assert repr(other) == repr(encoder)
        assert other.get_params() == encoder.get_params()
        assert other._sklearn_output_config == encoder._sklearn_output_config
        if fitted:
            np.testing.assert_array_equal(
                other.transform(EVERY_TYPE), encoder.transform(EVERY_TYPE)
            )
            assert other.to_json() == encoder.to_json()
            assert other.partial_fit(EVERY_TYPE) == copy.copy(encoder).partial_fit(EVERY_TYPE)


@pytest.mark.parametrize("dtype", [bool, "f4", np.float32])
def test_skops_asks_for_the_public_class_and_types_of_categories_only(dtype):
    skops = pytest.importorskip("skops.io")
    encoder = Encoder([*EVERY_TYPE], handle_missing="indicator", drop={"size": "S"}, dtype=dtype)
    encoder.fit(EVERY_TYPE)
    text = skops.dumps(encoder)

    types = ["decimal.Decimal", "onehot_fast.encoder.Encoder"]
    assert skops.get_untrusted_types(data=text) == types
    again = skops.loads(text, trusted=types)
    assert again == encoder
    assert again.to_json() == encoder.to_json()
    np.testing.assert_array_equal(
        again.transform(EVERY_TYPE, "numpy"), encoder.transform(EVERY_TYPE, "numpy")
    )
