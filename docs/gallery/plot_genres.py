"""
Several labels in a row: from a file to a model and back
========================================================

A film has several genres, and often several countries. This page reads 17,472 films, trains a model
on their genres, countries and decades, draws what it learned, and turns the features into texts
again.

The films were selected from Wikidata (CC0), and are part of the package bokeh-sampledata. The
script needs ``pip install "onehot-fast[pandas,sklearn]" matplotlib "bokeh-sampledata>=2026.1"``.
"""

# %%
# Read
# ----
# The genres of a film are one text, and so are its countries. The order of the labels has no
# meaning, and a film without genres has an empty text. Do critics like the film? ``Meter`` is the
# percentage of good reviews.
import importlib.util
import sqlite3
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from onehot_fast import Encoder

# Only the data of the package are read.
package = Path(importlib.util.find_spec("bokeh_sampledata").origin).parent
films = pd.read_sql(
    "SELECT Title, Year, Genre, Country, Meter FROM omdb JOIN tomatoes USING (ID)",
    sqlite3.connect(package / "_data" / "movies.db"),
).dropna(subset=["Meter"])
films["Decade"] = films.pop("Year") // 10 * 10
liked = films.pop("Meter") >= 60
train, test, train_liked, test_liked = train_test_split(films, liked, random_state=0)
train.head()

# %%
# Encode
# ------
# ``sep`` names the columns whose texts have several labels. ``Decade`` has one value in each row.
# ``min_frequency`` counts the films that have a label: rare countries share one feature.
encoder = Encoder(
    ["Genre", "Country", "Decade"],
    sep={"Genre": ", ", "Country": ", "},
    min_frequency={"Genre": 50, "Country": 50},
    handle_unknown="infrequent",
    remainder="drop",
)
encoder.fit(train).transform(train).iloc[:3, :8]

# %%
# The columns that the encoder learned:
encoder.summary()

# %%
# Train
# -----
# The encoder is a step of the pipeline, so that the model takes the films as they are.
model = make_pipeline(encoder, LogisticRegression(max_iter=1000)).fit(train, train_liked)
score = roc_auc_score(test_liked, model.predict_proba(test)[:, 1])
print(f"AUC of {len(test):,} other films: {score:.2f}")

# %%
# One film, with a genre and a country that the training data lack. An unknown label counts as a
# rare one:
request = pd.DataFrame(
    {"Genre": ["Documentary, Slapstick"], "Country": ["France, Atlantis"], "Decade": [2010]}
)
probability = model.predict_proba(request)[0, 1]
print(f"the critics like it with a probability of {probability:.2f}")

# %%
# Explain
# -------
# ``features`` has one row for each feature, in the order of the coefficients. Each label of a film
# adds its coefficient: a documentary from France has the sum of two bars.
features = pd.DataFrame(encoder.features)
features["coefficient"] = model[-1].coef_[0]
colors = {"Genre": "#4c78a8", "Country": "#f58518"}
shown = features[features["column"].isin(colors)].sort_values("coefficient")

figure, axes = plt.subplots(figsize=(6.4, 8.5), layout="constrained")
axes.barh(shown["name"], shown["coefficient"], color=shown["column"].map(colors))
for name, color in colors.items():
    axes.barh(shown["name"].iloc[:1], [0], color=color, label=name)
axes.set(xlabel="coefficient: positive means liked by critics")
axes.tick_params(axis="y", labelsize=9)
axes.margins(y=0.01)
axes.grid(axis="x", alpha=0.3)
_ = axes.legend(loc="lower right")

# %%
# Back
# ----
# ``inverse_transform`` joins the labels of each film with the separator. The name of a rare label
# is not stored, so the text that stands for it is yours.
decoded = encoder.inverse_transform(encoder.transform(test), infrequent="(rare)")
texts = {"file": test[[*colors]].head(), "decoded": decoded[[*colors]].head()}
pd.concat(texts, axis=1).swaplevel(axis=1)[[*colors]]


# %%
# Every label with a feature comes back:
def known_labels(texts):
    """Return the labels of each film that have a feature, in alphabetical order."""
    known = set(features.loc[features["column"] == texts.name, "category"])
    return texts.fillna("").str.split(", ").map(lambda row: sorted(known.intersection(row)))


for name in colors:
    assert known_labels(test[name]).equals(known_labels(decoded[name]))

# %%
# What the features do not store cannot come back: the order of the labels (decoded ones have the
# order of the features), the names of rare labels, and whether a country was missing or its text
# was empty. ``handle_missing="indicator"`` would store the last.
is_rare = decoded["Country"].str.contains("(rare)", regex=False)
pd.DataFrame({"file": test["Country"], "decoded": decoded["Country"]})[is_rare].head(3)
