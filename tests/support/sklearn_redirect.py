"""A pytest plugin: scikit-learn's own tests meet our classes under scikit-learn's names.

``pytest -p support.sklearn_redirect --pyargs sklearn.preprocessing.tests.test_label`` runs the
tests that came with scikit-learn. The last line of the report counts the redirected calls.
"""

from __future__ import annotations

import sys

from sklearn import preprocessing

from onehot_fast.integrations import sklearn as ours
from support.redirect import counted, put, pytest_terminal_summary

__all__ = ["pytest_terminal_summary"]

METHODS = "fit", "fit_transform", "transform", "inverse_transform"

for name in {*ours.__all__} - {"from_sklearn", "to_sklearn"}:
    own, module = getattr(ours, name), sys.modules[getattr(preprocessing, name).__module__]
    if not isinstance(own, type):
        put(name, counted(own), preprocessing, module)
        continue
    for method in METHODS:
        if hasattr(own, method):
            put(method, counted(getattr(own, method), f"{name}.{method}"), own)
    put(name, own, preprocessing, module)
