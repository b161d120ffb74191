"""The first ledger: names, submissions, scores, contacts; triggers that let the first three only grow."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_GROWING = ("names", "submissions", "scores")


def upgrade() -> None:
    """Make the tables."""
    _names()
    _submissions()
    _scores()
    op.create_table(
        "contacts",
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("contact", sa.Text(), nullable=False),
        sa.Column("notes", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("owner", name="pk_contacts"),
    )
    op.execute(
        "CREATE VIEW results AS SELECT c.task_id, n.display AS model_name, c.score, s.is_baseline, s.owner, "
        "s.submitted_at FROM scores c JOIN submissions s ON s.id = c.submission_id JOIN names n ON n.id = s.name_id "
        "WHERE c.status = 'scored'"
    )
    _let_grow_only(op.get_bind().dialect.name)


def _names() -> None:
    op.create_table(
        "names",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("display", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("look", sa.Text(), nullable=False),
        sa.Column("folded_look", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("first_used", sa.String(20), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_names"),
        sa.UniqueConstraint("key", name="uq_names_key"),
        sa.UniqueConstraint("look", name="uq_names_look"),
        sa.UniqueConstraint("folded_look", name="uq_names_folded_look"),
    )


def _submissions() -> None:
    op.create_table(
        "submissions",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("name_id", sa.Integer(), nullable=False),
        sa.Column("organisation", sa.Text(), nullable=False),
        sa.Column("model_family", sa.Text(), nullable=False),
        sa.Column("is_baseline", sa.Boolean(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("submitted_at", sa.String(20), nullable=False),
        sa.Column("added_at", sa.String(20), nullable=False),
        sa.Column("document_sha256", sa.String(64), nullable=False),
        sa.Column("facts", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_submissions"),
        sa.ForeignKeyConstraint(["name_id"], ["names.id"], name="fk_submissions_name_id"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_submissions_name_id", "submissions", ["name_id"])
    op.create_index("ix_submissions_owner", "submissions", ["owner", "added_at"])


def _scores() -> None:
    op.create_table(
        "scores",
        sa.Column("submission_id", sa.Integer(), nullable=False),
        sa.Column("task_id", sa.String(64), nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("score", sa.Double(), nullable=True),
        sa.Column("low", sa.Double(), nullable=True),
        sa.Column("high", sa.Double(), nullable=True),
        sa.Column("labels_sha256", sa.String(64), nullable=False),
        sa.Column("probe_sha256", sa.String(64), nullable=False),
        sa.Column("record", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("submission_id", "task_id", name="pk_scores"),
        sa.ForeignKeyConstraint(["submission_id"], ["submissions.id"], name="fk_scores_submission_id"),
    )
    op.create_index("ix_scores_task_id", "scores", ["task_id"])


def _let_grow_only(dialect: str) -> None:
    if dialect == "postgresql":
        op.execute(
            "CREATE FUNCTION ledger_only_grows() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE EXCEPTION 'the ledger only grows'; END $$"
        )
    for table in _GROWING:
        if dialect == "postgresql":
            op.execute(
                f"CREATE TRIGGER {table}_grows BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} "
                "FOR EACH STATEMENT EXECUTE FUNCTION ledger_only_grows()"
            )
            continue
        for deed in ("UPDATE", "DELETE"):
            op.execute(
                f"CREATE TRIGGER {table}_no_{deed.lower()} BEFORE {deed} ON {table} "
                "BEGIN SELECT RAISE(ABORT, 'the ledger only grows'); END"
            )
