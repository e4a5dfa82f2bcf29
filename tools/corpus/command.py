"""Run the command on a file, with the remedies that its errors name."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from pathlib import Path

from onehot_fast.cli import main

USAGE = 2  # the code of an invalid option
Verdict = tuple[str, str]
# The options that an error suggests.
OPTION = re.compile(
    r"pass (--(?:delimiter '[^']*'(?: --decimal ,)?|encoding utf-16|fill-rows|no-end-marker"
    r"|input-format \w+|text-column '[^']*'))"
)
CONVERSION = re.compile(r'python -c ("[^"]*"|\'.*\'(?=$|; if))')


def run(*arguments: object) -> tuple[int, str]:
    """Run the command in this process; return its exit code and its messages."""
    out, error = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
        code = main([str(argument) for argument in arguments])
    return code, error.getvalue().strip()


def is_crash(code: int, text: str, *paths: Path) -> bool:
    """Tell whether a failed run ended without a code of its own, or without a file's name."""
    is_named = code == USAGE or any(path.name in text for path in paths)
    return code == 1 or "Traceback" in text or "\n" in text or not is_named


def with_remedies(path: Path) -> tuple[int, str, list[str]]:
    """Inspect a file with the options that errors name; return the last end, and the options."""
    options: list[str] = []
    code, text = run("inspect", path, "-q")
    while code:
        option = OPTION.search(text)
        typed = shlex.split(option[1]) if option else []
        if not typed and "--encoding" in text:
            typed = ["--encoding", "latin-1"]
        pairs = [options[i : i + len(typed)] for i in range(len(options))]
        if not typed or typed in pairs:
            break
        options += typed
        code, text = run("inspect", path, "-q", *options)
    return code, text, options


def converted(path: Path, folder: Path, text: str) -> Verdict:
    """Try the conversion that an error names; it writes beside the file, which is a copy."""
    if "is empty" in text:
        return "refused", text
    found = CONVERSION.search(text)
    if not found:
        return "no remedy", text
    [code] = shlex.split(found[1])
    before = {*folder.iterdir()}
    try:
        exec(code, {})
    except Exception as error:  # the other reader rejects the file, too
        return "no remedy", f"{text} -> {type(error).__name__}: {error}"
    made = [one for one in folder.iterdir() if one not in before and one.suffix == ".parquet"]
    return ("refused" if made and run("inspect", made[0], "-q")[0] == 0 else "no remedy"), text
