"""What the world sees of an organisation's jobs, and applying without a key: the interface and the pages."""

import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from app.instance.settings import Settings
from store.accounts import room as rooms
from tests.api import Api, Tenant, address
from tests.probes import faults, refusal

TEXT = b"Ada Lovelace\nada@example.com\nPython\n"
CHOICES = [{"value": "de", "label": "German"}, {"value": "en", "label": "English"}]


@pytest.fixture
def world(tenant: Tenant) -> Api:
    """Anybody, without a key."""
    return Api(tenant.http, None, "")


def jobs(tenant: Tenant) -> str:
    return f"/api/v1/careers/{tenant.organisation.slug}/jobs/"


def page(tenant: Tenant, job: str = "") -> str:
    return f"/careers/{tenant.organisation.slug}/{job and f'{job}/'}"


def slugs(world: Api, tenant: Tenant) -> list[str]:
    return [one["slug"] for one in world.get(jobs(tenant)).json()["results"]]


def ask(tenant: Tenant, job: str, key: str, field_type: str = "short_text", **field: Any) -> None:
    made = tenant.live.post(
        f"/jobs/{job}/fields/", {"key": key, "label": f"Your {key}?", "field_type": field_type, **field}
    )
    assert made.status_code == 201, made.text


def applications(tenant: Tenant) -> list[dict[str, Any]]:
    return list(tenant.live.get("/applications/", params={"ordering": "submitted_at"}).json()["results"])


# --- Reading


def test_open_jobs_of_the_live_mode_and_no_others_are_there(
    world: Api, tenant: Tenant, other: Tenant
) -> None:
    tenant.live.job(title="A draft")
    first = tenant.live.job(published=True, title="First")["slug"]
    second = tenant.live.job(published=True, title="Second")["slug"]
    closed = tenant.live.job(published=True, title="Closed")["slug"]
    tenant.live.post(f"/jobs/{closed}/close/")
    tested = tenant.test.job(published=True, title="Only a test")["slug"]
    other.live.job(published=True, title="Elsewhere")
    assert slugs(world, tenant) == [second, first]
    html = world.get(page(tenant)).text
    assert "First" in html
    for word in ("A draft", "Closed", "Only a test", "Elsewhere"):
        assert word not in html
    for slug in (closed, tested, "a-draft", "nothing"):
        refusal(world.get(f"{jobs(tenant)}{slug}/"), 404, "NOT_FOUND")
        refusal(
            world.post(f"{jobs(tenant)}{slug}/apply/", {"email": address(), "full_name": "A"}),
            404,
            "NOT_FOUND",
        )
        for answer in (
            world.get(page(tenant, slug)),
            world.post(page(tenant, slug), data={"email": address()}),
        ):
            assert (answer.status_code, "There is nothing here" in answer.text) == (404, True)
    refusal(world.get("/api/v1/careers/nobody/jobs/"), 404, "NOT_FOUND")
    assert world.get("/careers/nobody/").status_code == 404


def test_lists_have_pages(world: Api, tenant: Tenant) -> None:
    made = [tenant.live.job(published=True, title=f"Job {number}")["slug"] for number in range(3)]
    first = world.get(jobs(tenant), params={"page_size": 2}).json()
    second = world.get(first["next"].removeprefix("http://testserver")).json()
    assert [one["slug"] for one in first["results"] + second["results"]] == made[::-1]
    assert "/query/cursor" in faults(world.get(jobs(tenant), params={"cursor": "x"}))


def test_a_job_is_shown_with_what_is_asked_and_nothing_internal(world: Api, tenant: Tenant) -> None:
    job = tenant.live.job(
        published=True,
        description_html="<p>Hi <b>you</b></p>",
        location_text="Berlin",
        position_types=["contract"],
    )["slug"]
    ask(tenant, job, "years", "number", is_required=True)
    ask(tenant, job, "hidden", is_active=False)
    shown = world.get(f"{jobs(tenant)}{job}/").json()
    assert [one["key"] for one in shown["application_fields"]] == ["years"]
    assert shown["url"] == f"http://testserver/careers/{tenant.organisation.slug}/{job}/"
    assert not {"id", "application_count", "screen_auto_advance_l3_min", "rejection_visibility"} & set(shown)
    html = world.get(page(tenant, job)).text
    assert "<p>Hi <b>you</b></p>" in html
    assert "Your years?" in html
    assert "Berlin · Contract" in html
    assert "Your hidden?" not in html
    assert "noindex" not in html


# --- Applying through the interface


def test_the_answer_says_nothing_of_what_became_of_it(world: Api, tenant: Tenant) -> None:
    job = tenant.live.job(published=True)["slug"]
    ask(tenant, job, "years", "number")
    rules = {"rules": [{"field_key": "years", "operator": "gte", "value": 3}]}
    tenant.live.put(f"/jobs/{job}/knockout-rules/replace/", rules)
    path, email = f"{jobs(tenant)}{job}/apply/", address()
    for years in (1, 5):
        answer = world.post(path, {"email": email, "full_name": "Ada", "answers": {"years": years}})
        assert (answer.status_code, answer.json()) == (201, {"status": "submitted"})
    [made] = applications(tenant)
    assert (made["status"], made["source"], made["email"]) == ("knockout_failed", "public_careers", email)
    assert tenant.live.get(f"/applications/{made['id']}/").json()["events"][0]["actor"] == "candidate"


def test_a_multipart_application_brings_files_and_answers(world: Api, tenant: Tenant) -> None:
    job = tenant.live.job(published=True, cv_required=True)["slug"]
    ask(tenant, job, "languages", "multi_select", options=CHOICES)
    path, email = f"{jobs(tenant)}{job}/apply/", address()
    assert set(faults(world.post(path, {"email": email, "full_name": "A", "answers": {"x": 1}}))) == {
        "/cv", "/answers/x",
    }  # fmt: skip
    form = {"email": email, "full_name": "Ada", "answers.languages": ["de", "en"]}
    assert world.post(path, data=form, files={"cv": ("cv.txt", TEXT)}).status_code == 201
    [made] = applications(tenant)
    whole = tenant.live.get(f"/applications/{made['id']}/").json()
    assert whole["answers"][0]["value_json"] == ["de", "en"]
    assert [one["kind"] for one in whole["attachments"]] == ["cv"]


@pytest.mark.parametrize("answers", [{"years": "many"}, {}, {"years": 3, "unknown": 1}])
def test_a_refusal_says_nothing_of_who_has_applied(
    world: Api, tenant: Tenant, answers: dict[str, Any]
) -> None:
    job = tenant.live.job(published=True)["slug"]
    tenant.live.application(job, "ada@example.com")
    tenant.live.patch(f"/jobs/{job}/update/", {"cv_required": True})
    ask(tenant, job, "years", "number", is_required=True)
    for post, path, named in (
        (world.post, f"{jobs(tenant)}{job}/apply/", {}),
        (tenant.live.post, "/applications/create/", {"job_slug": job}),
    ):
        known, unknown = (
            faults(post(path, {"email": email, "full_name": "Ada", "answers": answers, **named}))
            for email in ("ada@example.com", "new@example.com")
        )
        assert known == unknown
        assert "/cv" in known
    files = {"cv": ("cv.txt", TEXT)}
    form = {"email": "ada@example.com", "full_name": "Ada", "answers.years": "3"}
    assert world.post(f"{jobs(tenant)}{job}/apply/", data=form, files=files).status_code == 201
    assert len(applications(tenant)) == 1


@pytest.fixture
def room() -> Iterator[Callable[[int], None]]:
    """Set for how many bytes of files an organisation has room."""
    with pytest.MonkeyPatch.context() as patch:
        yield lambda size: patch.setattr(rooms, "_most", size)


def test_files_are_refused_where_there_is_no_room_for_them_and_nobody_elses_are(
    world: Api, tenant: Tenant, other: Tenant, room: Callable[[int], None], settings: Settings
) -> None:
    ours, theirs = tenant.live.job(published=True)["slug"], other.live.job(published=True)["slug"]
    files = {"cv": ("cv.txt", TEXT)}

    def apply(to: Tenant, job: str, **more: Any) -> Any:
        form = {"email": address(), "full_name": "Ada Lovelace"}
        return world.post(f"{jobs(to)}{job}/apply/", data=form | more.pop("data", {}), **more)

    room(2 * len(TEXT))
    first = address()
    assert apply(tenant, ours, files=files, data={"email": first}).status_code == 201
    test = tenant.test.job(published=True)["slug"]
    made = tenant.test.post(
        "/applications/create/", data={"job_slug": test, "email": address(), "full_name": "Ada"}, files=files
    )
    assert made.status_code == 201, made.text
    kept = {path for path in settings.files_dir.rglob("*") if path.is_file()}

    refused = refusal(apply(tenant, ours, files=files), 403, "LIMIT_REACHED")
    assert not refused["details"].keys() & {"limit", "used"}  # a stranger hears of no figures
    again = refusal(apply(tenant, ours, files=files, data={"email": first}), 403, "LIMIT_REACHED")
    assert again["message"] == refused["message"]  # and not who has applied
    page_of_it = world.post(
        page(tenant, ours),
        data={"email": address(), "full_name": "Ada"},
        files=files,
        headers={"Accept": "text/html"},
    )
    assert (page_of_it.status_code, "room for files is used up" in page_of_it.text) == (403, True)
    body = {"job_slug": ours, "email": address(), "full_name": "Ada"}
    details = refusal(
        tenant.live.post("/applications/create/", data=body, files=files), 403, "LIMIT_REACHED"
    )["details"]
    assert (details["limit"], details["used"]) == (0, 0)  # in millions
    assert {path for path in settings.files_dir.rglob("*") if path.is_file()} == kept
    assert apply(tenant, ours).status_code == 201  # without a file
    assert apply(other, theirs, files=files).status_code == 201


def test_many_files_at_once_are_never_more_than_there_is_room_for(
    world: Api, tenant: Tenant, room: Callable[[int], None]
) -> None:
    job = tenant.live.job(published=True)["slug"]
    room(3 * len(TEXT))

    def apply(number: int) -> int:
        form = {"email": f"{number}-{address()}", "full_name": "Ada Lovelace"}
        return int(
            world.post(f"{jobs(tenant)}{job}/apply/", data=form, files={"cv": ("cv.txt", TEXT)}).status_code
        )

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(apply, range(8)))
    assert sorted(answers) == [201] * 3 + [403] * 5
    assert len(applications(tenant)) == 3


def test_applying_many_times_at_once_makes_one_application(world: Api, tenant: Tenant) -> None:
    job = tenant.live.job(published=True)["slug"]
    body = {"email": "ada@example.com", "full_name": "Ada"}
    with ThreadPoolExecutor(8) as pool:
        answers = list(
            pool.map(lambda _: world.post(f"{jobs(tenant)}{job}/apply/", body).status_code, range(8))
        )
    assert answers == [201] * 8
    assert len(applications(tenant)) == 1


# --- Applying on the page


def test_the_form_says_everything_that_is_wrong_and_keeps_what_was_given(world: Api, tenant: Tenant) -> None:
    job = tenant.live.job(published=True, cv_required=True)["slug"]
    ask(tenant, job, "years", "number", is_required=True)
    ask(tenant, job, "language", "single_select", options=CHOICES)
    ask(tenant, job, "story", "long_text")
    form = {"email": "nobody", "full_name": "", "phone": "<1>", "answers.years": "many", "answers.language": "de",
            "answers.story": "<script>x</script>"}  # fmt: skip
    answer = world.post(page(tenant, job), data=form, files={"cv": ("cv.doc", b"\xd0\xcf\x11\xe0\0\0")})
    html = answer.text
    assert answer.status_code == 400
    for id in ("email", "full_name", "answers-years", "cv"):
        assert f'id="{id}-fault"' in html, id
        assert f'href="#{id}"' in html, id
    assert len(re.findall(r'aria-invalid="true"', html)) == 4
    assert 'value="nobody"' in html
    assert re.search(r'value="de" checked', html)
    assert "<script>x" not in html
    assert "&lt;script&gt;x" in html
    assert applications(tenant) == []


def test_the_form_is_thanked_for_and_again_for_the_second_time(world: Api, tenant: Tenant) -> None:
    job = tenant.live.job(published=True)["slug"]
    ask(tenant, job, "remote", "boolean")
    form = {"email": "ada@example.com", "full_name": "Ada", "phone": "", "answers.remote": "true"}
    files = {"cv": ("cv.txt", TEXT), "cover_letter": ("", b"")}
    for _ in range(2):
        answer = world.post(page(tenant, job), data=form, files=files)
        assert (answer.status_code, "Thank you for applying" in answer.text) == (200, True), answer.text
    [made] = applications(tenant)
    assert made["source"] == "public_careers"


def test_what_the_form_cannot_take_is_a_page_too(world: Api, tenant: Tenant) -> None:
    job = tenant.live.job(published=True)["slug"]
    form = {"email": "ada@example.com", "full_name": "Ada"}
    for over in ((10 << 20) + 1, 11 << 20):
        files = {"cv": ("cv.txt", b"x" * over)}
        large = world.post(page(tenant, job), data=form, files=files)
        assert (large.status_code, "too large" in large.text) == (413, True)
        refusal(world.post(f"{jobs(tenant)}{job}/apply/", data=form, files=files), 413, "BODY_TOO_LARGE")
    strange = world.post(page(tenant, job), data=form | {"no_such_field": "1"})
    assert (strange.status_code, "did not work" in strange.text) == (400, True)
    for answer in (large, strange, world.get(page(tenant, job))):
        assert answer.headers["content-type"] == "text/html; charset=utf-8"
        assert "default-src 'self'" in answer.headers["content-security-policy"]
