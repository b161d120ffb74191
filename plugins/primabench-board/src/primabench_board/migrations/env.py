"""Runs migrations on the connection that the ledger hands over; there is no configuration file."""

from __future__ import annotations

from alembic import context

from primabench_board.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata, transactional_ddl=True)
with context.begin_transaction():
    context.run_migrations()
