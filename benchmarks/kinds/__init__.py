"""What kinds of workloads there are: how the data is drawn, and how a result is checked.

A *workload* is a recipe: it has a name, a size and a title, and `benchmarks.workloads` lists them
all. A *work* is one with its data. The modules import `onehot_fast` and other libraries late, so
that the list can be read without them and beside an older version of the package.
"""
