"""The addresses that go out in answers, mails and events."""

from urllib.parse import urlsplit

_base_url = "http://localhost:8080"


def configure(base_url: str) -> None:
    """Set where the service is reached from outside, without a slash at the end."""
    global _base_url  # noqa: PLW0603 - one process, one address
    _base_url = base_url.rstrip("/")


def base() -> str:
    """Return where the service is reached from outside."""
    return _base_url


def origin() -> str:
    """Return the same without a path: what a browser calls our own."""
    return "{0.scheme}://{0.netloc}".format(urlsplit(_base_url))


def is_secure() -> bool:
    """Say whether the service is reached by https."""
    return _base_url.startswith("https:")


def cookie() -> str:
    """Return the name of the cookie that a session is kept in; browsers hold the first to what it begins with."""
    return "__Host-session" if is_secure() else "hiring-session"


def starting_cookie() -> str:
    """Return the name of the cookie that binds what a browser begins to what it comes back with."""
    return "__Host-signing-in" if is_secure() else "hiring-signing-in"


def path(address: str) -> str:
    """Return the same within our own pages: without what says where the service is."""
    return address.removeprefix(origin())


def take(token: str) -> str:
    """Return the link that a candidate opens."""
    return f"{_base_url}/take/{token}"


def report(token: str) -> str:
    """Return where a key that may read results finds a candidate's report."""
    return f"{_base_url}/api/v1/public/invites/{token}/report/"


def offer(token: str) -> str:
    """Return the link with which a candidate reads and answers an offer."""
    return f"{_base_url}/offer/{token}"


def application(token: str) -> str:
    """Return the link with which somebody who applied sees how it stands, and changes what they sent."""
    return f"{_base_url}/application/{token}"


def interview(token: str) -> str:
    """Return the link to an interview's room: the candidate's or the interviewers', by the token."""
    return f"{_base_url}/interview/{token}"


def shared_interview(token: str) -> str:
    """Return the link to look at an interview and change nothing."""
    return f"{_base_url}/interview/shared/{token}"


def shared_report(token: str) -> str:
    """Return the link to look at a candidate's report."""
    return f"{_base_url}/report/{token}"


def recordings(token: str) -> str:
    """Return the link under which a sitting's recordings are played, for as long as the token is good."""
    return f"{_base_url}/recordings/{token}"


def logo(organisation_slug: str) -> str:
    """Return where everybody finds an organisation's logo."""
    return f"{_base_url}/brand/{organisation_slug}/logo/"


def join(token: str) -> str:
    """Return the link by which an invited person joins an organisation."""
    return f"{_base_url}/join/{token}"


def error(code: str) -> str:
    """Return the page that explains an error code."""
    return f"{_base_url}/docs/errors/{code}/"


def careers(organisation_slug: str) -> str:
    """Return the page of an organisation's open jobs."""
    return f"{_base_url}/careers/{organisation_slug}/"


def job(organisation_slug: str, job_slug: str) -> str:
    """Return the page of an open job."""
    return f"{careers(organisation_slug)}{job_slug}/"


def applied(organisation_slug: str, job_slug: str) -> str:
    """Return the page that thanks for an application."""
    return f"{job(organisation_slug, job_slug)}applied/"


def sitemap() -> str:
    """Return the list of the pages that everybody may find."""
    return f"{_base_url}/sitemap.xml"


def sign_in(token: str) -> str:
    """Return the page whose button signs somebody in, once."""
    return f"{_base_url}/area/sign-in/{token}/"


def company_sign_in() -> str:
    """Return where a company's own sign-in sends people back to."""
    return f"{_base_url}/area/sign-in/company/code/"


def area_keys() -> str:
    """Return the page of an organisation's API keys."""
    return f"{_base_url}/area/keys/"
