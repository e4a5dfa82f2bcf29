"""Faster versions of scikit-learn's encoders of categories and labels.

>>> from onehot_fast.integrations.sklearn import LabelBinarizer, OneHotEncoder
>>> encoder = OneHotEncoder(sparse_output=False)
>>> encoder.fit_transform([["S", 1], ["M", 2], ["S", 2]])
array([[0., 1., 1., 0.],
       [1., 0., 0., 1.],
       [0., 1., 0., 1.]])
>>> encoder.get_feature_names_out(["size", "floor"])
array(['size_M', 'size_S', 'floor_1', 'floor_2'], dtype=object)
>>> LabelBinarizer().fit_transform(["yes", "no", "yes"])
array([[1],
       [0],
       [1]])

`OneHotEncoder`, `OrdinalEncoder`, `TargetEncoder`, `KBinsDiscretizer`, `LabelBinarizer` and
`MultiLabelBinarizer` are subclasses of the `sklearn.preprocessing` classes with these names, and
`label_binarize` wraps the original function: you only change the import. Inputs may be arrays,
lists and pandas, polars or Arrow tables. The classes look up texts, numbers and Booleans in their
own hash tables; columns of codes (category, Enum, dictionary) are not hashed again. scikit-learn's
code handles rare inputs and options. scikit-learn's tests run with these classes.
"""

from onehot_fast.adapter import require

require("sklearn")

from .conversion import from_sklearn, to_sklearn
from .kbins_discretizer import KBinsDiscretizer
from .label_binarizer import LabelBinarizer, MultiLabelBinarizer, label_binarize
from .one_hot_encoder import OneHotEncoder
from .ordinal_encoder import OrdinalEncoder
from .target_encoder import TargetEncoder

__all__ = [
    "KBinsDiscretizer",
    "LabelBinarizer",
    "MultiLabelBinarizer",
    "OneHotEncoder",
    "OrdinalEncoder",
    "TargetEncoder",
    "from_sklearn",
    "label_binarize",
    "to_sklearn",
]


def __dir__() -> list[str]:
    """Return the public names."""
    return [*__all__]
