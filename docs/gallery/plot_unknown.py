"""
Five ways to handle an unknown value
====================================

A value that ``fit`` did not see is unknown. ``handle_unknown`` decides which row it becomes, and so
what a model predicts for it. The example trains one linear model for each option and asks all of
them about a plan that nobody had when they were trained.
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
# The rows that each option makes of the four plans. Infrequent categories share a feature here, so
# that ``"infrequent"`` has one to use.
options = {"min_frequency": 100, "dtype": "uint8"}
rows = {
    rule: Encoder(["plan"], handle_unknown=rule, **options).fit(train).transform(new)
    for rule in ("ignore", "indicator", "infrequent")
}
rows["infrequent"]

# %%
# ``"error"``, the default, stops instead, and names the value:
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
