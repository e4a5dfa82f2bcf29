"""The command's options and formats come from one table each."""

from __future__ import annotations

from pathlib import Path

import pytest

from onehot_fast import Encoder
from onehot_fast.adapter import OPTIONS
from onehot_fast.cli import flags, formats, source, writers
from onehot_fast.cli.commands import commands
from onehot_fast.integrations.arrow import LAYOUTS
from support import command_files as files
from support.command_files import Exit, pa


def option_of(command, name):
    """Return an option of a subcommand by the name of its parameter."""
    return next(one for one in commands.commands[command].params if one.name == name)


@pytest.mark.parametrize("command", ["encode", "inspect"])
def test_each_option_of_the_encoder_is_an_option_of_the_command(command):
    """The command learns the categories or loads them, and keeps all other columns."""
    names = {one.name for one in commands.commands[command].params}
    own = {*Encoder().get_params()} - {"columns"}

    assert own - names == {"categories", "remainder"}
    assert {*flags.FLAGS} == own & names


@pytest.mark.parametrize("name", [name for name in flags.FLAGS if OPTIONS[name].rules])
def test_the_help_lists_every_rule_and_marks_the_default(name):
    """A rule in the help is one that the encoder accepts."""
    text = option_of("encode", name).help
    default = Encoder().get_params()[name]

    for rule in OPTIONS[name].rules:
        Encoder(**{name: rule})
        assert rule in text
    assert default is None or f"{default} (default)" in text


@pytest.mark.parametrize("name", flags.FLAGS)
def test_an_error_names_each_option_as_it_is_typed(name):
    """The remedy of an encoder's error is a line of the command."""
    from onehot_fast.cli.messages import CommandError, encoding_input

    with pytest.raises(CommandError) as caught, encoding_input("in.csv"):
        raise ValueError(f"wrong; use {name}='x'")
    assert str(caught.value).endswith(f"; use --{name.replace('_', '-')} x")
    with pytest.raises(CommandError) as caught, encoding_input("in.csv"):
        raise ValueError(f"wrong; pass {name}={{'column': ...}} with")
    assert str(caught.value).endswith(f"; pass --{name.replace('_', '-')} COLUMN=... with")


def test_each_format_has_a_reader_and_a_writer():
    """A format that is not readable has a writer only."""
    kinds = formats.KINDS

    assert {*writers.WRITERS} == {*kinds}
    assert {*source.READERS} == {kind for kind in kinds if kinds[kind].is_readable}
    assert {form.kind for form in formats.FIRST_BYTES.values()} <= {*source.READERS}


def test_layouts_are_those_of_the_arrow_integration():
    """The command has one more layout, for matrices, which it cannot decode."""
    assert [*option_of("decode", "layout").type.choices] == [*LAYOUTS]
    assert [*option_of("encode", "layout").type.choices] == [*LAYOUTS, "csr"]


@pytest.mark.parametrize("kind", sorted(formats.KINDS))
@pytest.mark.parametrize("layout", formats.layouts_of(formats.EXTENSIONS.values()))
def test_a_layout_is_accepted_by_the_formats_that_list_it(kind, layout, done, refused):
    """A format accepts the layouts that it lists, and an error names any other layout."""
    files.write(pa.table({"k": ["x", "y"]}), Path("in.parquet"))
    line = f"encode in.parquet -c k --layout {layout} -o out.{kind}"
    if layout in formats.KINDS[kind].layouts:
        done(line)
    else:
        refused(line, Exit.USAGE, f"--layout {layout} ")
