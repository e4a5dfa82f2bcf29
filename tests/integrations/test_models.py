"""What libraries of models make of codes, indices and categories."""

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
