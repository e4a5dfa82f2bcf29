"""The encoder over the partitions of Dask: in threads, and on a cluster of processes."""

import os
import pickle
import warnings
from itertools import cycle, islice

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from onehot_fast import Encoder, UnknownValueWarning
from support.engines import (
    CHOICES,
    OPTIONS,
    PARTS,
    Engine,
    check_engine,
    pandas_frame,
    plain_columns,
)
from support.foreign_columns import existing
from support.strategies import examples

pd = pytest.importorskip("pandas")
dask = pytest.importorskip("dask")
dd = pytest.importorskip("dask.dataframe")
cloudpickle = pytest.importorskip("cloudpickle")
pytest.importorskip("scipy.sparse")

from onehot_fast.integrations.dask import get_dummies  # noqa: E402, after the library

TEXTS = ["object", "string[pyarrow]"]


def in_partitions(frames):
    """Return a Dask DataFrame of partitions with unknown categories."""
    meta = frames[0].iloc[:0]
    unknown = dd.utils.clear_known_categories(meta.copy())
    with dask.config.set({"dataframe.convert-string": False}):
        return dd.from_map(lambda i: frames[i], range(len(frames)), meta=unknown)


def dask_engine(text):
    def table(parts):
        return in_partitions([pandas_frame(part).astype({"text": text}) for part in parts])

    def columns(frame):
        computed = frame.compute(scheduler="synchronous")
        assert_same_schema(frame, computed)
        return {name: computed[name].tolist() for name in computed.columns}

    return Engine(f"dask of {text}", table, columns, in_parts=True)


def assert_same_schema(frame, computed):
    """Compare the names and dtypes of the schema, categories excepted, with those of the rows."""
    names = [name for name in frame.columns if name != "level"]
    assert frame.columns.tolist() == computed.columns.tolist()
    assert frame.dtypes[names].tolist() == computed.dtypes[names].tolist()


def dense(matrix):
    """Return a matrix as an array."""
    return matrix.toarray() if hasattr(matrix, "toarray") else matrix


@pytest.mark.parametrize("text", TEXTS)
@examples(0.4)
@given(train=PARTS, test=PARTS, names=CHOICES, options=OPTIONS)
def test_partitions_are_learned_as_in_one_process(text, train, test, names, options):
    """Fitted state, names, encoded and decoded values are equal bit for bit."""
    with dask.config.set(scheduler="synchronous"):
        check_engine(dask_engine(text), train, test, names, options)


@pytest.fixture
def frame():
    """Return two columns of texts and one of numbers, in three partitions."""
    table = {"a": [*"abcab", None], "n": range(6), "c": [*"xyxyxz"]}
    return dd.from_pandas(pd.DataFrame(table), npartitions=3)


@pytest.mark.parametrize("output", ["numpy", "csr", "csc", "codes", "indices"])
def test_arrays_are_blocks_of_rows(frame, output):
    """The dtype, width, type of blocks and, if Dask knows them, lengths are in the schema."""
    encoder = Encoder(["a", "c"], dtype="float32").fit(frame)
    expected = encoder.transform(frame.compute(), output)
    known, filtered = (encoder.transform(part, output) for part in (frame, frame[frame.n > 0]))

    width = 2 if output in ("codes", "indices") else 7
    assert known.chunks == ((2, 2, 2), (width,))
    assert np.isnan(filtered.chunks[0]).all()
    assert filtered.chunks[1] == (width,)
    assert known.dtype == expected.dtype
    assert type(known._meta) is type(known.blocks[0].compute()) is type(expected)
    assert dense(known.compute()).tolist() == dense(expected).tolist()
    assert dense(filtered.compute()).tolist() == dense(expected).tolist()[1:]
    for array in (known, known.rechunk({1: 2})) if output == "numpy" else [known] * (width == 7):
        decoded = encoder.inverse_transform(array).compute()
        assert plain_columns(decoded) == plain_columns(frame.compute())


@pytest.mark.filterwarnings("ignore:Dask currently has limited support:UserWarning")
@pytest.mark.parametrize("is_persisted", [False, True])
@pytest.mark.parametrize("output", ["numpy", "csr", "csc", None])
def test_decoded_frames_are_ordinary_frames(frame, output, is_persisted):
    """They become arrays, are encoded again in each form, and are selected and joined."""
    encoder = Encoder(["a", "c"], dtype="float32", remainder="drop").fit(frame)
    decoded = encoder.inverse_transform(encoder.transform(frame, output))
    if is_persisted:
        decoded = decoded.persist()
    rows = decoded.compute()

    assert decoded["a"].values.compute().tolist() == rows["a"].tolist()
    assert (
        decoded[["c", "a"]].to_dask_array().compute().tolist() == rows[["c", "a"]].values.tolist()
    )
    assert decoded.to_dask_array(lengths=True).shape == rows.shape
    assert decoded.partitions[1].values.compute().tolist() == rows.values[2:4].tolist()
    assert decoded["a"].value_counts().compute().to_dict() == rows["a"].value_counts().to_dict()
    for form in ("numpy", "csr", "codes"):
        again = encoder.transform(decoded, form)
        assert dense(again.compute()).tolist() == dense(encoder.transform(rows, form)).tolist()


def test_columns_have_the_order_of_fit(frame):
    """Columns that fit did not see are last in a frame, and not in a matrix."""
    encoder = Encoder(["a", "c"], dtype="float32").fit(frame)
    other = frame[["c", "n", "a"]].assign(new=1)
    names = ["a_a", "a_b", "a_c", "n", "c_x", "c_y", "c_z"]

    assert encoder.get_feature_names_out().tolist() == names
    assert encoder.transform(other).columns.tolist() == [*names, "new"]
    rows = frame.compute()
    for form in ("numpy", "csr", "csr_matrix"):
        computed = encoder.transform(other, form).compute()
        assert dense(computed).tolist() == dense(encoder.transform(rows, form)).tolist()
    with pytest.raises(ValueError, match="lacks the column 'n', but a matrix"):
        encoder.transform(frame[["a", "c"]], "csr")


@pytest.mark.parametrize("output", [None, "category"])
def test_an_absent_column_gives_one_warning(frame, output):
    encoder = Encoder(["a", "c"]).fit(frame)
    with pytest.warns(UserWarning, match="lacks the column 'n', which fit saw") as caught:
        encoded = encoder.transform(frame[["a", "c"]], output).compute(scheduler="synchronous")
    assert "n" not in encoded
    assert len(caught) == 1
    assert caught[0].filename == __file__


@pytest.mark.parametrize("output", [None, "numpy", "csr"])
@pytest.mark.parametrize("scheduler", ["synchronous", "threads"])
@pytest.mark.parametrize("options", [{"drop": "first"}, {}], ids=["drop", "warn"])
def test_unknown_values_of_all_partitions_give_one_warning(output, scheduler, options):
    """Each result warns, once for each column; without `drop`, only the rule "warn" does."""
    rows = pd.DataFrame({"c": ["a", "b", "x", "y"] * 4, "n": range(16)})
    rule = "ignore" if options else "warn"
    encoder = Encoder(["c"], handle_unknown=rule, **options).fit({"c": ["a", "b"], "n": [1, 2]})
    frames = [dd.from_pandas(rows, npartitions=n) for n in (5, 6)]
    encoded = [encoder.transform(frame, output) for frame in frames]

    for each in encoded:
        with pytest.warns(UnknownValueWarning, match="in 'c'") as caught:
            each.compute(scheduler=scheduler)
        assert len(caught) == 1
    silent = Encoder(["c"], handle_unknown="ignore").fit({"c": ["a", "b"], "n": [1, 2]})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        silent.transform(dd.from_pandas(rows, npartitions=5), output).compute(scheduler=scheduler)


def test_decoded_columns_have_the_fitted_dtypes():
    """If the dtype can hold the nulls that may occur; otherwise they are objects."""
    rows = pd.DataFrame(
        {
            "short": pd.array([1, 2, 1, 2], "int8"),
            "float": pd.array([1, 2, 2, 1], "float32"),
            "level": pd.Categorical([*"abab"], categories=["b", "a"], ordered=True),
            "day": pd.to_datetime(["2020", "2021", "2020", "2021"]).astype("datetime64[s]"),
            "nullable": pd.array([None, None, 1, 2], "Int16"),
        }
    )
    table = dd.from_pandas(rows, npartitions=2)
    for output in (None, "category"):
        encoder = Encoder([*rows]).fit(table)
        decoded = encoder.inverse_transform(encoder.transform(table, output))
        computed = decoded.compute()
        assert_same_schema(decoded, computed)
        pd.testing.assert_frame_equal(computed, rows.astype({"short": object}))
    encoded = encoder.transform(table)
    assert encoder.inverse_transform(encoded, missing="none").dtypes.unique().tolist() == [object]


@pytest.mark.parametrize("output", ["pandas", "numpy", "csr"])
@pytest.mark.parametrize("missing", [None, 3, 300, "?"])
def test_decoded_dtypes_follow_from_the_encoder_and_the_substitutes(output, missing):
    """Dask announces the decoded dtypes of frames and arrays, even if no row needs a substitute."""
    rows = pd.DataFrame(
        {
            "int8": pd.array([1, 2, 1, None], "Int8"),
            "category": pd.Categorical(["a", "b", "a", None], ["b", "a"]),
            "str": pd.array(["a", "b", "a", None], "string"),
            "complete": pd.array([1, 2, 1, 2], "int8"),
        }
    )
    table = dd.from_pandas(rows, npartitions=2)
    rules = {"handle_missing": {"complete": "error"}, "handle_unknown": "error"}
    encoder = Encoder([*rows], **rules).fit(table)

    decoded = encoder.inverse_transform(encoder.transform(table, output), missing=missing)
    computed = decoded.compute().reset_index(drop=True)

    assert decoded.dtypes.tolist() == computed.dtypes.tolist()
    fits = {
        "int8": missing in (None, 3),
        "category": missing is None,
        "str": missing in (None, "?"),
    }
    for name, is_fitting in fits.items():
        assert computed[name].dtype == (rows[name].dtype if is_fitting else object)
        expected = [missing if pd.isna(value) else value for value in rows[name]]
        assert (
            computed[name].astype(object).where(computed[name].notna(), None).tolist() == expected
        )
    assert computed["complete"].equals(rows["complete"])


def test_a_dtype_never_changes_a_value():
    """An encoder may have learned categories that the dtype of the frame cannot represent."""
    table = dd.from_pandas(pd.DataFrame({"c": pd.array([1, 2], "int8")}), npartitions=1)
    encoder = Encoder(["c"], handle_missing="error").fit(table)
    encoder.partial_fit({"c": [300]})

    for output in ("pandas", "numpy"):
        encoded = encoder.transform(dd.from_pandas(pd.DataFrame({"c": [300, 1]})), output)
        assert encoder.inverse_transform(encoded).compute()["c"].tolist() == [300, 1]


NULLABLE = ["Int64", "UInt8", "boolean", "int64[pyarrow]", "bool[pyarrow]", "Float64"]


@pytest.mark.parametrize("output", ["numpy", "csr", "csc", "csr_matrix"])
@pytest.mark.parametrize("dtype", [*NULLABLE, "int64", "bool", "int16", "float32"])
def test_blocks_of_a_matrix_have_the_dtype_of_the_schema(dtype, output):
    """A column that may hold nulls is float64, also in a partition without nulls; null is NaN."""
    values = [1, 0, None if dtype in NULLABLE else 0, 1]
    rows = pd.DataFrame({"z": pd.Series(values, dtype=dtype), "c": [*"abab"]})
    frame = dd.from_pandas(rows, npartitions=2)
    matrix = Encoder(["c"], dtype="bool").fit(frame).transform(frame, output)

    expected = np.dtype("float64" if dtype in NULLABLE else dtype)
    assert {matrix.dtype, *(matrix.blocks[i].compute().dtype for i in range(2))} == {expected}
    z = np.array([np.nan if value is None else value for value in values])
    np.testing.assert_array_equal(
        dense(matrix.compute()), np.stack([z, [1, 0, 1, 0], [0, 1, 0, 1]], axis=1)
    )


def test_a_partition_of_another_dtype_never_changes_values(tmp_path):
    """Values are converted if that is safe; otherwise an error names the column."""
    texts = {"c": ["a", "b"]}
    whole = pd.DataFrame({"z": [5, 6], **texts})
    narrow = in_partitions([whole, whole.astype({"z": "int8"})])
    encoder = Encoder(["c"]).fit(narrow)
    matrix = encoder.transform(narrow, "numpy").compute()
    assert matrix.dtype == np.int64
    assert matrix[:, 0].tolist() == [5, 6, 5, 6]

    with_null = pd.DataFrame({"z": [np.nan, 4], **texts})
    paths = [str(tmp_path / name) for name in ("0.parquet", "1.parquet")]
    for path, rows in zip(paths, (whole, with_null), strict=True):
        rows.to_parquet(path)
    message = r"""column 'z' has nulls in a partition.*astype\({'z': 'float64'}\)"""
    for broken in (in_partitions([whole, with_null]), dd.read_parquet(paths)):
        for output in ("numpy", "csr"):
            with pytest.raises(ValueError, match=message):
                encoder.transform(broken, output).compute()
            converted = encoder.transform(broken.astype({"z": "float64"}), output).compute()
            np.testing.assert_array_equal(dense(converted)[:, 0], [5, 6, np.nan, 4])


def test_categories_are_known_and_the_same_in_all_partitions(frame):
    options = {"handle_missing": "indicator", "handle_unknown": "ignore", "min_frequency": {"c": 2}}
    encoder = Encoder(["a", "c"], **options).fit(frame)
    encoded, expected = (encoder.transform(t, "category") for t in (frame, frame.compute()))

    assert encoded.a.cat.known
    assert encoded._meta.dtypes.equals(expected.dtypes)
    pd.testing.assert_frame_equal(encoded.compute(), expected)


def test_only_fit_computes():
    """The names and dtypes of all results are known before."""
    encoder = Encoder(["a"]).fit({"a": ["x", "y"]})

    def refuse(i):
        raise AssertionError("computed")

    meta = pd.DataFrame({"a": pd.Series([], dtype=object), "n": pd.Series([], dtype="int64")})
    frame = dd.from_map(refuse, range(2), meta=meta)

    encoded = encoder.transform(frame)
    assert encoded.dtypes.astype(str).to_dict() == {"a_x": "bool", "a_y": "bool", "n": "int64"}
    assert encoder.inverse_transform(encoded).columns.tolist() == ["a", "n"]
    assert encoder.transform(frame, "csr").shape[1] == 2
    assert frame.onehot(encoder).npartitions == 2
    with pytest.raises(AssertionError, match="computed"):
        Encoder().fit(frame)


def test_only_encoded_columns_are_read(tmp_path):
    """`fit` reads no other columns of Parquet."""
    table = pd.DataFrame({"a": [*"abab"], "n": range(4)})
    table[:2].to_parquet(tmp_path / "0.parquet")
    table[2:].to_parquet(tmp_path / "1.parquet")
    frame = dd.read_parquet(tmp_path)
    read = []

    def spy(part):
        read.append(list(part.columns))
        return part

    spied = frame.map_partitions(spy, meta=frame._meta, required_columns=[])
    assert Encoder().fit(spied) == Encoder().fit(table)
    assert {tuple(columns) for columns in read} == {("a",)}


def test_an_encoder_of_dask_encodes_tables_of_other_libraries(frame):
    """An encoder of Dask encodes frames of pandas, and partial_fit accepts both."""
    table = frame.compute()
    encoder = Encoder(["a"], handle_unknown="ignore").fit(table)

    assert encoder.fit(frame) == encoder.fit(table)
    assert encoder.partial_fit(frame) == encoder.merge(Encoder(["a"], handle_unknown="ignore"))
    assert encoder.features["count"].sum() == 2 * table["a"].notna().sum()
    assert encoder.fit_transform(frame).compute().equals(encoder.fit_transform(table))
    assert encoder.estimate(frame) == encoder.estimate(len(table))
    encoder.set_output(transform="pandas")
    assert isinstance(encoder.transform(frame), dd.DataFrame)


def test_accessors_equal_those_of_pandas(frame):
    table = frame.compute()
    encoder = frame.onehot.fit(["c"], drop="first")

    pd.testing.assert_frame_equal(frame.onehot(encoder).compute(), table.onehot(encoder))
    pd.testing.assert_frame_equal(frame.onehot(["a"]).compute(), table.onehot(["a"]))
    for name, options in {"a": {"handle_missing": "indicator"}, "n": {"drop": 3}, "c": {}}.items():
        ours, theirs = frame[name].onehot, table[name].onehot
        for prefix in (None, "p"):
            encoded = ours(prefix=prefix, dtype="uint8", **options)
            expected = theirs(prefix=prefix, dtype="uint8", **options)
            assert encoded.columns.tolist() == expected.columns.tolist()
            pd.testing.assert_frame_equal(encoded.compute(), expected, check_column_type=False)
        assert ours.to_numpy(**options).compute().tolist() == theirs.to_numpy(**options).tolist()
        assert (ours.to_csr(**options).compute() != theirs.to_csr(**options)).nnz == 0
        assert ours.to_csc(**options).dtype == np.float32
    assert "to_csr" in repr(frame.a.onehot)
    renamed = frame.a.rename("other").onehot(Encoder(["a"]).fit(table)).compute()
    assert renamed.columns.tolist() == ["a_a", "a_b", "a_c"]


DUMMIES = st.fixed_dictionaries(
    {},
    optional={
        "prefix": st.sampled_from(["p", {name: name * 2 for name in ["text", "level"]}]),
        "prefix_sep": st.sampled_from(["=", "_"]),
        "dummy_na": st.booleans(),
        "drop_first": st.booleans(),
        "sparse": st.booleans(),
        "dtype": st.sampled_from(["uint8", "float32"]),
    },
)


@examples(0.2)
@given(parts=PARTS, options=DUMMIES, columns=CHOICES | st.none())
def test_get_dummies_equals_that_of_the_categorized_table(parts, options, columns):
    """`get_dummies` of a Dask frame equals that of pandas for the table with all categories."""
    chosen = ["text", "level"] if columns is None else columns
    if isinstance(options.get("prefix"), dict):
        options |= {"prefix": {name: name * 2 for name in chosen}}
    with dask.config.set(scheduler="synchronous"):
        frame = in_partitions([pandas_frame(part) for part in parts])
        table = frame.compute()
        if "level" in chosen:
            levels = Encoder(["level"]).fit(frame).categories["level"]
            table["level"] = pd.Categorical(table["level"], pd.Index(levels))
        for name in {*chosen} - {"level"}:
            table[name] = table[name].astype("category")

        encoded = get_dummies(frame, columns=columns, **options)
        expected = pd.get_dummies(table, columns=chosen, **{"dtype": bool, **options})
        kept = [] if "level" in chosen else ["level"]
        # Dask cannot concatenate categories beside duplicate names, which the prefix "p" may make.
        assume(not kept or expected.columns.is_unique)
        pd.testing.assert_frame_equal(
            encoded.compute().drop(columns=kept), expected.drop(columns=kept)
        )
        assert_same_schema(encoded, expected)
        for name in chosen:
            encoded = get_dummies(frame[name], dtype="uint8").compute()
            pd.testing.assert_frame_equal(encoded, pd.get_dummies(table[name], dtype="uint8"))


@pytest.mark.filterwarnings("ignore")  # pandas deprecates some dtypes
@pytest.mark.parametrize("is_known", [False, True])
def test_get_dummies_of_every_dtype_equals_that_of_the_categorized_table(is_known):
    """All dtypes that pandas can make categories of, in the columns of one frame."""
    pytest.importorskip("pandas", "3.0")  # before, pandas fails for most Arrow types
    pytest.importorskip("pyarrow")
    columns = {
        case.name: pd.Series(case.make([*islice(cycle(case.rows), 12)]))
        for case in existing("get_dummies of categories", "pandas")
        if case.rows
    }
    assert len(columns) > 100
    with dask.config.set({"scheduler": "synchronous", "dataframe.convert-string": False}):
        table = pd.DataFrame(columns)
        if is_known:
            frame = dd.from_pandas(table, npartitions=2)
        else:
            frame = in_partitions([table[:7], table[7:]])
        encoded = get_dummies(frame, columns=[*columns], dtype="uint8")
        expected = pd.get_dummies(frame.compute().astype("category"), dtype="uint8")
        assert encoded.columns.tolist() == expected.columns.tolist()
        pd.testing.assert_frame_equal(encoded.compute(), expected)


def test_errors_name_column_and_value(frame):
    """A worker raises the error of one process; errors of the schema come before any work."""
    strict = Encoder(["a"]).fit({"a": ["a", "b"]})
    mixed = in_partitions([pd.DataFrame({"a": [["x"], "y"]})])
    for work, error, message in [
        (lambda: Encoder(["A"]).fit(frame), ValueError, "no column 'A': did you mean 'a'"),
        (lambda: Encoder(["a"], handle_missing="error").fit(frame), ValueError,
         r"column 'a': the value is missing"),
        (lambda: strict.transform(frame).compute(), ValueError,
         r"column 'a': 'c' is unknown; .*'a': 'c'$"),
        (lambda: strict.transform(frame, "polars"), ValueError, r"one of .*'csr'.*, got 'polars'"),
        (lambda: Encoder(["a"]).fit(mixed), TypeError, r"column 'a'.*list"),
        (lambda: Encoder().fit(strict.transform(frame, "numpy")), TypeError,
         r"DataFrame or a Series of dask\.dataframe, got an Array"),
        (lambda: strict.check(frame), TypeError, "a DataFrame is split into parts"),
        (lambda: frame.a.onehot.codes(), TypeError, r"lazy .* use series\.compute\(\)\.onehot"),
        (lambda: frame.a.onehot(droop="a"), TypeError, "'droop' is not an option: .* 'drop'"),
        (lambda: frame.a.onehot(Encoder(["a", "c"]).fit(frame)), ValueError,
         r"must encode one column, got \['a', 'c'\]"),
    ]:  # fmt: skip
        with pytest.raises(error, match=message):
            work()


def test_a_lazy_accessor_lacks_the_methods_of_rows_in_memory(frame):
    """They are no attributes, and the error names the call that replaces each."""
    for lazy, loaded, name in [
        (frame.onehot, frame.compute().onehot, "frame"),
        (frame.a.onehot, frame.a.compute().onehot, "series"),
    ]:
        public = {each for each in dir(loaded) if not each.startswith("_")}
        absent = {each for each in public if not hasattr(lazy, each)}
        assert public - absent == {each for each in dir(lazy) if not each.startswith("_")}
        assert "to_arrow" in absent
        assert not any(each in repr(lazy) for each in absent)
        for each in absent:
            with pytest.raises(AttributeError, match=rf"{name}\.compute\(\)\.onehot\.{each}$"):
                getattr(lazy, each)
            with pytest.raises(TypeError):  # as in earlier releases
                getattr(lazy, each)
        with pytest.raises(AttributeError, match=r"no attribute 'to_xml'$"):
            lazy.to_xml()


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="no sched_getaffinity")
def test_a_task_of_dask_starts_no_threads(monkeypatch):
    """A worker has a thread for each processor: a partition does not ask how many there are."""
    asked, affinity = [], os.sched_getaffinity
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: asked.append(pid) or affinity(pid))
    rows = pd.DataFrame({"a": np.arange(1 << 17) % 100})
    large = dd.from_map(lambda i: rows, range(2), meta=rows.iloc[:0])
    encoder = Encoder(["a"], dtype="float64").fit(large)
    get_dummies(large, columns=["a"]).persist(scheduler="threads")
    encoder.transform(large, "numpy").persist(scheduler="threads")

    assert asked == []
    encoder.transform(rows, "numpy")
    assert asked


def test_the_encoder_is_in_the_graph_once():
    """The graph of 20 partitions contains the encoder once, and without its look-up tables."""
    texts = pd.DataFrame({"a": [f"{i:08}" for i in range(10_000)]})
    frame = dd.from_pandas(texts, npartitions=20)
    encoder = Encoder(["a"], dtype="float32").fit(frame)
    encoder.transform(texts, "csr")
    size = len(pickle.dumps(encoder))
    empty = dd.from_map(lambda i: None, range(20), meta=texts.iloc[:0])

    assert size < 10_000 * (8 + 8 + 8 + 4) + 5000  # text, offset, count, output
    for output in (None, "csr"):
        encoded = encoder.transform(empty, output)
        assert len(cloudpickle.dumps(dict(encoded.__dask_graph__()))) < 1.5 * size


# Dask merges the partitions of narrow files, and of files of which it reads few columns.
FILES = [("parquet", 1, 2), ("parquet", 4, 2), ("parquet", 4, 32), ("csv", 1, 2), ("csv", 3, 32)]
FILES += [("hive", 1, 2), ("hive", 2, 32)]


@pytest.mark.parametrize(
    "scheduler", ["threads", pytest.param("processes", marks=pytest.mark.long)]
)
@pytest.mark.parametrize(("kind", "n_files", "n_columns"), FILES)
def test_arrays_of_files_compute(request, tmp_path, kind, n_files, n_columns, scheduler):
    """Arrays of files compute as in memory, optimized or not, alone or with other arrays."""
    rng = np.random.default_rng(0)
    for i in range(n_files):
        numbers = {f"n{j}": rng.random(20) for j in range(n_columns)}
        table = pd.DataFrame({"a": rng.choice([*"xyz"], 20), **numbers})
        if kind == "csv":
            table.to_csv(tmp_path / f"{i}.csv", index=False)
        elif kind == "hive":
            table["year"] = rng.integers(2000, 2003, 20)
            table.to_parquet(tmp_path, partition_cols=["year"])
        else:
            table.to_parquet(tmp_path / f"{i}.parquet")
    frame = dd.read_csv(tmp_path / "*.csv") if kind == "csv" else dd.read_parquet(tmp_path)
    how = {"scheduler": "threads"} if scheduler == "threads" else {}
    if not how:
        request.getfixturevalue("cluster")
    alone = Encoder(["a"], remainder="drop").fit(frame)
    encoders = [(alone, form) for form in ("numpy", "csr", "csc", "codes")]
    if kind != "hive":  # its folders are categories, which a matrix cannot hold
        encoders.append((Encoder(["a"]).fit(frame), "numpy"))
    rows = frame.compute()
    for encoder, form in encoders:
        array, expected = encoder.transform(frame, form), encoder.transform(rows, form)
        for optimize_graph in (True, False):
            computed = array.compute(optimize_graph=optimize_graph, **how)
            assert type(computed) is type(expected)
            np.testing.assert_array_equal(dense(computed), dense(expected))
    total = (alone.transform(frame, "numpy").astype("int64") @ np.ones(3)).sum()
    assert total.compute(**how) == len(rows)


@pytest.fixture(scope="module")
def cluster():
    """Return a client of two processes that restart their workers."""
    distributed = pytest.importorskip("distributed")
    how = {"n_workers": 2, "threads_per_worker": 1, "processes": True}
    local = distributed.LocalCluster(**how, dashboard_address=":0")
    with local, distributed.Client(local) as client:
        yield client


@pytest.fixture
def fragile(tmp_path):
    """Return a frame with a partition that ends the first process that makes it."""
    rows = [["b", "a", "b"], ["c"], [], [None, "b"], ["é"] * 4, ["a"]]
    frames = [pd.DataFrame({"a": np.array(each, object), "n": len(each)}) for each in rows]

    def part(i):
        first_time = tmp_path / str(i)
        if i == 4 and not first_time.exists():
            first_time.touch()
            os._exit(1)
        return frames[i]

    with dask.config.set({"dataframe.convert-string": False}):
        return dd.from_map(part, range(len(rows)), meta=frames[0].iloc[:0]), pd.concat(frames)


@pytest.mark.long
def test_processes_equal_one_process(cluster, frame):
    table = frame.compute()
    encoder = Encoder(handle_missing="indicator", min_frequency=2).fit(frame)

    assert encoder == Encoder(handle_missing="indicator", min_frequency=2).fit(table)
    pd.testing.assert_frame_equal(encoder.transform(frame).compute(), encoder.transform(table))
    pd.testing.assert_frame_equal(
        get_dummies(frame, dtype="uint8").compute(),
        dd.get_dummies(frame.categorize(), dtype="uint8").compute(),
    )
    with pytest.raises(ValueError, match=r"column 'a': 'c' is unknown; .*'a': 'c'$"):
        Encoder(["a"]).fit({"a": ["a", "b"]}).transform(frame).compute()


@pytest.mark.long
@pytest.mark.parametrize("step", ["fit", "transform"])
def test_rows_of_a_worker_that_dies_count_once(cluster, fragile, step):
    """Dask restarts the worker and its lost tasks."""
    frame, whole = fragile
    encoder = Encoder(["a"], min_frequency=2).fit(frame if step == "fit" else whole)

    assert encoder == Encoder(["a"], min_frequency=2).fit(whole)
    assert encoder.features["count"].tolist() == [2, 3, 4, 1]
    encoded = encoder.transform(frame).compute()
    assert encoded.to_numpy().tolist() == encoder.transform(whole).to_numpy().tolist()
