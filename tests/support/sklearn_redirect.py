"""A pytest plugin: scikit-learn's own tests meet our classes under scikit-learn's names.

``pytest -p sklearn_redirect --pyargs sklearn.preprocessing.tests.test_label`` runs the tests that
came with scikit-learn. The last line of the report counts the calls that were redirected.
"""

from __future__ import annotations

from redirect import counted, put, pytest_terminal_summary
from sklearn import preprocessing
from sklearn.preprocessing import _discretization, _encoders, _label, _target_encoder

from onehot_fast.integrations.sklearn import (
    KBinsDiscretizer,
    LabelBinarizer,
    MultiLabelBinarizer,
    OneHotEncoder,
    OrdinalEncoder,
    TargetEncoder,
    label_binarize,
)

__all__ = ["pytest_terminal_summary"]

METHODS = "fit", "fit_transform", "transform", "inverse_transform"
OWNERS = {LabelBinarizer: _label, MultiLabelBinarizer: _label, OneHotEncoder: _encoders}
OWNERS |= {OrdinalEncoder: _encoders, KBinsDiscretizer: _discretization}
OWNERS |= {TargetEncoder: _target_encoder}

for kind, module in OWNERS.items():
    for method in METHODS:
        if hasattr(kind, method):
            put(method, counted(getattr(kind, method), f"{kind.__name__}.{method}"), kind)
    put(kind.__name__, kind, preprocessing, module)
put("label_binarize", counted(label_binarize), preprocessing, _label)
