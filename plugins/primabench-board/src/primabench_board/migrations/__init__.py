"""Migrations of the ledger, run by Alembic when a ledger is opened that is older than this package."""
