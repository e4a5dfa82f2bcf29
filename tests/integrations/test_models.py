"""What libraries of models make of codes, indices, categories and sparse matrices."""

import re
from pathlib import Path

import numpy as np
import pytest

from onehot_fast import Encoder

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
PLANS, SIZES = ["free", "pro", "team", None], [1.0, 2.0, None]


def tables():
    """Return rows to learn of, rows with values that are new, and what is to be predicted."""
    rng = np.random.default_rng(0)
    train = {"plan": rng.choice(PLANS, 400), "size": rng.choice(SIZES, 400)}
    target = (train["plan"] == "pro") ^ (train["size"] == 2.0)
    test = {"plan": np.array(["pro", None, "new", "free"], object),
            "size": np.array([2.0, 1.0, 1.0, 7.0], object)}  # fmt: skip
    return train, test, target.astype(np.float32)


TABLE = Path(__file__).parents[2] / "docs" / "forms.md"


def documented_sparse():
    """Yield the form, the dtype, the library and the answer of each cell of the documentation."""
    lines = TABLE.read_text().partition("## Gradient boosting")[2].splitlines()
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in lines if line[:1] == "|"
    ]
    (_, _, *libraries), _, *rest = rows
    for form, dtypes, *answers in rest:
        for dtype in dtypes.split(","):
            for library, answer in zip(libraries, answers, strict=True):
                yield form.strip('`"'), dtype.strip('` "'), library.lower(), answer


def booster(library, **options):
    """Return a classifier of few trees."""
    module = pytest.importorskip(library)
    if library == "lightgbm":
        return module.LGBMClassifier(
            n_estimators=3, verbose=-1, min_child_samples=1, n_jobs=1, **options
        )
    if library == "xgboost":
        return module.XGBClassifier(n_estimators=3, n_jobs=1, enable_categorical=True, **options)
    options |= {"iterations": 3, "verbose": 0, "allow_writing_files": False, "thread_count": 1}
    return module.CatBoostClassifier(**options)


def learns(model, rows, target):
    """Tell whether a model is fitted and predicts the target."""
    return (model.fit(rows, target).predict(rows) == target).all()


def test_documentation_names_every_sparse_form_and_library():
    cells = {cell[:3] for cell in documented_sparse()}
    assert len(cells) == len([*documented_sparse()]) == 3 * 4 * 3
    assert {answer for *_, answer in documented_sparse()} == {"yes", "no"}


@pytest.mark.filterwarnings("ignore:Converting data to scipy sparse matrix")
@pytest.mark.parametrize(("form", "dtype", "library", "answer"), [*documented_sparse()])
def test_boosting_accepts_the_sparse_forms_of_the_documentation(form, dtype, library, answer):
    """If the documentation says "no", the library raises an error in `fit` or in `predict`."""
    model = booster(library)
    rows = {"plan": np.array(["free", "pro", "team", "pro"] * 20)}
    target = (rows["plan"] == "pro").astype(int)
    matrix = Encoder(dtype=dtype).fit(rows).transform(rows, form)

    if answer == "yes":
        assert learns(model, matrix, target)
    else:
        with pytest.raises(
            Exception, match=r"(?i)dataset|expected|not supported|invalid data type"
        ):
            learns(model, matrix, target)


def ages():
    """Return a frame with a column of intervals, and a target."""
    pandas = pytest.importorskip("pandas")
    years = np.arange(80) % 40.0 + 1
    frame = pandas.DataFrame({"age": pandas.cut(years, [-10, 0, 10, 20, 50])})
    return frame, (years > 20).astype(int)


@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
def test_intervals_become_text_for_boosting(library):
    """The library rejects them as categories and in names; the documented steps help."""
    frame, target = ages()
    encoder = Encoder().fit(frame)
    features = encoder.transform(frame)
    for rows in (features, encoder.transform(frame, "category")):
        with pytest.raises(Exception, match=r"special JSON|Circular|may not contain|has no len"):
            learns(booster(library), rows, target)

    renamed = features.rename(columns=lambda name: re.sub(r"[^\w.-]+", "_", name))
    assert learns(booster(library), renamed, target)
    assert learns(booster(library), encoder.transform(frame, "numpy"), target)
    frame["age"] = frame["age"].cat.rename_categories(str)
    assert learns(booster(library), Encoder().fit_transform(frame, output="category"), target)


def test_catboost_takes_codes_but_no_missing_category():
    frame, target = ages()
    frame["age"] = frame["age"].cat.rename_categories(str)
    frame.loc[3, "age"] = None
    encoder = Encoder().fit(frame)

    with pytest.raises(Exception, match="NaN"):
        learns(
            booster("catboost", cat_features=["age"]), encoder.transform(frame, "category"), target
        )
    assert learns(booster("catboost", cat_features=[0]), encoder.transform(frame, "codes"), target)


def test_keras_embeds_indices():
    """An index picks its row of the embedding, those of unknown and missing values too."""
    keras = pytest.importorskip("keras")
    train, test, target = tables()
    encoder = Encoder(handle_unknown="ignore").fit(train)
    n_rows = sum(encoder.cardinalities.values())
    embedding = keras.layers.Embedding(n_rows, 3)
    model = keras.Sequential(
        [embedding, keras.layers.Flatten(), keras.layers.Dense(1, activation="sigmoid")]
    )
    model.compile("sgd", "binary_crossentropy")
    model.fit(encoder.transform(train, "indices"), target, epochs=1, verbose=0)
    indices = encoder.transform(test, "indices")

    weights = embedding.get_weights()[0]
    found = keras.ops.convert_to_numpy(embedding(indices))
    np.testing.assert_array_equal(found, weights[indices])
    assert weights.shape == (n_rows, 3)


def frames(library):
    """Return both tables as frames with columns of categories, of an encoder of the first."""
    module = pytest.importorskip(library)
    train, test, _ = tables()
    frames = [
        module.DataFrame({name: values.tolist() for name, values in each.items()})
        for each in (train, test)
    ]
    encoder = Encoder(handle_unknown="ignore").fit(frames[0])
    return tuple(encoder.transform(frame, "category") for frame in frames)


def test_lightgbm_takes_categories_and_codes():
    """Trees of categories by their dtype, and of codes by their columns; both tell rows apart."""
    lightgbm = pytest.importorskip("lightgbm")
    train, test, target = tables()
    options = {"verbose": -1, "min_data_per_group": 1, "cat_smooth": 0, "min_data_in_leaf": 1,
               "num_threads": 1, "objective": "binary", "seed": 0}  # fmt: skip
    encoder = Encoder(handle_unknown="ignore").fit(train)
    codes = encoder.transform(train, "codes")
    data = lightgbm.Dataset(codes, target, categorical_feature=[0, 1], free_raw_data=False)
    by_code = lightgbm.train(options, data, 30)
    learned, rows = frames("pandas")
    by_category = lightgbm.train(options, lightgbm.Dataset(learned, target), 30)

    for booster, known, new in (
        (by_code, codes, encoder.transform(test, "codes")),
        (by_category, learned, rows),
    ):
        np.testing.assert_array_equal(booster.predict(known) > 0.5, target == 1)
        assert booster.predict(new)[:2].round().tolist() == [0, 0]


@pytest.mark.parametrize("form", ["pandas", "polars", "codes"])
def test_xgboost_takes_categories_and_codes(form):
    """Unknown and missing values are missing to it, and categories the same in every table."""
    xgboost = pytest.importorskip("xgboost")
    train, test, target = tables()
    options = {}
    if form == "codes":
        encoder = Encoder(handle_unknown="ignore").fit(train)
        learned, rows = encoder.transform(train, "codes"), encoder.transform(test, "codes")
        options["feature_types"] = ["c", "c"]
    else:
        learned, rows = frames(form)
    model = xgboost.XGBClassifier(n_estimators=30, enable_categorical=True, n_jobs=1, **options)

    model.fit(learned, target)

    np.testing.assert_array_equal(model.predict(learned), target)
    predicted = model.predict(rows)
    assert predicted.shape == (4,)
    assert form == "codes" or predicted[:2].tolist() == [0, 0]


@pytest.mark.parametrize("missing", ["ignore", "propagate"])
def test_csr_has_the_input_and_the_offsets_of_an_embedding_bag(missing):
    """The bag returns the product of the features and the embeddings, also for an empty row."""
    torch = pytest.importorskip("torch")
    films = {"genres": ["comedy|drama", "", None, "drama"], "year": [1990.0, 2001.0, 1987.0, 0.0]}
    options = {"sep": "|", "handle_missing": missing, "dtype": "float32"}
    encoder = Encoder(["genres"], **options).fit(films)
    matrix = encoder.transform(films, "csr").astype("float32")

    bag = torch.nn.EmbeddingBag(matrix.shape[1], 5, mode="sum")
    embedded = bag(
        torch.from_numpy(matrix.indices),
        torch.from_numpy(matrix.indptr[:-1]),
        per_sample_weights=torch.from_numpy(matrix.data),
    )

    expected = matrix.toarray() @ bag.weight.detach().numpy()
    assert np.isnan(expected).any(axis=1).tolist() == [False, False, missing == "propagate", False]
    np.testing.assert_allclose(embedded.detach().numpy(), expected, rtol=1e-5)
    # Ones need no weights.
    plain = Encoder(["genres"], sep="|", remainder="drop").fit(films).transform(films, "csr")
    bag = torch.nn.EmbeddingBag(plain.shape[1], 5, mode="sum")
    embedded = bag(torch.from_numpy(plain.indices), torch.from_numpy(plain.indptr[:-1]))
    expected = plain.toarray() @ bag.weight.detach().numpy()
    np.testing.assert_allclose(embedded.detach().numpy(), expected, rtol=1e-5)
