"""Tables of the ledger, as the newest migration leaves them; a test compares the two.

``submissions``, ``scores`` and ``names`` only grow: triggers refuse to change or delete a row. ``contacts`` is apart
and private, may be corrected and erased, and is read by no page.
"""

from __future__ import annotations

from sqlalchemy import (
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
)

REVISION = "0001"
"""The newest migration."""

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "ix": "ix_%(table_name)s_%(column_0_name)s",
    }
)

names = Table(
    "names",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("display", Text, nullable=False),
    Column("key", Text, nullable=False, unique=True),
    Column("look", Text, nullable=False, unique=True),
    Column("folded_look", Text, nullable=False, unique=True),
    Column("owner", Text, nullable=False),
    Column("first_used", String(20), nullable=False),
)

submissions = Table(
    "submissions",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("name_id", Integer, ForeignKey("names.id"), nullable=False),
    Column("organisation", Text, nullable=False),
    Column("model_family", Text, nullable=False),
    Column("is_baseline", Boolean, nullable=False),
    Column("owner", Text, nullable=False),
    Column("submitted_at", String(20), nullable=False),
    Column("added_at", String(20), nullable=False),
    Column("document_sha256", String(64), nullable=False),
    Column("facts", Text, nullable=False),
    Index("ix_submissions_name_id", "name_id"),
    Index("ix_submissions_owner", "owner", "added_at"),
    sqlite_autoincrement=True,
)

scores = Table(
    "scores",
    metadata,
    Column("submission_id", Integer, ForeignKey("submissions.id"), primary_key=True),
    Column("task_id", String(64), primary_key=True),
    Column("status", String(16), nullable=False),
    Column("reason", Text, nullable=False),
    Column("score", Double, nullable=True),
    Column("low", Double, nullable=True),
    Column("high", Double, nullable=True),
    Column("labels_sha256", String(64), nullable=False),
    Column("probe_sha256", String(64), nullable=False),
    Column("record", Text, nullable=False),
    Index("ix_scores_task_id", "task_id"),
)

contacts = Table(
    "contacts",
    metadata,
    Column("owner", Text, primary_key=True),
    Column("contact", Text, nullable=False),
    Column("notes", Text, nullable=False),
)

APPEND_ONLY = ("names", "submissions", "scores")
"""Tables whose rows are never changed or deleted."""
