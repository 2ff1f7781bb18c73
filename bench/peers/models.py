"""The tables as SQLAlchemy entities, as somebody writes them who uses the ORM throughout."""

from datetime import date, datetime
from typing import Any
from uuid import UUID

from sqlalchemy import DateTime, ForeignKey, Text
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship


class Base(DeclarativeBase):
    type_annotation_map = {  # noqa: RUF012
        datetime: DateTime(timezone=True),
        str: Text(),
        list[str]: ARRAY(Text()),
        Any: JSONB(),
    }


class Organisation(Base):
    __tablename__ = "organisations"
    id: Mapped[UUID] = mapped_column(primary_key=True)
    plan: Mapped[str]


class ApiKey(Base):
    __tablename__ = "api_keys"
    id: Mapped[UUID] = mapped_column(primary_key=True)
    organisation_id: Mapped[UUID] = mapped_column(ForeignKey("organisations.id"))
    livemode: Mapped[bool]
    hash: Mapped[str]
    scopes: Mapped[list[str]]
    expires_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]


class Usage(Base):
    __tablename__ = "invite_usage"
    organisation_id: Mapped[UUID] = mapped_column(primary_key=True)
    month: Mapped[date] = mapped_column(primary_key=True)
    used: Mapped[int]


class Assessment(Base):
    __tablename__ = "assessments"
    id: Mapped[UUID] = mapped_column(primary_key=True)
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]
    organisation_id: Mapped[UUID]
    livemode: Mapped[bool]
    slug: Mapped[str]
    title: Mapped[str]
    description: Mapped[str]
    status: Mapped[str]
    team_id: Mapped[UUID | None]
    time_limit_minutes: Mapped[int | None]
    passing_score: Mapped[int]
    enforce_fullscreen: Mapped[bool]
    copy_paste_disabled: Mapped[bool]
    session_recording_enabled: Mapped[bool]
    screen_recording_enabled: Mapped[bool]
    webcam_recording_enabled: Mapped[bool]
    notify_on_completion: Mapped[bool]
    violation_review_threshold: Mapped[int | None]
    pool_mode: Mapped[bool]
    assignment_size: Mapped[int | None]
    shuffle_strategy: Mapped[str]
    case_count: Mapped[int]
    invitation_count: Mapped[int]
    cases_locked: Mapped[bool]


class Invitation(Base):
    __tablename__ = "invitations"
    id: Mapped[UUID] = mapped_column(primary_key=True)
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]
    organisation_id: Mapped[UUID]
    livemode: Mapped[bool]
    assessment_id: Mapped[UUID] = mapped_column(ForeignKey("assessments.id"))
    token: Mapped[str]
    email: Mapped[str]
    email_key: Mapped[str]
    name: Mapped[str]
    role: Mapped[str]
    status: Mapped[str]
    external_id: Mapped[str | None]
    tags: Mapped[list[str]]
    extra_time_percent: Mapped[int]
    expires_at: Mapped[datetime]
    started_at: Mapped[datetime | None]
    completed_at: Mapped[datetime | None]
    reminded_at: Mapped[datetime | None]
    enrollment_id: Mapped[UUID | None]
    assessment: Mapped[Assessment] = relationship(lazy="raise")


class EventSequence(Base):
    __tablename__ = "event_sequences"
    organisation_id: Mapped[UUID] = mapped_column(primary_key=True)
    livemode: Mapped[bool] = mapped_column(primary_key=True)
    last: Mapped[int]


class Event(Base):
    __tablename__ = "events"
    id: Mapped[UUID] = mapped_column(primary_key=True)
    created_at: Mapped[datetime]
    organisation_id: Mapped[UUID]
    livemode: Mapped[bool]
    sequence: Mapped[int]
    type: Mapped[str]
    data: Mapped[Any]
