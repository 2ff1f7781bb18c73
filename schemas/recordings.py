"""What recordings of a sitting look like: to the candidate's page, in results, and to whoever plays them."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from rules import links
from rules import recordings as rules
from rules.clock import iso
from schemas.markdown import to_line

HEADERS = {
    "Cache-Control": "private, no-store",
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; sandbox",
}
MEDIA_TYPE = "application/octet-stream"  # whoever plays it knows what it is


def asked(organisation_name: str, kinds: Sequence[str], days: int) -> dict[str, Any]:
    """Show before the start what will be recorded."""
    return {"kinds": list(kinds), "notice": rules.notice(organisation_name, kinds, days)}


def agreed(sitting: Any) -> dict[str, Any]:
    """Show what the candidate has agreed to."""
    return {name: sitting.recording[name] for name in ("kinds", "notice")}


def kept(recording: Any, status: str) -> dict[str, Any]:
    """Confirm chunks to the candidate's page, and say whether the session still runs."""
    return {"recording_id": str(recording.id), "chunks": recording.chunks, "status": status}


def consent(sitting: Any) -> dict[str, Any] | None:
    """Show in a result what was agreed to, in which words, and when; None where nothing was recorded."""
    return sitting.recording and {
        name: sitting.recording[name] for name in ("accepted_at", "kinds", "notice")
    }


def items(sitting: Any, recordings: Sequence[Any], token: str) -> list[dict[str, Any]]:
    """Show a result's recordings, each with the link of this token."""
    return [
        {
            "kind": one.kind,
            "started_at": iso(sitting.started_at + timedelta(milliseconds=one.started_ms)),
            "duration_seconds": round(one.duration_ms / 1000),
            "url": links.recordings(token),
        }
        for one in recordings
    ]


def playback(sitting: Any, cases: Sequence[Any], signals: Sequence[Any], recordings: Sequence[Any]) -> Any:
    """Show a sitting to be played: its tracks, and what happened when, all in ms after its start."""

    def after(moment: Any) -> int:
        return max(0, int((moment - sitting.started_at).total_seconds() * 1000))

    tracks = [
        {
            "id": str(one.id),
            "kind": one.kind,
            "media_type": one.media_type,
            "started_ms": one.started_ms,
            "duration_ms": one.duration_ms,
            "chunks": one.chunks,
        }
        for one in recordings
    ]
    answers = [
        {
            "at_ms": after(one.saved_at),
            "at": clock(after(one.saved_at)),
            "order": one.case_order,
            "title_html": to_line(one.content["title"]),
            "answer": _written(one.answer[0]),
        }
        for one in cases
        if one.answer and one.saved_at
    ]
    violations = [
        {
            "at_ms": after(one.occurred_at),
            "at": clock(after(one.occurred_at)),
            "type": one.violation_type,
            "order": one.case_order,
        }
        for one in signals
    ]
    ends = [one["started_ms"] + one["duration_ms"] for one in tracks]
    return {
        "duration_ms": max([*ends, after(sitting.completed_at) if sitting.completed_at else 0, 1]),
        "tracks": tracks,
        "answers": sorted(answers, key=lambda one: one["at_ms"]),
        "violations": violations,
    }


def clock(ms: int) -> str:
    """Write a moment of a sitting as a player shows it: 12:05, or 1:02:03."""
    minutes, seconds = divmod(ms // 1000, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes:02}:{seconds:02}"


def _written(answer: Any) -> str:
    return ", ".join(map(str, answer)) if isinstance(answer, list) else str(answer)
