"""TargetEncoder gives what scikit-learn's gives: results, attributes, warnings and errors."""

from __future__ import annotations

import dataclasses
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("sklearn")

import sklearn
from sklearn import preprocessing
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn_cases import (
    Case,
    cases,
    outcome,
    parameters,
    plain,
    table_cases,
)
from strategies import examples

from onehot_fast.integrations.sklearn import TargetEncoder

KINDS = TargetEncoder, preprocessing.TargetEncoder
# Before 1.9 the splits follow from `random_state`; from then on that is deprecated.
TAKES_SPLITTERS = tuple(map(int, sklearn.__version__.split(".")[:2])) >= (1, 9)
SPLITS: dict[str, Any] = {"cv": 4, "random_state": 0}
if TAKES_SPLITTERS:
    SPLITS = {"cv": KFold(4, shuffle=True, random_state=0)}
TEXTS = np.array([["b", "x"], ["a", "y"], ["b", None], ["c", "x"]] * 50, object)
TARGETS: dict[str, Any] = {
    "binary": [0, 1],
    "texts": ["no", "yes"],
    "multiclass": ["low", "mid", "high"],
    "integers": [0, 1, 2, 5],
    "continuous": [0.25, -1.5, 3.1, 1e9],
    "constant": [1],
    "bad": [np.nan, 1.5],
}


@dataclasses.dataclass(frozen=True)
class TargetCase:
    """A task and the target of its rows."""

    case: Case
    target: list[Any]


@st.composite
def target_parameters(draw: st.DrawFn, pools: list[list[Any]]) -> dict[str, Any]:
    """Return the parameters of a TargetEncoder."""
    declared = draw(parameters(pools))
    params = {name: declared[name] for name in ("categories",) if name in declared}
    if draw(st.booleans()):
        params["smooth"] = draw(st.sampled_from([0, 0.0, 1.5, 100.0, "auto"]))
    if draw(st.integers(0, 3)) == 0:
        params["target_type"] = draw(st.sampled_from(["binary", "continuous", "multiclass"]))
    return params


@st.composite
def target_cases(draw: st.DrawFn) -> TargetCase:
    """Return a task with a target."""
    case = draw(cases(target_parameters) | table_cases(target_parameters))
    values = TARGETS[draw(st.sampled_from(sorted(TARGETS)))]
    n_rows = len(case.train)
    target = draw(st.lists(st.sampled_from(values), min_size=n_rows, max_size=n_rows))
    return TargetCase(case, target)


def results(kind: Any, task: TargetCase) -> dict[str, Any]:
    """Return all that an encoder of this class makes of a task."""
    case = task.case
    encoder = kind(**case.params)
    found = {"fit": outcome(lambda: encoder.fit(case.train, task.target) is encoder)}
    cross = kind(**case.params, **SPLITS)
    found["cross-fitted"] = plain(outcome(lambda: cross.fit_transform(case.train, task.target)))
    if found["fit"][0] is not True:
        return found
    names = ("categories_", "encodings_", "target_mean_", "target_type_", "classes_")
    found |= {name: plain(getattr(encoder, name, "absent")) for name in names}
    found["names"] = plain(outcome(encoder.get_feature_names_out))
    found["attributes"] = sorted(vars(encoder))
    found["known"] = plain(outcome(lambda: encoder.transform(case.train)))
    found["one row"] = plain(outcome(lambda: encoder.transform(case.test[:1])))
    found["encoded"] = plain(outcome(lambda: encoder.transform(case.test)))
    return found


@given(task=target_cases())
def test_every_input_is_encoded_as_by_scikit_learn(task: TargetCase) -> None:
    """Values are equal bit for bit, whatever the container, the target and the parameters."""
    ours, theirs = (results(kind, task) for kind in KINDS)
    assert ours == theirs


@examples(0.3)
@given(data=st.data())
def test_many_rows_are_encoded_as_by_scikit_learn(data: Any) -> None:
    """Many rows with many categories, some of them unknown in `transform`."""
    random = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    values = random.zipf(1.3, (3000, 2)) % 1000
    texts = np.array([f"category {v}" for v in values.flat], object).reshape(values.shape)
    pandas = pytest.importorskip("pandas")
    table = data.draw(
        st.sampled_from([values, texts, texts.astype(str), pandas.DataFrame(texts)])
        | st.just(pandas.DataFrame(values).astype("category"))
    )
    targets = [random.integers(0, 2, 2000), random.normal(size=2000), random.integers(0, 3, 2000)]
    target = data.draw(st.sampled_from(range(3)))
    smooth = data.draw(st.sampled_from(["auto", 2.0]))
    case = Case(table[:2000], table[1000:], {"smooth": smooth})
    task = TargetCase(case, targets[target].tolist())
    ours, theirs = (results(kind, task) for kind in KINDS)
    assert ours == theirs


@pytest.fixture
def only_fast(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let scikit-learn's own look-up of values fail."""

    def fail(*args: Any, **kwargs: Any) -> Any:
        raise AssertionError("scikit-learn's own code was called")

    monkeypatch.setattr(preprocessing.TargetEncoder, "_transform", fail)
    monkeypatch.setattr(preprocessing.TargetEncoder, "_fit", fail)


@pytest.mark.usefixtures("only_fast")
@pytest.mark.parametrize(
    "form", ["objects", "str", "list", "pandas", "category", "polars", "arrow"]
)
@pytest.mark.parametrize("target", ["binary", "multiclass", "continuous"])
def test_common_inputs_never_reach_scikit_learn(form: str, target: str) -> None:
    """Values are looked up in our tables in `fit_transform` and `transform`."""
    pandas, polars = map(pytest.importorskip, ("pandas", "polars"))
    rows = TEXTS[:, :1]
    makers = {
        "objects": lambda: rows,
        "str": lambda: rows.astype(str),
        "list": rows.tolist,
        "pandas": lambda: pandas.DataFrame(rows, columns=["one"]),
        "category": lambda: pandas.DataFrame(rows, columns=["one"]).astype("category"),
        "polars": lambda: polars.DataFrame({"one": rows[:, 0].tolist()}),
        "arrow": lambda: polars.DataFrame({"one": rows[:, 0].tolist()}).to_arrow(),
    }
    table = makers[form]()
    y = np.resize(TARGETS[target], len(rows))
    encoder = TargetEncoder()
    width = len(TARGETS[target]) if target == "multiclass" else 1
    assert encoder.fit_transform(table, y).shape == (len(rows), width)
    assert encoder.transform(table[:1]).shape == (1, width)


@pytest.mark.filterwarnings("ignore:`TargetEncoder.shuffle`:FutureWarning")
def test_splits_follow_the_parameters() -> None:
    """`cv`, `shuffle` and `random_state` choose the same rows as in scikit-learn."""
    y = np.arange(len(TEXTS)) % 2
    options: list[dict[str, Any]] = [
        {"random_state": 3},
        {"shuffle": False},
        {"cv": 3, "random_state": 0},
    ]
    options += [{"cv": StratifiedKFold(4)}] if TAKES_SPLITTERS else []
    for params in options:
        found = [kind(**params).fit_transform(TEXTS, y).tobytes() for kind in KINDS]
        assert found[0] == found[1]


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("target", ["binary", "multiclass"])
def test_tables_come_out(library: str, target: str) -> None:
    """`set_output` names the columns as scikit-learn does."""
    module = pytest.importorskip(library)
    frame = module.DataFrame(
        {"size": ["S", "L"] * 20, "city": ["Rome", "Oslo", "Rome", "Bonn"] * 10}
    )
    y = np.resize(TARGETS[target], 40)
    ours, theirs = (kind(**SPLITS).set_output(transform=library) for kind in KINDS)
    assert ours.fit_transform(frame, y).equals(theirs.fit_transform(frame, y))
    assert ours.transform(frame[:3]).equals(theirs.transform(frame[:3]))


def test_names_of_columns_are_checked() -> None:
    """Other names raise scikit-learn's error, and an array instead of a frame its warning."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"one": ["a", "b"] * 20, "two": ["c", "d"] * 20})
    encoder = TargetEncoder().fit(frame, np.arange(40) % 2)
    with pytest.raises(ValueError, match="feature names should match"):
        encoder.transform(frame[["two", "one"]])
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        encoder.transform(frame.to_numpy(object))


def test_copies_and_pipelines() -> None:
    """A clone is not fitted, a pickle encodes the same, and a search scores both alike."""
    y = (TEXTS[:, 0] == "a").astype(int)
    encoder = TargetEncoder(smooth=2.0).fit(TEXTS, y)
    expected = encoder.transform(TEXTS)
    again = pickle.loads(pickle.dumps(encoder))
    assert again.transform(TEXTS).tobytes() == expected.tobytes()
    assert again.transform(TEXTS[:1]).tobytes() == expected[:1].tobytes()
    assert isinstance(encoder, preprocessing.TargetEncoder)
    assert clone(encoder).get_params() == encoder.get_params()
    for each in (TargetEncoder(), clone(encoder)):
        with pytest.raises(AttributeError):  # as NotFittedError is; scikit-learn raises either
            each.transform(TEXTS)
    scores = []
    for kind in KINDS:
        columns = ColumnTransformer([("texts", kind(**SPLITS), [0, 1])])
        scores.append(cross_val_score(make_pipeline(columns, LogisticRegression()), TEXTS, y))
    assert scores[0].tolist() == scores[1].tolist()


@pytest.mark.parametrize("name", ["_transform", "_transform_X_ordinal"])
def test_what_a_subclass_overrides_is_called(name: str) -> None:
    """A subclass may change any step of scikit-learn's `transform`."""
    called = []

    class Own(TargetEncoder):
        pass

    def counting(self: Any, *args: Any, **kwargs: Any) -> Any:
        called.append(name)
        return getattr(super(Own, self), name)(*args, **kwargs)

    setattr(Own, name, counting)
    y = np.arange(len(TEXTS)) % 2
    encoder = Own().fit(TEXTS, y)
    called.clear()
    assert (
        encoder.transform(TEXTS).tobytes()
        == TargetEncoder().fit(TEXTS, y).transform(TEXTS).tobytes()
    )
    assert called == [name]
