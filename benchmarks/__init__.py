"""What the project costs. `benchmarks.workloads` lists everything that is measured.

- ``bench_*.py`` with `suite`: the suites of asv; ``history`` has its results.
- `compare`: beside other libraries. `scenarios` measures each group of workloads, `targets` judges,
  `report` and `chart` write, `machine` describes where.
- `regression`: beside an older commit, by `ratios` of times and by counted `instructions`.
- `torch_devices`, `dask_frames`, `spark_frames`: the scripts for devices and clusters.
- `memoryviews`, `stores`: the scripts of two decisions in ``docs/performance/kernels.md``.
- `workloads` is the list, `kinds` draws the data and checks results, `peers` has the functions of
  all libraries.
- `measure` times calls in turns, `floor` is the least time of writing an output, `peak` the memory
  of a call, and `apart` measures in a process of its own.
"""
