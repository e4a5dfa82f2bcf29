"""
Fit linear models without building the matrix
=============================================

``OneHotMatrix`` stores only codes, and computes products and Gram matrices from them. Least squares
and Newton's method need nothing else. The functions are in ``examples/linear_models.py``.
"""

# %%
# A table of five columns with 3, 12, 50, 100 and 300 categories:
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path("../../examples").resolve()))

import matplotlib.pyplot as plt
from linear_models import CATEGORIES, compare, draw, newton, ridge_of_file, write_file

from onehot_fast import Encoder

table, y, price = draw(100_000)
X = Encoder([*CATEGORIES]).fit_transform(table, output="implicit")
X

# %%
# Logistic regression by Newton's method
# --------------------------------------
# Every step needs two products and one weighted Gram matrix:
#
# .. literalinclude:: ../../examples/linear_models.py
#    :pyobject: newton
coefficients = newton(X, y)
dict(zip(X.column_names[:3], coefficients[:3].round(3).tolist(), strict=True))

# %%
# scikit-learn fits the same models, and so does glum if it is installed. All models of one kind
# minimize the same loss, so the smallest loss is the best. The times do not include the matrices.
results = compare(300_000)
figure, axes = plt.subplots(figsize=(8, 3.2), layout="constrained")
names = [f"{name} (loss {loss:,.1f})" for name, _, loss in results]
colors = ["#f58518" if "onehot_fast" in name else "#4c78a8" for name in names]
bars = axes.barh(names, [1e3 * seconds for _, seconds, _ in results], color=colors)
axes.bar_label(bars, fmt=" %.0f")
axes.set(xlabel="ms for 300,000 rows", xscale="log")
_ = axes.invert_yaxis()

# %%
# A file larger than memory
# -------------------------
# Gram matrices and products with the transpose add up, so least squares needs one pass over a file:
#
# .. literalinclude:: ../../examples/linear_models.py
#    :pyobject: ridge_of_file
with tempfile.TemporaryDirectory() as folder:
    path, encoder = Path(folder, "sales.parquet"), Encoder([*CATEGORIES], remainder="drop")
    write_file(path, encoder, n_batches=4, batch_rows=50_000)
    coefficients = ridge_of_file(path, encoder, "price", batch_rows=50_000)
coefficients[:3].round(3)
