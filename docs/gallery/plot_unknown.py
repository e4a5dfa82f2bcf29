"""
What a model predicts for an unknown value
==========================================

A value that ``fit`` did not see is unknown. ``handle_unknown`` decides how it is encoded,
and so what a model predicts for it. This example trains one linear model for each option and
predicts for a plan that the training data lack.

The script needs ``pip install "onehot-fast[pandas,sklearn]" matplotlib``.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

from onehot_fast import Encoder

rng = np.random.default_rng(0)
plans = rng.choice(["free", "pro", "team", "beta"], 2000, p=[0.55, 0.3, 0.13, 0.02])
price = pd.Series(plans).map({"free": 0.0, "pro": 10.0, "team": 30.0, "beta": 4.0})
train = pd.DataFrame({"plan": plans})
spent = price + rng.normal(0, 2, len(plans))
new = pd.DataFrame({"plan": ["free", "pro", "team", "enterprise"]})

# %%
# The table shows the rows of four plans. The last plan is unknown. ``"infrequent"`` needs
# ``min_frequency``, so that infrequent categories share a feature.
options = {"min_frequency": 100, "dtype": "uint8"}
rows = {
    rule: Encoder(["plan"], handle_unknown=rule, **options).fit(train).transform(new)
    for rule in ("ignore", "indicator", "infrequent")
}
rows["infrequent"]

# %%
# ``"error"``, the default, raises an error that names the value:
try:
    Encoder(["plan"], **options).fit(train).transform(new)
except ValueError as error:
    print(error)

# %%
# A row of zeros gets the intercept alone. The feature of the infrequent categories has a weight
# that was learned from rare plans. ``"warn"`` predicts what ``"ignore"`` predicts, and warns.
figure, axes = plt.subplots(1, 3, figsize=(10, 3.2), layout="constrained", sharey=True)
for axis, rule in zip(axes, rows, strict=True):
    encoder = Encoder(["plan"], handle_unknown=rule, **options)
    model = make_pipeline(encoder, Ridge(alpha=1)).fit(train, spent)
    colors = ["#4c78a8"] * 3 + ["#f58518"]
    axis.bar(new["plan"], model.predict(new), color=colors)
    axis.set(title=f'handle_unknown="{rule}"')
    axis.tick_params(axis="x", labelsize=8)
_ = axes[0].set(ylabel="predicted spending")

# %%
# A **missing** value has its own option, ``handle_missing``. By default it becomes a row of zeros;
# with ``"indicator"`` it has a feature:
gaps = pd.DataFrame({"plan": ["free", None]})
Encoder(["plan"], handle_missing="indicator", dtype="uint8").fit_transform(gaps)
