"""A connection to the ledger's database: SQLite in a file, or PostgreSQL by URL; migrated when it is opened."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, inspect, make_url, text
from sqlalchemy.engine import URL
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError

from primabench_board.tables import REVISION
from primabench_core.errors import MissingPluginError, StoreError, UsageError

_LOCK = 0x7072696D61  # of PostgreSQL: one writer at a time, as SQLite has it
_WAIT_SECONDS = 60.0


def engine_of(address: str) -> Engine:
    """An engine for a URL or the path of an SQLite file.

    Raises:
        UsageError: It is no URL of SQLite or PostgreSQL.
        MissingPluginError: The driver for PostgreSQL is not installed.
    """
    url = _url(address)
    if url.get_backend_name() == "sqlite":
        engine = create_engine(url, connect_args={"timeout": _WAIT_SECONDS})
        _begin_at_once(engine)
        return engine
    try:
        return create_engine(url, pool_pre_ping=True)
    except ModuleNotFoundError as error:
        raise MissingPluginError(
            f"The driver {error.name} is not installed.", remedy='pip install "primabench-board[postgresql]"'
        ) from error


def _url(address: str) -> URL:
    if "://" not in address:
        return URL.create("sqlite", database=address)
    try:
        url = make_url(address)
        backend = url.get_backend_name()
    except (ArgumentError, NoSuchModuleError, ValueError) as error:
        raise UsageError("The address of the ledger is no URL.", remedy="--db postgresql://… or a file") from error
    if backend == "postgres":  # a common spelling that SQLAlchemy no longer knows
        url = url.set(drivername="postgresql")
        backend = "postgresql"
    if backend not in ("sqlite", "postgresql"):
        raise UsageError(f"A ledger is kept in SQLite or PostgreSQL, not in {backend}.")
    return url.set(drivername="postgresql+psycopg") if url.drivername == "postgresql" else url


def _begin_at_once(engine: Engine) -> None:
    """Let SQLite take its lock when a transaction begins, so that nothing read in it can be overtaken."""

    @event.listens_for(engine, "connect")
    def _connect(connection: Any, _record: Any) -> None:
        connection.isolation_level = None  # or the driver begins on its own, and late
        connection.execute("PRAGMA foreign_keys = ON")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        mode = "IMMEDIATE" if connection.get_execution_options().get("writes") else "DEFERRED"
        connection.exec_driver_sql(f"BEGIN {mode}")


@contextmanager
def transaction(engine: Engine, *, writes: bool) -> Iterator[Connection]:
    """A transaction; one that writes has the ledger for itself.

    Raises:
        StoreError: The database cannot be reached or refuses; the message shows no password.
    """
    try:
        with engine.connect().execution_options(writes=writes) as connection, connection.begin():
            if engine.dialect.name == "postgresql":
                if writes:
                    connection.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
                else:  # both tables as of one moment
                    connection.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"))
            yield connection
    except DBAPIError as error:
        shown = engine.url.render_as_string(hide_password=True)
        reason = str(error.orig).strip().splitlines()[0] if error.orig else type(error).__name__
        raise StoreError(f"The ledger {shown} cannot be used: {reason}") from error


def prepare(engine: Engine, *, create: bool) -> None:
    """Bring the database to the newest revision.

    Args:
        engine: From :func:`engine_of`.
        create: Whether a ledger may be made where there is none.

    Raises:
        UsageError: There is none and none may be made.
        StoreError: It was made by a newer version of this package, or holds tables that are not a ledger's.
    """
    shown = engine.url.render_as_string(hide_password=True)
    if engine.dialect.name == "sqlite" and not _has_file(engine) and not create:
        raise UsageError(f"There is no ledger at {shown}.", remedy="primabench board add RESULT.json, or --db")
    with transaction(engine, writes=False) as connection:
        found = _revision(connection)
    if found == REVISION:
        return
    if found is None and not create:
        raise UsageError(f"There is no ledger at {shown}.", remedy="primabench board add RESULT.json, or --db")
    _upgrade(engine, shown)


def _has_file(engine: Engine) -> bool:
    database = engine.url.database
    return not database or database == ":memory:" or Path(database).exists()


def _revision(connection: Connection) -> str | None:
    tables = inspect(connection).get_table_names()
    if "alembic_version" not in tables:
        return None
    found: str | None = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    return found


def _upgrade(engine: Engine, shown: str) -> None:
    from alembic import command
    from alembic.config import Config
    from alembic.util.exc import CommandError

    with transaction(engine, writes=True) as connection:
        if _revision(connection) == REVISION:  # another process was faster
            return
        config = Config()
        config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
        config.set_main_option("path_separator", "os")
        config.attributes["connection"] = connection
        try:
            command.upgrade(config, REVISION)
        except CommandError as error:
            raise StoreError(
                f"The ledger {shown} was made by a newer version of primabench-board.",
                remedy="pip install --upgrade primabench-board",
            ) from error
