"""interviews"""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0034"
down_revision = "0033"
branch_labels = None
depends_on = None

OWNER = ["organisation_id", "livemode"]
MOMENT = sa.DateTime(timezone=True)
JSON = postgresql.JSONB()
OWNED: list[sa.Column[Any]] = [
    sa.Column("organisation_id", sa.Uuid(), nullable=False),
    sa.Column("livemode", sa.Boolean(), nullable=False),
    sa.Column("id", sa.Uuid(), nullable=False),
    sa.Column("created_at", MOMENT, nullable=False),
    sa.Column("updated_at", MOMENT, nullable=False),
]
TEXTS = (
    "candidate_token",
    "interviewer_token",
    "candidate_email",
    "candidate_name",
    "status",
    "interview_type",
    "interviewer_mode",
    "active_language",
    "job_description",
    "resume_text",
    "target_role",
    "target_company",
    "difficulty",
    "identity_match",
    "analysis_status",
    "outcome_comment",
)
MOMENTS = (
    "scheduled_at",
    "started_at",
    "ended_at",
    "candidate_joined_at",
    "interviewer_joined_at",
    "consent_at",
    "analysis_at",
    "outcome_at",
    "due_at",
)
LISTS = {
    "owner": OWNER,
    "owner_status": [*OWNER, "status"],
    "owner_interview_type": [*OWNER, "interview_type"],
    "owner_interviewer_mode": [*OWNER, "interviewer_mode"],
}
HERE = sa.text("deleted_at IS NULL")
TABLES = (
    "interview_usage",
    "interview_interviewers",
    "interview_shares",
    "interview_updates",
    "interview_events",
    "interview_questions",
    "interviews",
    "interview_templates",
)


def upgrade() -> None:
    op.create_table(
        "interview_templates",
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("settings", JSON, nullable=False),
        sa.Column("deleted_at", MOMENT, nullable=True),
        *(column.copy() for column in OWNED),
        *_keys("interview_templates", organisation_id="organisations.id"),
    )
    op.create_index(
        "ix_interview_templates_owner",
        "interview_templates",
        [*OWNER, "id", "updated_at"],
        postgresql_where=HERE,
    )
    op.create_index(
        "ix_interview_templates_owner_updated_at",
        "interview_templates",
        [*OWNER, "updated_at"],
        postgresql_where=HERE,
    )
    op.create_table(
        "interviews",
        sa.Column("title", sa.Text(), nullable=False),
        *(sa.Column(name, sa.Text(), nullable=False) for name in TEXTS),
        *(sa.Column(name, MOMENT, nullable=True) for name in MOMENTS),
        sa.Column("consent_text", sa.Text(), nullable=True),
        sa.Column("recommendation", sa.Text(), nullable=True),
        sa.Column("outcome_by", sa.Text(), nullable=True),
        sa.Column("mail_error", sa.Text(), nullable=True),
        sa.Column("human_can_join", sa.Boolean(), nullable=False),
        sa.Column("voice_mode", sa.Boolean(), nullable=False),
        sa.Column("send_invite", sa.Boolean(), nullable=False),
        sa.Column("time_limit_minutes", sa.Integer(), nullable=False),
        sa.Column("ics_sequence", sa.Integer(), nullable=False),
        sa.Column("last_number", sa.BigInteger(), nullable=False),
        sa.Column("stage", sa.Integer(), nullable=True),
        sa.Column("integrity_config", JSON, nullable=False),
        sa.Column("session_metadata", JSON, nullable=False),
        sa.Column("whiteboard_snapshot", JSON, nullable=True),
        sa.Column("analysis", JSON, nullable=True),
        sa.Column("candidate_id", sa.Uuid(), nullable=True),
        sa.Column("candidate_session_id", sa.Uuid(), nullable=True),
        sa.Column("pipeline_enrollment_id", sa.Uuid(), nullable=True),
        sa.Column("template_id", sa.Uuid(), nullable=True),
        *(column.copy() for column in OWNED),
        *_keys(
            "interviews",
            organisation_id="organisations.id",
            candidate_id="candidates.id",
            candidate_session_id="sessions.id",
            pipeline_enrollment_id="enrollments.id",
            template_id="interview_templates.id",
        ),
        sa.UniqueConstraint("candidate_token", name="uq_interviews_candidate_token"),
        sa.UniqueConstraint("interviewer_token", name="uq_interviews_interviewer_token"),
    )
    for name, keys in LISTS.items():
        op.create_index(f"ix_interviews_{name}", "interviews", [*keys, "id", "updated_at"])
    op.create_index("ix_interviews_owner_updated_at", "interviews", [*OWNER, "updated_at"])
    op.create_index("ix_interviews_candidate", "interviews", ["candidate_id", "id"])
    op.create_index(
        "ix_interviews_enrollment",
        "interviews",
        ["pipeline_enrollment_id", "stage", "id"],
        postgresql_where=sa.text("pipeline_enrollment_id IS NOT NULL"),
    )
    op.create_index(
        "ix_interviews_due", "interviews", ["due_at"], postgresql_where=sa.text("due_at IS NOT NULL")
    )
    op.create_index(
        "ix_interviews_parts",
        "interviews",
        [sa.text("parts(searched(title, candidate_name, ARRAY[candidate_email]), 1)")],
        postgresql_using="gin",
    )
    # How frequent each of many parts is decides how a search is planned.
    op.execute("ALTER INDEX ix_interviews_parts ALTER COLUMN 1 SET STATISTICS 1000")
    op.create_table(
        "interview_questions",
        sa.Column("interview_id", sa.Uuid(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        *(
            sa.Column(name, sa.Text(), nullable=False)
            for name in ("title", "source", "question_type", "body", "starter_code", "solution")
        ),
        sa.Column("expected_answer", sa.Text(), nullable=False),
        sa.Column("difficulty", sa.Text(), nullable=False),
        sa.Column("current_code", sa.Text(), nullable=False),
        sa.Column("current_language", sa.Text(), nullable=False),
        sa.Column("hints", JSON, nullable=True),
        sa.Column("is_active", sa.Boolean(), nullable=False),
        sa.Column("platform_case_id", sa.Uuid(), nullable=True),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        *_keys("interview_questions", interview_id="interviews.id"),
        sa.UniqueConstraint("interview_id", "position", name="uq_interview_questions_interview_id_position"),
    )
    op.create_table(
        "interview_events",
        sa.Column("interview_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("actor_name", sa.Text(), nullable=False),
        sa.Column("data", JSON, nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        *_keys("interview_events", "interview_id", "number", interview_id="interviews.id"),
        sa.UniqueConstraint("interview_id", "id", name="uq_interview_events_interview_id_id"),
    )
    op.create_table(
        "interview_updates",
        sa.Column("interview_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("update", sa.LargeBinary(), nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        *_keys("interview_updates", "interview_id", "number", interview_id="interviews.id"),
    )
    op.create_table(
        "interview_shares",
        sa.Column("interview_id", sa.Uuid(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("expires_at", MOMENT, nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        *_keys("interview_shares", interview_id="interviews.id"),
        sa.UniqueConstraint("hash", name="uq_interview_shares_hash"),
    )
    op.create_index("ix_interview_shares_interview", "interview_shares", ["interview_id", "id"])
    op.create_table(
        "interview_interviewers",
        sa.Column("interview_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        *_keys(
            "interview_interviewers",
            "interview_id",
            "user_id",
            interview_id="interviews.id",
            user_id="members.user_id",
        ),
    )
    op.create_index("ix_interview_interviewers_user", "interview_interviewers", ["user_id"])
    op.create_table(
        "interview_usage",
        sa.Column("organisation_id", sa.Uuid(), nullable=False),
        sa.Column("month", sa.Date(), nullable=False),
        sa.Column("used", sa.Integer(), nullable=False),
        *_keys("interview_usage", "organisation_id", "month", organisation_id="organisations.id"),
    )
    # Who waited for interviews to be there goes on; later than a version that knows none runs beside this one.
    op.execute(
        """
        UPDATE enrollments SET retry_at = now() + interval '10 minutes'
        WHERE waiting_reason = 'interviews_not_available' AND status = 'active'
        """
    )


def _keys(table: str, *primary: str, **foreign: str) -> list[sa.schema.SchemaItem]:
    """Return a table's keys; what is of a room or of a member goes with it."""
    gone = {"interviews.id", "members.user_id"}
    return [
        sa.PrimaryKeyConstraint(*(primary or ("id",)), name=f"pk_{table}"),
        *(
            sa.ForeignKeyConstraint(
                [column],
                [target],
                name=f"fk_{table}_{column}_{target.partition('.')[0]}",
                ondelete="CASCADE" if target in gone else None,
            )
            for column, target in foreign.items()
        ),
    ]


def downgrade() -> None:
    for table in TABLES:
        op.drop_table(table)
