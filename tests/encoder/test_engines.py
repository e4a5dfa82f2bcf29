"""One body of tests over every library and engine; those that need a session have a file each."""

from __future__ import annotations

import pytest
from engines import CHOICES, IN_ONE_PROCESS, OPTIONS, PARTS, check_engine
from hypothesis import given
from strategies import examples


@pytest.mark.parametrize("name", IN_ONE_PROCESS)
@examples(0.5)
@given(train=PARTS, test=PARTS, names=CHOICES, options=OPTIONS)
def test_one_process_teaches_what_parts_teach(name, train, test, names, options):
    check_engine(IN_ONE_PROCESS[name](), train, test, names, options)
