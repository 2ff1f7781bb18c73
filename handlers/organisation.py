"""The caller's own organisation."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import date
from typing import Any

from sqlalchemy.orm import Session

from gateways import mail, models, sandbox
from rules import plans
from rules import usage as usage_rules
from rules.caller import Caller
from rules.clock import cycle, iso, now
from rules.pages import Page
from schemas import audit, measuring
from schemas import organisation as schemas
from schemas.files import Stream
from store.accounts import members, organisations
from store.assessing import assessments, figures
from store.auditing import lists as audit_lists
from store.database.engine import Reading
from store.delivering import webhooks
from store.hiring import jobs
from store.interviewing import quota
from store.measuring import health, usage

Body = dict[str, Any]
Readings = Callable[[], AbstractContextManager[Reading]]


def get_organisation(session: Session, caller: Caller) -> Body:
    """Show the organisation with the month's invitations."""
    return _show(session, caller, organisations.get(session, caller))


def update_organisation(session: Session, caller: Caller, body: Body) -> Body:
    """Change its name, or whether members are mailed."""
    organisation = organisations.lock(session, caller)
    organisation.change(body)
    return _show(session, caller, organisation)


def get_billing(session: Session, caller: Caller) -> Body:
    """Show what the plan includes and what of it is used, of the live mode."""
    plan, (start, end) = caller.plan, cycle()
    return {
        "cycle_start": iso(start),
        "cycle_end": iso(end),
        "seats_used": members.seats_used(session, caller.organisation_id),
        "seat_limit": plan.seats,
        **organisations.quota(session, caller),
        "assessment_limit": plan.assessments,
        "assessments_used": assessments.count_kept(session, caller),
        "open_job_limit": plan.open_jobs,
        "open_jobs_used": jobs.count_open(session, caller),
        "interview_limit": plan.interviews,
        "interviews_used": quota.used(session, caller),
    }


def get_stats(reading: Reading, caller: Caller, team_slug: str | None) -> Body:
    """Show figures over the assessments."""
    if team_slug is not None:
        plans.require(caller.plan_name, "team_filters")
    return schemas.stats(figures.read(reading, caller, team_slug))


def get_usage(reading: Reading, caller: Caller, start: date | None, end: date | None) -> Body:
    """Show what was used, day by day."""
    first, last = usage_rules.span(start, end, now().date())
    used = usage.count(reading, caller, first, last)
    return measuring.usage(
        first, last, livemode=caller.livemode, days=used.days, by_assessment=used.assessments
    )


def list_requests(reading: Reading, caller: Caller, **query: Any) -> Page:
    """List what keys changed and what was refused to them, the newest first."""
    return audit_lists.REQUESTS[caller.livemode].page(reading, caller, **query).map(audit.request)


def list_audit_log(reading: Reading, caller: Caller, **query: Any) -> Page:
    """List what was done, the newest first."""
    return audit_lists.LISTS[caller.livemode].page(reading, caller, **query).map(audit.row)


def export_audit_log(readings: Readings, caller: Caller, export_format: str, **query: Any) -> Stream:
    """Hand out the same as a file to be saved, which is made while it is sent."""
    return audit.stream(audit_lists.batches(readings, caller, **query), export_format)


def get_developer_health(reading: Reading, caller: Caller) -> Body:
    """Show how the integration is doing."""
    traffic, endpoints = health.traffic(reading, caller), health.endpoints(reading, caller)
    quota = organisations.quota(reading, caller)
    alerts = usage_rules.alerts(
        usage_rules.Health(
            requests=traffic.requests,
            faults=traffic.faults,
            refusals={one.code: int(one.times) for one in traffic.refusals},
            disabled=endpoints.disabled,
            failing=endpoints.failing,
            oldest_pending_seconds=int(endpoints.oldest_pending_seconds),
            invite_limit=quota["invite_limit"] if caller.livemode else None,
            invites_used=quota["invites_used"],
            languages_missing=health.asked_for(reading, caller, sandbox.missing()),
        )
    )
    return measuring.health(traffic, endpoints, alerts, sandbox.installed())


def list_integrations(reading: Reading, caller: Caller) -> Body:
    """Say what the organisation is connected with, as it is set up."""
    endpoints = webhooks.connection(reading, caller)
    return {
        "integrations": [
            schemas.integration(
                "webhooks", "signed_events", endpoints.is_active, endpoints.last_triggered_at
            ),
            schemas.integration("mail", mail.kind(livemode=caller.livemode), True),
            schemas.integration("assistant", "openai_compatible", models.is_configured()),
        ]
    }


def _show(session: Session, caller: Caller, organisation: organisations.Organisation) -> Body:
    squads = {"squads_enabled": plans.includes(organisation.plan, "squads")}
    return {**schemas.detail(organisation), **squads, **organisations.quota(session, caller)}
