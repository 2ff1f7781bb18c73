"""Careers pages as visitors look for jobs on them, and as search engines and other sites meet them."""

import json
import re
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from rules.sources import site
from tests.api import Api, Tenant, address
from tests.handlers.test_careers import ask, jobs, page
from tests.probes import faults

TEXT = "<p>You build the services that <b>others</b> use.</p><p>&lt;/script&gt;</p>"
LISTING = "http://www.sitemaps.org/schemas/sitemap/0.9"


@pytest.fixture
def world(tenant: Tenant) -> Api:
    """Anybody, without a key."""
    return Api(tenant.http, None, "")


SEVERAL: dict[str, dict[str, Any]] = {
    "Backend engineer": {"location_text": "Berlin", "position_types": ["full_time"]},
    "100% remote cook": {"workplace_type": "remote", "country_code": "DE", "position_types": ["contract"]},
    "Zoologist": {
        "location_text": "Paris",
        "workplace_type": "onsite",
        "position_types": ["part_time", "contract"],
    },
    "Engineer of bridges": {"location_text": "Berlin", "workplace_type": "hybrid"},
}


@pytest.fixture
def several(tenant: Tenant) -> None:
    """Four open jobs that differ in everything that can be looked for; the first is a team's."""
    team: dict[str, Any] = {"team_id": tenant.live.squad("Platform")["id"]}
    for title, more in SEVERAL.items():
        tenant.live.job(published=True, title=title, description_html=TEXT, **more, **team)
        team = {}


def titles(html: str) -> list[str]:
    return re.findall(r"<h2[^>]*><a [^>]*>([^<]*)</a></h2>", html)


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({"search": "ENGINEER"}, ["Engineer of bridges", "Backend engineer"]),
        ({"search": "100%"}, ["100% remote cook"]),
        ({"search": "paris"}, ["Zoologist"]),
        ({"search": "%"}, ["100% remote cook"]),
        ({"search": "_"}, []),
        ({"location": "Berlin"}, ["Engineer of bridges", "Backend engineer"]),
        ({"team": "platform"}, ["Backend engineer"]),
        ({"team": "nobody"}, []),
        ({"position_type": "contract"}, ["Zoologist", "100% remote cook"]),
        ({"workplace_type": "remote"}, ["100% remote cook"]),
        ({"location": "Berlin", "search": "bridge"}, ["Engineer of bridges"]),
    ],
)
def test_jobs_are_looked_for_on_the_page_and_by_programs(
    world: Api, tenant: Tenant, several: None, asked: dict[str, str], found: list[str]
) -> None:
    listed = world.get(jobs(tenant), params=asked).json()["results"]
    assert [one["title"] for one in listed] == found
    html = world.get(page(tenant), params=asked).text
    assert titles(html) == found
    assert ("No open job is like that" in html) == (found == [])
    assert "noindex" in html


def test_what_there_is_to_choose_is_what_jobs_have(
    world: Api, tenant: Tenant, other: Tenant, several: None
) -> None:
    other.live.job(published=True, location_text="Elsewhere")
    html = world.get(page(tenant)).text
    options = re.findall(r'<option value="([^"]*)"', html)
    kinds, places = ["contract", "full_time", "part_time"], ["hybrid", "onsite", "remote"]
    assert options == ["", "Berlin", "Paris", "", *kinds, "", *places]
    assert "Platform" in html
    assert "Posted" in html
    assert len(titles(world.get(page(tenant), params={"location": "", "search": " "}).text)) == 4


def test_what_no_program_may_look_for_is_refused(world: Api, tenant: Tenant) -> None:
    answer = world.get(jobs(tenant), params={"position_type": "eternal", "workplace_type": "moon"})
    assert set(faults(answer)) == {"/query/position_type", "/query/workplace_type"}
    assert world.get(page(tenant), params={"position_type": "eternal"}).status_code == 200


def test_pages_of_what_is_looked_for_go_on(
    world: Api, tenant: Tenant, several: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("handlers.careers.JOBS_ON_A_PAGE", 1)
    first = world.get(page(tenant), params={"location": "Berlin"}).text
    following = re.search(r'href="\?(cursor=[^"]*)">Older jobs', first)
    assert following is not None
    second = world.get(f"{page(tenant)}?{following[1].replace('&amp;', '&')}").text
    assert titles(first) + titles(second) == ["Engineer of bridges", "Backend engineer"]
    assert "Older jobs" not in second


# --- What machines read


def posting(html: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/ld\+json">(.*?)</script>', html, re.DOTALL)
    assert found is not None, html
    return dict(json.loads(found[1]))


def is_a_posting(one: dict[str, Any]) -> bool:
    """Hold a posting against what schema.org has and what search engines require."""
    assert (one["@context"], one["@type"]) == ("https://schema.org/", "JobPosting")
    for name in ("title", "description", "datePosted"):
        assert isinstance(one[name], str), name
        assert one[name], name
    moment = r"\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d))?"
    assert re.fullmatch(moment, one["datePosted"])
    assert re.fullmatch(moment, one.get("validThrough", one["datePosted"]))
    organisation = one["hiringOrganization"]
    assert organisation["@type"] == "Organization"
    assert organisation["name"]
    if one.get("jobLocationType") == "TELECOMMUTE":
        country = one["applicantLocationRequirements"]
        assert country["@type"] == "Country"
        assert country["name"]
    else:
        assert one["jobLocation"]["@type"] == "Place"
        assert one["jobLocation"]["address"].pop("@type") == "PostalAddress"
        assert one["jobLocation"]["address"]
    known = {"FULL_TIME", "PART_TIME", "CONTRACTOR", "TEMPORARY", "INTERN", "VOLUNTEER", "PER_DIEM", "OTHER"}
    return set(one.get("employmentType", [])) <= known


def test_an_open_job_is_a_posting_that_search_engines_take(world: Api, tenant: Tenant) -> None:
    job = tenant.live.job(
        published=True,
        title="Cook & </script> baker",
        description_html=TEXT,
        location_text="Berlin",
        country_code="DE",
        position_types=["full_time", "freelance", "internship"],
        expires_at="2099-01-01T00:00:00Z",
    )
    html = world.get(page(tenant, job["slug"])).text
    found = posting(html)
    assert is_a_posting(found)
    assert found["title"] == "Cook & </script> baker"
    assert found["validThrough"] == "2099-01-01T00:00:00.000Z"
    assert found["employmentType"] == ["CONTRACTOR", "FULL_TIME", "INTERN"]
    assert found["url"] == f"http://testserver{page(tenant, job['slug'])}"
    assert "Closes" in html


def test_a_remote_job_says_from_where_it_may_be_done(world: Api, tenant: Tenant) -> None:
    job = tenant.live.job(
        published=True, description_html=TEXT, workplace_type="remote", country_code="FR", location_text="Anywhere"
    )  # fmt: skip
    found = posting(world.get(page(tenant, job["slug"])).text)
    assert is_a_posting(found)
    assert "jobLocation" not in found


@pytest.mark.parametrize("lacks", [{"description_html": TEXT}, {"location_text": "Berlin"},
                                   {"description_html": TEXT, "workplace_type": "remote"}])  # fmt: skip
def test_a_job_that_says_too_little_is_no_posting(world: Api, tenant: Tenant, lacks: dict[str, Any]) -> None:
    job = tenant.live.job(published=True, **lacks)
    assert "ld+json" not in world.get(page(tenant, job["slug"])).text


def test_pages_say_what_they_are_to_whoever_shares_them(world: Api, tenant: Tenant) -> None:
    job = tenant.live.job(published=True, title='A "good" job', description_html=TEXT + "<p>x</p>" * 200)
    html = world.get(page(tenant, job["slug"]), params={"utm_source": "news"}).text
    address_of_it = f"http://testserver{page(tenant, job['slug'])}"
    assert f'<link rel="canonical" href="{address_of_it}">' in html
    for name in ("title", "description", "url", "site_name", "type"):
        assert f'property="og:{name}"' in html, name
    assert re.search(r'<meta name="description" content="You build the services[^"]{20,200}…">', html)
    assert 'content="A &#34;good&#34; job' in html
    assert f'<link rel="canonical" href="http://testserver{page(tenant)}">' in world.get(page(tenant)).text


def test_the_sitemap_names_open_live_jobs_alone(world: Api, tenant: Tenant, other: Tenant) -> None:
    shown = tenant.live.job(published=True, title="Shown")["slug"]
    theirs = other.live.job(published=True, title="Theirs")["slug"]
    hidden = [tenant.live.job(title="Draft")["slug"], tenant.test.job(published=True, title="Test")["slug"]]
    answer = world.get("/sitemap.xml")
    found = [one.text for one in ET.fromstring(answer.text).iter(f"{{{LISTING}}}loc")]
    for path in (page(tenant), page(tenant, shown), page(other, theirs)):
        assert found.count(f"http://testserver{path}") == 1
    assert not [one for one in found for slug in hidden if (one or "").endswith(f"/{slug}/")]


def test_robots_keep_away_from_what_tokens_open(world: Api) -> None:
    text = world.get("/robots.txt").text
    for path in ("/application/", "/take/", "/offer/", "/api/"):
        assert f"Disallow: {path}\n" in text
    assert "Sitemap: http://testserver/sitemap.xml\n" in text
    assert "/careers/" not in text


# --- Other sites


def test_only_the_embedded_list_may_stand_in_a_frame(world: Api, tenant: Tenant, several: None) -> None:
    inside = world.get(f"{page(tenant)}embed/")
    assert "frame-ancestors *" in inside.headers["content-security-policy"]
    assert "x-frame-options" not in inside.headers
    assert len(titles(inside.text)) == 4
    assert 'href="../zoologist/"' in inside.text
    assert '<form method="post"' not in inside.text
    for path in (page(tenant), page(tenant, "zoologist"), f"{page(tenant, 'zoologist')}applied/"):
        outside = world.get(path)
        assert "frame-ancestors 'none'" in outside.headers["content-security-policy"]
        assert outside.headers["x-frame-options"] == "DENY"
    assert tenant.live.job(title="Embed")["slug"] != "embed"


@pytest.mark.parametrize("path", ["/Careers/{}/", "/careers/{}/ZOOLOGIST/", "/CAREERS/{}"])
def test_what_is_typed_in_capitals_is_found(world: Api, tenant: Tenant, several: None, path: str) -> None:
    world.checked = False  # not all of these are paths of a document
    typed = path.format(tenant.organisation.slug.upper())
    answer = world.get(f"{typed}?utm_source=News", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (308, f"{typed.lower()}?utm_source=News")
    assert world.get(typed).status_code == 200


def test_where_an_applicant_came_from_is_kept_where_it_is_wanted(world: Api, tenant: Tenant) -> None:
    job = tenant.live.job(published=True)["slug"]
    came = {"Referer": "https://news.example.org/item?id=1"}
    hidden = 'name="referrer" value="news.example.org"'
    assert hidden not in world.get(page(tenant, job), headers=came).text
    tenant.live.patch("/org/settings/", {"source_tracking": True})
    assert hidden in world.get(page(tenant, job), headers=came).text
    assert "referrer=news.example.org" in world.get(page(tenant), headers=came).text
    form = {"email": address(), "full_name": "Ada", "referrer": "news.example.org"}
    assert world.post(page(tenant, job), data=form).status_code == 200
    [made] = tenant.live.get("/applications/").json()["results"]
    whole = tenant.live.get(f"/applications/{made['id']}/").json()
    assert whole["source_detail"] == {"referrer": "news.example.org"}


@pytest.mark.parametrize(
    ("address_", "host"),
    [
        ("https://news.example.org/a?b=c", "news.example.org"),
        ("http://testserver/careers/x/", ""),
        ("android-app://com.example", "com.example"),
        ("", ""),
        (None, ""),
        ("nonsense", ""),
        ("http://[", ""),
    ],
)
def test_of_where_a_visitor_came_from_the_site_is_read(address_: str | None, host: str) -> None:
    assert site(address_, "http://testserver") == host


# --- The form


def test_long_choices_are_a_list_to_open(world: Api, tenant: Tenant) -> None:
    job = tenant.live.job(published=True)["slug"]
    ask(
        tenant,
        job,
        "country",
        "single_select",
        options=[{"value": f"c{n}", "label": f"Country {n}"} for n in range(8)],
    )
    ask(
        tenant,
        job,
        "size",
        "single_select",
        options=[{"value": f"s{n}", "label": f"Size {n}"} for n in range(7)],
    )
    html = world.get(page(tenant, job)).text
    assert '<select name="answers.country"' in html
    assert html.count('type="radio" name="answers.size"') == 7
    form = {"email": "x", "full_name": "Ada", "answers.country": "c3"}
    assert '<option value="c3" selected>' in world.post(page(tenant, job), data=form).text
