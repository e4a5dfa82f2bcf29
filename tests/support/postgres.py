"""A private PostgreSQL server: a temporary cluster on a local socket, and one `psql` session."""

from __future__ import annotations

import csv
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from support.programs import HANG

END = "--end of the result--"
# The settings of a server whose data nobody needs after the tests.
SETTINGS = ["listen_addresses=", "fsync=off", "max_connections=10", "shared_buffers=16MB"]
SETTINGS += ["autovacuum=off"]


class QueryError(Exception):
    """A statement that PostgreSQL rejected or that failed, with its message."""


class Session:
    """One `psql` process that runs statements and returns rows of text; None is NULL."""

    def __init__(self, program: Path, socket: Path, user: str | None) -> None:
        options = ["-XqAt", "--csv", "-P", "null=\\N", "-h", str(socket), "-d", "postgres"]
        self.process = subprocess.Popen(
            [str(program), *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            user=user,
            cwd=socket,
            env=os.environ
            | {"PGCLIENTENCODING": "UTF8", "PGOPTIONS": f"-c statement_timeout={HANG}s"},
        )

    def execute(self, statement: str) -> list[list[str | None]]:
        """Run one statement and return its rows."""
        process = self.process
        assert process.stdin and process.stdout  # noqa: PT018  # for the type checker
        process.stdin.write(f"{statement}\n;\n\\echo '{END}'\n")
        process.stdin.flush()
        lines = list(iter(process.stdout.readline, f"{END}\n"))
        if any(line.startswith("ERROR:") for line in lines):
            raise QueryError("".join(lines))
        return [[None if cell == "\\N" else cell for cell in row] for row in csv.reader(lines)]


def programs() -> Path | None:
    """Return the folder of initdb and postgres, Debian's included; None without a server."""
    on_path = shutil.which("initdb")
    places = [Path(on_path).resolve().parent] if on_path else []
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((place for place in places if (place / "initdb").exists()), None)


@contextmanager
def cluster() -> Iterator[Session]:
    """Start a cluster, and stop and remove it at the end.

    PostgreSQL does not run as root: where the tests do, it runs as an unprivileged user.
    """
    folder = programs()
    assert folder is not None
    user = None
    # The path of a socket has at most 107 bytes.
    base = Path(tempfile.mkdtemp(prefix="pg", dir="/tmp"))
    if os.getuid() == 0:
        user = "nobody"
        with suppress(KeyError):
            user = pwd.getpwnam("postgres").pw_name
        os.chown(base, pwd.getpwnam(user).pw_uid, -1)
    try:
        create = [folder / "initdb", "-D", base / "data", "-E", "UTF8", "--no-locale", "-N"]
        subprocess.run([*create, "-A", "trust"], check=True, user=user, cwd=base, stdout=-3)
        options = [each for setting in SETTINGS for each in ("-c", setting)]
        server = subprocess.Popen(
            [folder / "postgres", "-D", base / "data", "-k", base, *options],
            user=user,
            cwd=base,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            ready = [folder / "pg_isready", "-q", "-h", base, "-t", "30"]
            while subprocess.run(ready).returncode and server.poll() is None:
                with suppress(subprocess.TimeoutExpired):
                    server.wait(0.1)
            session = Session(folder / "psql", base, user)
            yield session
            session.process.communicate()
        finally:
            server.terminate()
            server.wait(HANG)
    finally:
        shutil.rmtree(base)
