"""scikit-learn's estimators and ours of the same names, on the same data."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.kinds.frames import LABELS, N_FOLDS, FrameWork
from benchmarks.peers.forms import FORMERS, Former, Read, itself, scattered
from benchmarks.peers.registry import OURSELVES, Call

MODULES = {
    OURSELVES: "onehot_fast.integrations.sklearn",
    "sklearn": "sklearn.preprocessing",
}
Make = Callable[[Any, FrameWork], Call]


def estimators(name: str, *, form: str, read: Read) -> Callable[[Make], Make]:
    """Enter the decorated function twice: it is given the module of one side, and the work."""

    def enter(make: Make) -> Make:
        for library, module in MODULES.items():
            full_name = f"{library} {name}"
            FORMERS[full_name] = Former(full_name, library, form, read, _with(module, make))
        return make

    return enter


def _with(module: str, make: Make) -> Make:
    return lambda library, work: make(import_module(module), work)


@estimators("OneHotEncoder().fit_transform", form="learned", read=scattered)
def learned(module: Any, work: FrameWork) -> Call:
    """Learn a frame and encode it, with the defaults."""
    return lambda: module.OneHotEncoder().fit_transform(work.data)


@estimators("OneHotEncoder(dense float32).fit_transform", form="learned dense", read=itself)
def learned_dense(module: Any, work: FrameWork) -> Call:
    """Learn a frame and encode it, as networks take it."""
    options = {"sparse_output": False, "dtype": np.float32}
    return lambda: module.OneHotEncoder(**options).fit_transform(work.data)


@estimators("OneHotEncoder.transform of a row", form="one row", read=scattered)
def one_row(module: Any, work: FrameWork) -> Call:
    """Encode a row, as a service does."""
    rows = work.data.to_numpy(object)
    transform, row = module.OneHotEncoder().fit(rows).transform, rows[:1]
    return lambda: transform(row)


@estimators("LabelBinarizer().fit_transform", form="labels", read=itself)
def labels(module: Any, work: FrameWork) -> Call:
    """Learn a target and encode it."""
    target = work.data[f"x{work.categories[LABELS]}"].to_numpy()
    return lambda: module.LabelBinarizer().fit_transform(target)


@estimators("MultiLabelBinarizer().fit_transform", form="label sets", read=itself)
def label_sets(module: Any, work: FrameWork) -> Call:
    """Learn targets of several classes and encode them."""
    return lambda: module.MultiLabelBinarizer().fit_transform(work.data)


@estimators("TargetEncoder().fit_transform", form="cross-fitted means", read=itself)
def cross_fitted_means(module: Any, work: FrameWork) -> Call:
    """Learn a frame and a target, and encode each fold by the means of the others."""
    folds = import_module("sklearn.model_selection").KFold(N_FOLDS)
    target = work.target
    return lambda: module.TargetEncoder(smooth=0, cv=folds).fit_transform(work.data, target)


@estimators("TargetEncoder().transform", form="means", read=itself)
def means(module: Any, work: FrameWork) -> Call:
    """Encode a frame by the means of a target, which are known."""
    transform = module.TargetEncoder(smooth=0).fit(work.data, work.target).transform
    return lambda: transform(work.data)
