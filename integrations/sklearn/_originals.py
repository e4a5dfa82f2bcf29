"""The classes of scikit-learn that ours stand in front of, whose types are in the stub beside."""

from sklearn.preprocessing import (
    KBinsDiscretizer,
    LabelBinarizer,
    MultiLabelBinarizer,
    OneHotEncoder,
    OrdinalEncoder,
    TargetEncoder,
)

__all__ = [
    "KBinsDiscretizer",
    "LabelBinarizer",
    "MultiLabelBinarizer",
    "OneHotEncoder",
    "OrdinalEncoder",
    "TargetEncoder",
]
