"""What `help` and the completion of a prompt show."""

from __future__ import annotations

import importlib
import pydoc
import subprocess
import sys

import pytest

import onehot_fast
import onehot_fast.integrations

INTEGRATIONS = [
    "arrow",
    "dask",
    "narwhals",
    "onnx",
    "pandas",
    "polars",
    "sklearn",
    "spark",
    "sql",
    "torch",
]


def test_help_begins_with_what_to_call() -> None:
    text = pydoc.plain(pydoc.render_doc(onehot_fast)).split("PACKAGE CONTENTS")[0]

    for call in (
        "series.onehot()",
        "Encoder([",
        "one_hot(labels, depth)",
        "multi_hot(rows, depth)",
    ):
        assert call in text


@pytest.mark.parametrize("name", INTEGRATIONS)
def test_completion_offers_public_names(name: str) -> None:
    """`dir` of an integration has the names of `__all__`, all of which exist."""
    try:
        module = importlib.import_module(f"onehot_fast.integrations.{name}")
    except ImportError as error:
        pytest.skip(str(error))

    assert sorted(dir(module)) == sorted(module.__all__)
    assert all(hasattr(module, public) for public in module.__all__)


def test_completion_of_the_packages_offers_public_names() -> None:
    """Folders and helpers that happen to be imported are not shown."""
    program = """
import onehot_fast, onehot_fast.operators, onehot_fast.integrations.sql
print({*dir(onehot_fast)} - {*onehot_fast.__all__}, dir(onehot_fast.integrations))
"""
    result = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True)

    shown, integrations = result.stdout.strip().split("} ")
    assert sorted(shown.strip("{").split(", ")) == ["'integrations'", "'operators'"]
    assert integrations == "['sql']"
