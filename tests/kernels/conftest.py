"""The instruction sets, each with ordinary and with streaming stores."""

from __future__ import annotations

import pytest

from onehot_fast._kernels import simd

MODES = [(variant, how) for variant in simd.variants() for how in ("cached", "streamed")]


@pytest.fixture(params=MODES, ids="-".join, scope="module")
def mode(request):
    """Run the test with one instruction set, with or without streaming stores."""
    variant, how = request.param
    before = simd.activate(variant), simd.set_stream_bytes(0 if how == "streamed" else 2**62)
    yield
    simd.activate(before[0])
    simd.set_stream_bytes(before[1])
