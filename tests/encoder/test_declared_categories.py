"""`categories=` reads every container of values alike, and a dtype as its categories."""

import numpy as np
import pytest

from onehot_fast import Encoder

pd = pytest.importorskip("pandas")

SIZES = pd.Series(["M", "S"], dtype=pd.CategoricalDtype(["L", "S", "M"]))


@pytest.mark.parametrize(
    "container",
    [
        list, np.asarray, pd.Index, pd.CategoricalIndex, pd.Series, pd.Categorical,
        lambda series: series.unique(), lambda series: series.dropna().unique(),
    ],
    ids=["list", "array", "Index", "CategoricalIndex", "Series", "Categorical", "unique", "FAQ"],
)  # fmt: skip
@pytest.mark.parametrize("is_category", [True, False])
def test_values_are_the_categories_in_their_order(container, is_category):
    series = SIZES if is_category else SIZES.astype(object)
    encoder = Encoder(categories={"size": container(series)}).fit({"size": ["S", "M"]})

    assert encoder.get_feature_names_out().tolist() == ["size_M", "size_S"]


@pytest.mark.parametrize("declared", [SIZES.dtype, SIZES.cat.categories], ids=["dtype", "Index"])
def test_a_dtype_declares_all_of_its_categories(declared):
    encoder = Encoder(categories={"size": declared}).fit({"size": ["S", "M"]})

    assert encoder.get_feature_names_out().tolist() == ["size_L", "size_S", "size_M"]


@pytest.mark.parametrize("container", [pd.Series, pd.Categorical, pd.CategoricalIndex])
def test_repeated_values_are_an_error_in_every_container(container):
    with pytest.raises(ValueError, match=r"categories\['size'\]\[2\] must differ.*unique\(\)"):
        Encoder(categories={"size": container([*SIZES, "M"])})


def test_too_many_default_features_name_codes():
    table = {name: [f"{i:05}" for i in range(60_000)] for name in ("one", "two")}

    with pytest.raises(ValueError, match=r"columns=\[.*output='codes'"):
        Encoder().fit(table)
