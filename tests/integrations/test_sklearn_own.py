"""The tests of the installed scikit-learn pass with our classes."""

import pytest

from support.redirect import run_redirected

pytest.importorskip("sklearn")

import sklearn
from sklearn import preprocessing
from sklearn.utils.estimator_checks import check_estimator

from onehot_fast.integrations.sklearn import (
    KBinsDiscretizer,
    LabelBinarizer,
    MultiLabelBinarizer,
    OneHotEncoder,
    OrdinalEncoder,
    TargetEncoder,
)

METHODS = "fit", "fit_transform", "transform", "inverse_transform"
# scikit-learn's tests: how many must pass, and what must be called at least ten times.
MODULES = {
    "sklearn.preprocessing.tests.test_encoders": (
        250,
        [f"{kind}.{name}" for kind in ("OneHotEncoder", "OrdinalEncoder") for name in METHODS],
    ),
    "sklearn.preprocessing.tests.test_discretization": (
        90,
        [f"KBinsDiscretizer.{name}" for name in ("fit", "transform", "inverse_transform")],
    ),
    "sklearn.preprocessing.tests.test_target_encoder": (
        50,  # scikit-learn 1.9 has 65
        ["TargetEncoder.fit_transform", "TargetEncoder.transform"],
    ),
    "sklearn.preprocessing.tests.test_label": (
        55,  # as in scikit-learn 1.6
        [f"MultiLabelBinarizer.{name}" for name in METHODS]
        + [f"LabelBinarizer.{name}" for name in ("fit", "fit_transform", "inverse_transform")]
        + ["label_binarize"],
    ),
    # Code that uses the classes.
    "sklearn.tests.test_multiclass": (50, ["LabelBinarizer.fit_transform", "label_binarize"]),
    "sklearn.compose.tests.test_column_transformer": (200, ["OneHotEncoder.fit_transform"]),
}
ESTIMATORS = [
    OneHotEncoder(),
    OneHotEncoder(sparse_output=False, drop="first"),
    OneHotEncoder(drop="if_binary", handle_unknown="ignore"),
    OneHotEncoder(max_categories=3, handle_unknown="infrequent_if_exist"),
    OneHotEncoder(min_frequency=2, handle_unknown="warn"),
    OrdinalEncoder(),
    OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, max_categories=3),
    TargetEncoder(),
    TargetEncoder(smooth=2.0, target_type="continuous"),
    KBinsDiscretizer(),
    KBinsDiscretizer(encode="onehot-dense", strategy="uniform"),
    KBinsDiscretizer(encode="ordinal"),
    LabelBinarizer(),
    LabelBinarizer(neg_label=-2, pos_label=0),
    LabelBinarizer(sparse_output=True, pos_label=3),
    MultiLabelBinarizer(),
    MultiLabelBinarizer(sparse_output=True),
    MultiLabelBinarizer(classes=[2, 0, 1]),
]


@pytest.mark.long
@pytest.mark.parametrize("module", MODULES)
def test_scikit_learn_own_module_passes(module, tmp_path):
    """Every test of the classes, and of code that uses them, passes with ours."""
    n_passed, names = MODULES[module]
    # scikit-learn 1.8 fails with newer releases of polars.
    is_about_others = not module.startswith("sklearn.preprocessing")
    chosen = ["-k", "not polars and not libraries"] if is_about_others else []
    env = {} if is_about_others else {"SCIPY_ARRAY_API": "1"}

    calls = dict.fromkeys(names, 10)
    run_redirected("sklearn_redirect", tmp_path, calls, n_passed, module, *chosen, **env)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:Can't test estimator")  # those of labels
@pytest.mark.filterwarnings("ignore:Bins whose width|Feature . is constant")
@pytest.mark.filterwarnings("ignore:`TargetEncoder.shuffle`:FutureWarning")
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_scikit_learn_accepts_the_estimator(estimator):
    """The same checks pass as for scikit-learn's own class."""
    release = tuple(map(int, sklearn.__version__.split(".")[:2]))
    if isinstance(estimator, KBinsDiscretizer) and release < (1, 9):
        pytest.skip("scikit-learn's own class fails before 1.9")
    theirs = getattr(preprocessing, type(estimator).__name__)(**estimator.get_params())

    outcomes, wanted = (
        {
            one["check_name"]: one["status"]
            for one in check_estimator(each, on_skip=None, on_fail=None)
        }
        for each in (estimator, theirs)
    )

    assert outcomes == wanted
    assert "passed" in outcomes.values()
