"""What `help` and the completion of a prompt show."""

from __future__ import annotations

import importlib
import pkgutil
import pydoc

import pytest

import onehot_fast
import onehot_fast.integrations
from support import programs

MODULES = [found.name for found in pkgutil.iter_modules(onehot_fast.integrations.__path__)]
INTEGRATIONS = [name for name in MODULES if not name.startswith("_")]


def test_help_begins_with_what_to_call():
    text = pydoc.plain(pydoc.render_doc(onehot_fast)).split("PACKAGE CONTENTS")[0]

    calls = "series.onehot()", "Encoder([", "one_hot(labels, depth)", "multi_hot(rows, depth)"
    assert [call for call in calls if call not in text] == []


@pytest.mark.parametrize("name", INTEGRATIONS)
def test_completion_offers_public_names(name):
    """`dir` of an integration has the names of `__all__`, all of which exist."""
    try:
        module = importlib.import_module(f"onehot_fast.integrations.{name}")
    except ImportError as error:
        pytest.skip(str(error))

    assert sorted(dir(module)) == sorted(module.__all__)
    assert all(hasattr(module, public) for public in module.__all__)


def test_completion_of_the_packages_offers_public_names():
    """Folders and helpers that happen to be imported are not shown."""
    shown, integrations = programs.run("""
        import onehot_fast, onehot_fast.operators, onehot_fast.integrations.sql
        print(*{*dir(onehot_fast)} - {*onehot_fast.__all__})
        print(dir(onehot_fast.integrations))
    """).splitlines()

    assert sorted(shown.split()) == ["integrations", "operators"]
    assert integrations == "['sql']"
