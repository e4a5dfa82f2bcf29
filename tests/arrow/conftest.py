"""Hide the objects of earlier tests from `gc.collect()`, which every test of a producer calls."""

from __future__ import annotations

import gc

import pytest


@pytest.fixture(scope="module", autouse=True)
def small_heap():
    gc.collect()
    gc.freeze()
