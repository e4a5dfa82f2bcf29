"""What this copy of the package was built with and runs on."""

from __future__ import annotations

import platform
from typing import Any

import numpy as np

from onehot_fast._kernels import chunks, simd
from onehot_fast._runtime import parallel
from onehot_fast._version import __version__


def build_info() -> dict[str, Any]:
    """Return what this copy was built with and runs on, for bug reports.

    Returns
    -------
    dict
        ``version``, ``python``, ``numpy`` and ``machine``: str;
        ``openmp``: bool, and ``openmp_version``: the date of the standard (yyyymm), 0 without;
        ``simd``: str, the active variant of the kernels, and ``simd_variants``: tuple of str, those
        this processor can run, best first (``ONEHOT_FAST_SIMD`` forces one);
        ``stream_bytes``: int, the output size in bytes above which stores bypass the caches
        (``ONEHOT_FAST_STREAM_BYTES`` forces another one);
        ``num_threads``: int, the threads a large call uses by default.

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
        "openmp": chunks.openmp_version() > 0,
        "openmp_version": chunks.openmp_version(),
        "simd": simd.active(),
        "simd_variants": simd.variants(),
        "stream_bytes": simd.get_stream_bytes(),
        "num_threads": parallel.available(),
    }
