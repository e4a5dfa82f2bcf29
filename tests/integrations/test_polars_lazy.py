"""``Expr.onehot``, ``DataFrame.onehot`` and ``LazyFrame.onehot``: one schema, in both engines."""

import re
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pl = pytest.importorskip("polars")

from polars import selectors as cs  # noqa: E402  after the skip above

import onehot_fast.integrations.polars  # noqa: E402, F401
from onehot_fast import Encoder  # noqa: E402
from support.polars_strategies import LETTERS, matrix, series  # noqa: E402  after the skip above

SIZES = pl.Enum(["S", "M", "L"])
FRAME = pl.DataFrame(
    {"n": [1, 2, 3], "size": ["S", None, "L"], "kind": list("xyx"), "m": [0, 1, 2]},
    schema_overrides={"size": SIZES},
)
try:
    FRAME.lazy().collect(engine="streaming")
except ValueError:  # before polars 1.25 the engines have other names
    ENGINES = ("cpu",)
else:
    ENGINES = ("in-memory", "streaming")
# Before polars 2.0 even a selector by name takes such names for patterns.
takes_any_name = pytest.mark.skipif(
    pl.DataFrame({"*": [1], "^b$": [1], "b": [1]}).select(cs.by_name("*", "^b$")).columns
    != ["*", "^b$"],
    reason="this polars takes some names for patterns",
)
# Older ones wrap what Python raises.
REFUSED = (ValueError, pl.exceptions.ComputeError)
every_engine = pytest.mark.parametrize("engine", ENGINES)
LAYOUTS = st.sampled_from(["array", "struct"])
CHANGES = {"drop": "first", "handle_missing": "indicator", "prefix": "is"}


def big(n_rows=300_000):
    """Return a frame that the streaming engine cuts into batches."""
    codes = np.random.default_rng(0).integers(0, 100, n_rows)
    sizes = np.array(["S", "M", "L"], object)[codes % 3]
    return pl.DataFrame({"size": pl.Series(sizes).cast(SIZES), "code": codes}).with_columns(
        text=pl.col("code").cast(pl.String)
    )


class TestExpr:
    """Expressions."""

    @given(
        column=series([pl.String, pl.Categorical, LETTERS, pl.Int16, pl.Date, pl.Boolean]),
        layout=LAYOUTS,
        dtype=st.sampled_from([None, pl.Boolean, pl.Float32, "int64"]),
        engine=st.sampled_from(ENGINES),
        changed=st.sets(st.sampled_from([*CHANGES])),
    )
    def test_an_expression_equals_the_series(self, column, layout, dtype, engine, changed):
        """In the schema, too, which does not depend on the rows."""
        options = {name: CHANGES[name] for name in changed}
        expected = column.onehot(dtype="uint8", **options)
        element = pl.Boolean if layout == "struct" else pl.UInt8
        element = {None: element, "int64": pl.Int64}.get(dtype, dtype)
        categories = sorted(column.drop_nulls().unique().to_list())
        categories = None if column.dtype == pl.Enum else categories  # the dtype declares them
        chosen = {} if dtype is None else {"dtype": dtype}
        expr = pl.col("k").onehot(categories, layout=layout, **chosen, **options)

        query = column.to_frame().lazy().select(expr)
        result = query.collect(engine=engine)

        assert result.schema == query.collect_schema()
        assert len(result) == len(column)
        if layout == "struct":
            assert result.dtypes == [pl.Struct(dict.fromkeys(expected.columns, element))]
            values = matrix(result.unnest("k"), len(column))
        else:
            assert result.dtypes == [pl.Array(element, expected.width)]
            values = result["k"].to_numpy().reshape(len(column), expected.width)
        np.testing.assert_array_equal(values, matrix(expected, len(column)))

    @pytest.mark.parametrize("dtype", [pl.String, pl.Categorical, pl.Int64], ids=str)
    def test_a_dtype_must_declare_categories(self, dtype):
        """What to type instead is said once the rows come; before, polars hides all errors."""
        frame = pl.DataFrame({"k": ["1", "2"]}, schema={"k": dtype}, strict=False)
        message = rf"'k' of dtype {dtype}.* pl.col\('k'\).onehot\(\[...\]\) to declare"

        with pytest.raises(TypeError, match=message):
            frame.select(pl.col("k").onehot())
        with pytest.raises(TypeError, match=message):
            frame.lazy().select(pl.col("k").onehot()).collect(engine=ENGINES[-1])

    def test_an_array_is_the_kernels_memory(self):
        column = FRAME.select(pl.col("size").onehot(SIZES))["size"]

        assert column.to_numpy(allow_copy=False).tolist() == [[1, 0, 0], [0, 0, 0], [0, 0, 1]]

    def test_an_encoder_knows_the_categories(self):
        encoder = Encoder(["kind", "size"], dtype="int8").fit(FRAME)
        alone = Encoder(["kind"], dtype="int8").fit(FRAME)

        result = FRAME.select(
            pl.col("kind").onehot(encoder), other=pl.col("kind").alias("x").onehot(alone)
        )

        assert result.dtypes == [pl.Array(pl.Int8, 2)] * 2
        assert result["kind"].to_list() == result["other"].to_list() == [[1, 0], [0, 1], [1, 0]]
        with pytest.raises(ValueError, match="got 'm'"):
            pl.col("m").onehot(encoder)

    def test_expressions_run_in_every_context(self):
        one = pl.col("kind").onehot(["x", "y"])
        rows = [[1, 0], [0, 1], [1, 0]]

        assert FRAME.select(one.over("m"))["kind"].to_list() == rows
        groups = FRAME.group_by("kind", maintain_order=True).agg(k=one)
        assert groups["k"].to_list() == [[[1, 0], [1, 0]], [[0, 1]]]
        several = FRAME.select(pl.col("n", "m").onehot([0, 1, 2, 3]))
        assert several["m"].to_list() == [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]]
        assert FRAME.select(pl.lit("y").onehot(["x", "y"])).item().to_list() == [0, 1]

    @every_engine
    def test_unknown_values_are_rejected_or_ignored(self, engine):
        lazy = FRAME.lazy()
        refused = lazy.select(pl.col("kind").onehot(["x"]))
        ignored = lazy.select(pl.col("kind").onehot(["x"], handle_unknown="ignore"))

        assert ignored.collect(engine=engine)["kind"].to_list() == [[1], [0], [1]]
        with pytest.raises(REFUSED, match="column 'kind': 'y' is unknown"):
            refused.collect(engine=engine)

    @every_engine
    def test_messages_about_batches_contain_no_row_numbers_and_counts(self, engine):
        """Polars splits a column into batches, so that neither is that of the whole column."""
        chunks = [pl.Series("c", ["a"] * 1000), pl.Series("c", ["a", "b", None] * 1000)]
        lazy = pl.concat(chunks, rechunk=False).to_frame().lazy()
        warning = lazy.select(pl.col("c").onehot(["a"], handle_unknown="warn"))

        for options in ({}, {"handle_unknown": "ignore", "handle_missing": "error"}):
            refused = lazy.select(pl.col("c").onehot(["a"], **options))
            with pytest.raises(REFUSED, match="column 'c': ") as raised:
                refused.collect(engine=engine)
            assert not re.search("[0-9]", str(raised.value))
        with pytest.warns(UserWarning, match="in 'c': 'b'") as warned:
            warning.collect(engine=engine)
        assert not any(re.search("[0-9]", str(each.message)) for each in warned)

    @pytest.mark.parametrize(
        ("call", "kind", "message"),
        [
            (lambda k: k.onehot("auto"), ValueError, "'auto'"),
            (lambda k: k.onehot(["a"], layout="list"), ValueError, "got 'list'"),
            (lambda k: k.onehot(["a", "a"]), ValueError, "must differ from categories"),
            (lambda k: k.onehot(["a"], drop="z"), ValueError, "must be one of the categories"),
            (lambda k: k.onehot(["a"], drop="most_frequent"), ValueError, "no rows to count"),
            (lambda k: k.onehot(["a"], dtype="complex64"), TypeError, "got complex64"),
            (lambda k: k.onehot(["a"], min_frequency=2), TypeError, "min_frequency"),
            (lambda k: k.onehot(Encoder()), RuntimeError, "not fitted"),
            (lambda k: k.onehot(Encoder(), dtype="int8"), TypeError, "dtype= cannot be combined"),
            (lambda k: pl.all().onehot(["a"], layout="struct"), ValueError, "no single name"),
        ],
    )
    def test_invalid_options_are_rejected(self, call, kind, message):
        with pytest.raises(kind, match=message):
            call(pl.col("k"))


class TestFrames:
    """DataFrames and LazyFrames."""

    @given(data=st.data(), engine=st.sampled_from(ENGINES))
    def test_lazy_equals_eager(self, data, engine):
        n_rows = data.draw(st.integers(0, 9))
        table = pl.DataFrame([data.draw(series(n_rows=n_rows)).alias(name) for name in "abc"])
        encoder = Encoder(["a", "c"], dtype={"c": "float32"}).fit(table)
        shuffled = table.select(data.draw(st.permutations("abc")))

        eager = shuffled.onehot(encoder)
        query = shuffled.lazy().onehot(encoder)

        assert eager.equals(encoder.transform(shuffled))
        assert query.collect_schema() == eager.schema
        assert query.collect(engine=engine).equals(eager)

    @given(data=st.data(), options=st.sampled_from([{}, {"min_frequency": 2}, {"drop": "first"}]))
    def test_a_lazy_fit_is_a_fit(self, data, options):
        table = pl.DataFrame([data.draw(series(n_rows=9)).alias(name) for name in "ab"])

        encoder = table.lazy().onehot.fit(["a", "b"], **options)

        assert encoder.to_json() == table.onehot.fit(["a", "b"], **options).to_json()

    def test_streaming_from_a_file_into_a_file(self, tmp_path):
        table = big()
        table.write_parquet(tmp_path / "in.parquet")
        lazy = pl.scan_parquet(tmp_path / "in.parquet")
        columns, options = ["size", "text", "code"], {"min_frequency": {"code": 3010}}
        encoder = lazy.onehot.fit(columns, **options)
        query = lazy.onehot(encoder)

        schema = query.collect_schema()
        query.sink_parquet(tmp_path / "out.parquet")

        expected = table.onehot(encoder)
        assert pl.read_parquet_schema(tmp_path / "out.parquet") == schema == expected.schema
        assert pl.read_parquet(tmp_path / "out.parquet").equals(expected)
        assert query.filter(pl.col("text_7")).collect(engine="streaming").height > 0
        assert encoder == table.onehot.fit(columns, **options)
        assert "code_(infrequent)" in expected.columns

    def test_threads_do_not_disturb_each_other(self):
        table = big(20_000)
        query = table.lazy().onehot(["size", "code"], categories={"code": range(100)})
        expected = table.onehot(["size", "code"], categories={"code": range(100)})

        with ThreadPoolExecutor(4) as pool:
            results = list(pool.map(lambda _: query.collect(engine=ENGINES[-1]), range(8)))

        assert all(result.equals(expected) for result in results)

    @takes_any_name
    @every_engine
    @pytest.mark.parametrize("name", ["*", "^.*$", "^k$", "k\0", ""])
    def test_a_column_may_have_any_name(self, name, engine):
        table = pl.Series(list("aba")).alias(name).to_frame().with_columns(k=pl.Series(list("xyz")))
        query = table.lazy()
        encoder = query.onehot.fit([name], prefix="", prefix_sep="")
        expected = table.onehot([name], prefix="", prefix_sep="")

        declared = query.onehot([name], categories={name: ["a", "b"]}, prefix="", prefix_sep="")

        assert expected.columns == ["a", "b", "k"]
        assert query.onehot(encoder).collect(engine=engine).equals(expected)
        assert declared.collect(engine=engine).equals(expected)

    @takes_any_name
    @every_engine
    def test_an_output_may_have_any_name(self, engine):
        table = pl.DataFrame({"n": [1, 2], "k": ["*", "^n$"], "j": ["^.*$", "u"]})
        encoder = Encoder(["j", "k"], prefix="", prefix_sep="").fit(table.select("j", "k"))

        result = table.lazy().onehot(encoder).collect(engine=engine)

        assert result.equals(encoder.transform(table))

    def test_a_table_without_columns_to_encode_is_unchanged(self):
        numbers = FRAME.select("n", "m")

        for encode in (numbers.onehot, lambda: numbers.lazy().onehot().collect()):
            with pytest.warns(UserWarning, match="nothing is encoded"):
                assert encode().equals(numbers)
        if not hasattr(pl.LazyFrame, "collect_batches"):
            return  # `fit` is refused
        with pytest.warns(UserWarning, match="nothing is encoded"):
            assert numbers.lazy().onehot.fit().n_features == 0

    @every_engine
    def test_a_column_may_have_no_features(self, engine):
        table = pl.DataFrame({"k": ["a", "a"], "n": [1, 2]})
        query = table.lazy().onehot(["k"], categories=["a"], drop="first")

        assert query.collect(engine=engine).rows() == [(1,), (2,)]
        assert table.onehot(["k"], drop="first").rows() == [(1,), (2,)]

    @pytest.mark.parametrize("frame", [FRAME, FRAME.lazy()], ids=["eager", "lazy"])
    @pytest.mark.parametrize(
        "columns", [cs.string(), pl.col("kind"), cs.starts_with("k") | cs.by_name("kind")]
    )
    def test_selectors_choose_columns(self, frame, columns):
        encoder = frame.onehot.fit(columns, remainder="drop")
        names = ["kind_x", "kind_y"]

        assert encoder.columns == ("kind",)
        assert frame.onehot(encoder).lazy().collect().columns == names
        declared = frame.onehot(columns, categories={"kind": ["x", "y"]}, remainder="drop")
        assert declared.lazy().collect().columns == names
        with pytest.raises(TypeError, match="requires a polars DataFrame"):
            Encoder(columns).fit({"kind": ["x"]})

    @pytest.mark.parametrize(
        ("columns", "options", "message"),
        [
            (None, {}, "the categories of column 'kind' of dtype String are not declared"),
            (["m", "size"], {"categories": {"size": ["S"]}}, "column 'm' of dtype Int64"),
            (None, {"categories": {"kind": ["x"], "m": [1]}, "min_frequency": {"m": 2}}, "2 .*'m'"),
            (["size"], {"max_categories": 2}, "max_categories = 2 needs the frequency"),
            (["size"], {"drop": {"size": "most_frequent"}}, "drop = 'most_frequent' needs the"),
        ],
        ids=str,
    )
    def test_options_that_need_rows_are_rejected(self, columns, options, message):
        with pytest.raises(ValueError, match=message) as raised:
            FRAME.lazy().onehot(columns, **options)

        assert "lazyframe.onehot.fit" in str(raised.value)

    def test_a_missing_value_in_a_lazy_fit_is_rejected(self):
        with pytest.raises(ValueError, match="column 'size': the value is missing"):
            FRAME.lazy().onehot.fit(["size"], handle_missing="error")


requires_expressions = pytest.mark.skipif(
    tuple(map(int, pl.__version__.split(".")[:2])) < (1, 32),
    reason="Encoder.expressions needs polars 1.32",
)


@requires_expressions
class TestChecksOfExpressions:
    """The expressions of one column share a check, which every query runs."""

    @every_engine
    @pytest.mark.parametrize(
        ("value", "options", "word"),
        [
            ("zz", {}, "unknown"),
            (None, {"handle_missing": "error"}, "missing"),
            (None, {"handle_missing": "error", "handle_unknown": "ignore"}, "missing"),
        ],
    )
    def test_the_error_names_the_column_and_the_remedy(self, engine, value, options, word):
        encoder = Encoder(["plan"], **options).fit({"plan": ["free", "pro", "team"]})
        lazy = pl.LazyFrame({"plan": ["pro", value]}, schema={"plan": pl.String})

        for feature in encoder.expressions(lazy):
            with pytest.raises(
                pl.exceptions.PolarsError, match=f"column 'plan'.* {word}"
            ) as raised:
                lazy.select(feature).collect(engine=engine)
            assert "encoder.check" in str(raised.value)

    @every_engine
    def test_rows_that_are_not_encoded_are_not_checked(self, engine):
        """Whatever polars folds, pushes down or reorders; a literal is a constant for it."""
        encoder = Encoder(["plan"], handle_missing="error").fit({"plan": ["free", "pro"]})
        plans = pl.Series("plan", ["pro", "zz", None])
        lazy = pl.DataFrame({"plan": plans, "n": [1, 2, 3]}).lazy()
        features = encoder.expressions(lazy)
        known = pl.LazyFrame({"n": [1]}).with_columns(plan=pl.lit("pro"))
        cases = [
            (lazy.head(0).select(features), []),
            (lazy.filter(pl.lit(False)).select(features), []),
            (lazy.filter(n=1).select(features), [(False, True)]),
            (lazy.filter(pl.col("plan").is_in(["free", "pro"])).select(features), [(False, True)]),
            (known.select(features), [(False, True)]),
            (known.with_columns(features).filter("plan_pro").select("plan_free"), [(False,)]),
            (known.filter(pl.lit(False)).select(features), []),
            (
                pl.LazyFrame({"n": []}).with_columns(plan=pl.lit("zz")).select(features),
                [],
            ),
        ]
        for query, expected in cases:
            assert query.collect(engine=engine).rows() == expected

    @every_engine
    def test_a_constant_that_is_unknown_is_rejected(self, engine):
        encoder = Encoder(["plan"]).fit({"plan": ["free", "pro"]})
        lazy = pl.LazyFrame({"n": [1, 2]}).with_columns(plan=pl.lit("zz"))

        for name in encoder.get_feature_names_out():
            query = lazy.select(encoder.expressions(lazy)).select(name)
            with pytest.raises(pl.exceptions.PolarsError, match=r"'plan'.* unknown"):
                query.collect(engine=engine)

    @pytest.mark.parametrize("n_categories", [2, 600, 2500])
    def test_the_check_is_planned_once(self, n_categories):
        """Each list of categories has one look-up, however many features compare the value."""
        encoder = Encoder(["c"]).fit({"c": range(n_categories)})
        lazy = pl.LazyFrame({"c": [1]})

        plan = lazy.select(encoder.expressions(lazy)[:20]).explain()
        assert plan.count(".is_in(") == -(-n_categories // 500)

    @pytest.mark.parametrize("n_categories", [2, 600, 2500])
    def test_strings_are_cast_to_codes_once(self, n_categories):
        names = [f"k{i}" for i in range(n_categories)]
        encoder = Encoder(["c"]).fit({"c": names})
        lazy = pl.LazyFrame({"c": names[:1]})

        plan = lazy.select(encoder.expressions(lazy)[:20]).explain()
        assert plan.count("strict_cast(Enum") == 1

    def test_an_enum_of_known_categories_is_not_checked(self):
        """Its dtype has no other values; an Enum with more categories is checked."""
        sizes = pl.Series("c", ["S", "L"], pl.Enum(["S", "M", "L"]))
        known = Encoder(["c"]).fit(sizes.to_frame())
        fewer = Encoder(["c"]).fit(sizes.cast(pl.Enum(["S", "L"])).to_frame())
        lazy = sizes.to_frame().lazy()

        assert "is_in" not in lazy.select(known.expressions(lazy)).explain()
        assert lazy.select(fewer.expressions(lazy)).explain().count(".is_in(") == 1
        assert lazy.select(fewer.expressions(lazy)).collect().rows() == [
            (True, False),
            (False, True),
        ]

    @every_engine
    @pytest.mark.parametrize("by", ["filter", "with_columns", "group_by", "sort"])
    def test_a_feature_in_any_part_of_a_query_is_checked(self, engine, by):
        """Also as a condition, where polars splits and reorders the parts of a conjunction."""
        encoder = Encoder(["n"]).fit({"n": [1, 2]})
        lazy = pl.LazyFrame({"n": [1, 2, 3]})
        feature = encoder.expressions(lazy)[0]
        query = lazy.group_by(feature).len() if by == "group_by" else getattr(lazy, by)(feature)

        with pytest.raises(pl.exceptions.PolarsError, match=r"'n'.* unknown"):
            query.collect(engine=engine)

    @every_engine
    @pytest.mark.parametrize(
        "column",
        [
            pl.Series([1, 2, 3]),
            pl.Series([1.0, 2.0, 3.0]),
            pl.Series([1, 2, 3], dtype=pl.Int8),
            pl.Series([1, 2, 3], dtype=pl.Decimal(5, 2)),
            pl.Series([1, 2, 3]).cast(pl.Date),
            pl.Series([1000, 2000, 3000]).cast(pl.Time),
            pl.Series([1, 2, 3]).cast(pl.Duration("ms")),
            pl.Series([1, 2, 3]).cast(pl.Datetime("us", "Europe/Paris")),
            pl.Series(["a", "b", "c"]),
            pl.Series([b"a", b"b", b"c"]),
            pl.Series(["a", "b", "c"], dtype=pl.Categorical),
            pl.Series(["a", "b", "c"], dtype=pl.Enum(["a", "b", "c"])),
        ],
        ids=lambda column: str(column.dtype.base_type()),
    )
    @pytest.mark.parametrize("options", [{}, {"handle_missing": "error"}])
    def test_each_feature_of_each_dtype_rejects_an_unknown_value(self, engine, column, options):
        frame = column.alias("c").to_frame()
        lazy, known = frame.lazy(), frame[:2]
        encoder = Encoder(["c"], categories={"c": column[:2].to_list()}, **options).fit(known)

        for feature in encoder.expressions(lazy):
            with pytest.raises(pl.exceptions.PolarsError, match=r"'c'.* unknown"):
                lazy.select(feature).collect(engine=engine)
        found = known.lazy().select(encoder.expressions(lazy)).collect(engine=engine)
        assert found.equals(encoder.transform(known))

    def test_many_categories_are_looked_up(self):
        """Keys in several lists; each code is found in its own list."""
        names = [f"k{i}" for i in range(1700)]
        frame = pl.DataFrame({"c": [*names[::3], None]})
        encoder = Encoder(["c"]).fit({"c": names})

        lazy = frame.lazy()
        assert lazy.select(encoder.expressions(lazy)).collect().equals(encoder.transform(frame))

    def test_the_schema_is_listed_once(self):
        """The cost of writing expressions grows linearly with the number of columns."""
        calls = []

        class Counted(pl.Schema):
            def dtypes(self):
                calls.append(1)
                return super().dtypes()

        class Frame(pl.LazyFrame):
            def collect_schema(self):
                return Counted(super().collect_schema())

        names = [f"c{i}" for i in range(30)]
        encoder = Encoder(names).fit({name: ["a"] for name in names})
        frame = Frame({name: ["a"] for name in names})
        Frame.__module__ = "polars"

        assert len(encoder.expressions(frame)) == 30
        assert len(calls) == 1


@pytest.mark.parametrize("lazy", [pl.LazyFrame({"a": ["x"]}), pl.col("a")], ids=["frame", "expr"])
def test_the_error_for_an_unknown_option_lists_all_options(lazy):
    with pytest.raises(TypeError, match=r"'order' is not an option.*'num_threads'"):
        lazy.onehot(["a"], order=1)
