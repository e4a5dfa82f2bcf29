"""The scikit-learn classes that this package replaces; ``_originals.pyi`` has their types."""

from sklearn.preprocessing import KBinsDiscretizer as KBinsDiscretizer
from sklearn.preprocessing import LabelBinarizer as LabelBinarizer
from sklearn.preprocessing import MultiLabelBinarizer as MultiLabelBinarizer
from sklearn.preprocessing import OneHotEncoder as OneHotEncoder
from sklearn.preprocessing import OrdinalEncoder as OrdinalEncoder
from sklearn.preprocessing import TargetEncoder as TargetEncoder
from sklearn.preprocessing._encoders import _BaseEncoder as BaseEncoder

__all__ = ["BaseEncoder"]
