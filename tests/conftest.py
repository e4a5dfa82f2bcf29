"""Hypothesis profiles: `HYPOTHESIS_PROFILE=thorough pytest` searches much longer."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

# A hostile array of some thousand elements is slow to draw, and the machine may be busy:
# neither is a failure.
COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}

settings.register_profile("dev", max_examples=80, **COMMON)
settings.register_profile("ci", max_examples=80, derandomize=True, **COMMON)
settings.register_profile("thorough", max_examples=2000, **COMMON)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))
