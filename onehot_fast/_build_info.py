"""A description of this build and of the machine."""

from __future__ import annotations

import platform
from typing import Any

import numpy as np

from onehot_fast._kernels import simd
from onehot_fast._runtime import parallel, team
from onehot_fast._version import __version__


def build_info() -> dict[str, Any]:
    """Return a description of this build and of the machine, for bug reports.

    Returns
    -------
    dict
        ``version``, ``python``, ``numpy`` and ``machine``: str;
        ``openmp``: bool; ``openmp_version``: int, the date of the OpenMP standard (yyyymm) or 0;
        ``simd``: str, the active variant of the kernels; ``simd_variants``: tuple of str, the
        variants that this processor can run, best first (``ONEHOT_FAST_SIMD`` selects one);
        ``stream_bytes``: int, the output size in bytes above which stores bypass the caches
        (``ONEHOT_FAST_STREAM_BYTES`` sets it);
        ``num_threads``: int, the number of threads that a large call uses by default.

    Examples
    --------
    >>> import onehot_fast
    >>> info = onehot_fast.build_info()
    >>> info["simd"] in info["simd_variants"]
    True
    """
    return {
        "version": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "machine": platform.machine(),
        "openmp": team.openmp_version() > 0,
        "openmp_version": team.openmp_version(),
        "simd": simd.active(),
        "simd_variants": simd.variants(),
        "stream_bytes": simd.get_stream_bytes(),
        "num_threads": parallel.available(),
    }
