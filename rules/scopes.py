"""What a key may be allowed to do."""

SCOPES = (
    "organisation:read", "organisation:write", "assessments:read", "assessments:write",
    "invitations:read", "invitations:write", "candidates:read",
    "cases:read", "cases:write", "tasks:read", "tasks:write",
    "pipelines:read", "pipelines:write", "jobs:read", "jobs:write",
    "applications:read", "applications:write", "screening:write",
    "offers:read", "offers:write", "profiles:read", "profiles:write",
    "interviews:read", "interviews:write", "insights:read",
    "webhooks:read", "webhooks:write", "assistant:write", "test:write",
)  # fmt: skip

# The same scope under its older and its newer name: either satisfies either.
TWINS = {"cases:read": "tasks:read", "cases:write": "tasks:write"} | {
    "tasks:read": "cases:read",
    "tasks:write": "cases:write",
}


def missing(granted: frozenset[str], required: list[str]) -> list[str]:
    """Return the required scopes that a key lacks; a key without scopes has them all."""
    if not granted:
        return []
    return [scope for scope in required if scope not in granted and TWINS.get(scope) not in granted]
