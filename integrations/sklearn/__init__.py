"""scikit-learn's encoders of categories and labels, on the kernels: the same classes, faster.

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

`OneHotEncoder`, `LabelBinarizer`, `MultiLabelBinarizer` and `label_binarize` have the parameters,
attributes, results, warnings and errors of those in `sklearn.preprocessing`: an import is all that
changes. scikit-learn's own tests of them are run against these.
"""

from onehot_fast.integrations.sklearn.encoder import OneHotEncoder
from onehot_fast.integrations.sklearn.label_matrix import label_binarize
from onehot_fast.integrations.sklearn.label_sets import MultiLabelBinarizer
from onehot_fast.integrations.sklearn.labels import LabelBinarizer

__all__ = ["LabelBinarizer", "MultiLabelBinarizer", "OneHotEncoder", "label_binarize"]
