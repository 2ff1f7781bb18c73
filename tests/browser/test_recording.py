"""A recorded assessment in a real browser with cameras and screens that are made up, and the page that plays it."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from app.instance.settings import ROOT
from store.accounts import room
from tests import recording
from tests.browser.accessibility import contrast, everything, serious
from tests.browser.conftest import FLAGS
from tests.browser.taking import expect_done, expect_saved, submit, violations, write
from tests.recording import asking
from tests.sittings import CHOICE, CODE, NUMBER, TEXT, Invited, invite

MADE_UP = ["--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream"]
PARTS = "**/api/v1/candidate/invites/*/recordings/**"
HELD = """async () => {
    const done = (request) => new Promise((resolve) => { request.onsuccess = () => resolve(request.result); });
    const base = await done(indexedDB.open("take-recordings"));
    const held = await done(base.transaction("chunks").objectStore("chunks").count());
    base.close();
    return held;
}"""
# As on a phone.
WITHOUT_SCREENS = "if (window.MediaDevices) delete MediaDevices.prototype.getDisplayMedia"
AGREED = "I agree to this recording"


@pytest.fixture(scope="module")
def equipped(launch: Callable[[list[str]], Browser]) -> Iterator[Browser]:
    """A browser with a camera and a screen, whose person allows everything."""
    browser = launch([*FLAGS, *MADE_UP, "--auto-select-desktop-capture-source=Entire screen"])
    yield browser
    browser.close()


@pytest.fixture
def page(equipped: Browser, base_url: str) -> Iterator[Page]:
    errors: list[str] = []
    context = equipped.new_context(
        base_url=base_url, viewport={"width": 1180, "height": 800}, service_workers="block"
    )
    context.on("weberror", lambda error: errors.append(str(error.error)))
    context.on(
        "console", lambda one: errors.append(one.text) if "Content Security Policy" in one.text else None
    )
    context.set_default_timeout(15_000)
    hurry(context)
    yield context.new_page()
    context.close()
    assert errors == []


def ready(page: Page, invited: Invited, *kinds: str) -> None:
    """Come to the page, try what is recorded, and agree."""
    page.goto(f"/take/{invited.token}")
    for kind in kinds:
        page.locator(f"#try-{kind}").click()
        expect(page.locator(f"[data-check={kind}]")).to_have_attribute("data-state", "good")
    page.get_by_label(AGREED).check()


def hurry(context: BrowserContext) -> None:
    """Have parts come every second."""
    source = (ROOT / "static" / "take-tracks.js").read_text()
    assert "EVERY_MS = 10_000" in source
    hurried = source.replace("EVERY_MS = 10_000", "EVERY_MS = 1_000")
    context.route(
        "**/static/take-tracks.js",
        lambda route: route.fulfill(body=hurried, content_type="text/javascript"),
    )


def begin(page: Page) -> None:
    page.get_by_role("button", name="Start the assessment").click()
    expect(page.locator("#case-title")).to_be_visible()


def chunks(invited: Invited) -> dict[str, list[int]]:
    """How many parts of each track are kept, by its kind."""
    found: dict[str, list[int]] = {}
    for row in recording.rows({"token": invited.token}):
        found.setdefault(row.kind, []).append(row.chunks)
    return found


def until(page: Page, is_so: Callable[[], Any]) -> None:
    for _ in range(300):
        if is_so():
            return
        page.wait_for_timeout(100)
    raise AssertionError("It never came to be.")


def test_a_take_is_recorded_over_a_lost_network_and_a_reload_and_is_played(page: Page) -> None:
    invited = invite(TEXT, **asking(*recording.ALL))
    ready(page, invited, "webcam", "screen")
    begin(page)
    state = page.locator("#recording-state")
    expect(state).to_have_text("Recording: this page, your screen, your camera")
    until(page, lambda: set(chunks(invited)) == set(recording.ALL))
    page.route(PARTS, lambda route: route.abort())
    write(page, "It slows writes down.")
    expect_saved(page)
    until(page, lambda: page.evaluate(HELD) >= 3)
    before = chunks(invited)
    page.unroute(PARTS)
    until(page, lambda: all(sum(chunks(invited)[kind]) > sum(before[kind]) for kind in recording.ALL))
    page.route(PARTS, lambda route: route.abort())
    until(page, lambda: page.evaluate(HELD) >= 4)  # what was on its way has arrived by now
    sure = sum(map(sum, chunks(invited).values())) + page.evaluate(HELD)
    page.reload()
    expect(state).to_have_text("Recording: this page, your camera")
    page.locator("#recording-again").get_by_role("button", name="Share the screen").click()
    expect(state).to_have_text("Recording: this page, your screen, your camera")
    page.unroute(PARTS)
    until(
        page,
        lambda: (
            {kind: len(found) for kind, found in chunks(invited).items()} == dict.fromkeys(recording.ALL, 2)
        ),
    )
    submit(page)
    expect_done(page)
    expect(page.locator("#done-recording")).to_have_text("The recording has been sent.")
    assert page.evaluate(HELD) == 0
    assert sum(map(sum, chunks(invited).values())) >= sure
    assert violations(invited) == []
    expect(state).to_be_hidden()

    rows = recording.rows({"token": invited.token})
    assert all(row.duration_ms > 0 for row in rows)
    page.goto(f"/recordings/{recording.link({'token': invited.token})}")
    for kind in ("screen", "webcam"):
        page.wait_for_function(
            """kind => [...document.querySelectorAll(`video[data-kind=${kind}]`)]
                .some((one) => one.duration > 0 && one.videoWidth > 0)""",
            arg=kind,
        )
    played = page.frame_locator("#stage-session iframe").first
    expect(played.locator("#case-title")).to_have_text("Explain an index")
    # The end of the page's last track, which others may outlast: what was written stands there again.
    end = max(row.started_ms + row.duration_ms for row in rows if row.kind == "session")
    page.locator("#seek").evaluate(
        # By the millisecond: a whole second may be past the end.
        "(seek, at) => { seek.step = '1'; seek.value = String(at); seek.dispatchEvent(new Event('input')); }",
        end - 100,
    )
    last = page.frame_locator("#stage-session .steps-played:not([hidden]) iframe")
    expect(last.locator("#answer")).to_have_value("It slows writes down.")
    page.locator(".marks button").first.click()
    page.get_by_role("button", name="Play").click()
    page.wait_for_function(
        "() => [...document.querySelectorAll('video')].some((one) => !one.paused && one.currentTime > 0)"
    )
    page.get_by_role("button", name="Pause").click()
    assert serious(page) == []


def test_a_track_that_ends_is_noted_and_begins_again_by_a_click(page: Page) -> None:
    invited = invite(TEXT, **asking("webcam"))
    ready(page, invited, "webcam")
    page.evaluate("() => { window.camera = document.getElementById('picture-webcam').srcObject; }")
    begin(page)
    expect(page.locator("#recording-state")).to_have_text("Recording: your camera")
    page.evaluate("() => window.camera.getVideoTracks()[0].dispatchEvent(new Event('ended'))")
    expect(page.locator("#recording-state")).to_have_text("Not recording")
    expect(page.locator("#notice")).to_contain_text("Your camera is off.")
    until(page, lambda: violations(invited) == [("webcam", 1)])
    page.get_by_role("button", name="Switch the camera on").click()
    expect(page.locator("#recording-state")).to_have_text("Recording: your camera")
    expect(page.locator("#recording-notice-box")).to_be_hidden()


def test_what_was_refused_or_cannot_be_done_is_said_before_the_start_and_noted(
    new_context: Callable[..., BrowserContext],
) -> None:
    context = new_context()
    context.add_init_script(WITHOUT_SCREENS)
    page = context.new_page()
    invited = invite(TEXT, **asking("webcam", "screen"))
    page.goto(f"/take/{invited.token}")
    expect(page.locator("[data-check=screen]")).to_contain_text("This browser cannot record the screen")
    page.get_by_role("button", name="Start the assessment").click()
    expect(page.get_by_role("alert").filter(has_text="tick the box")).to_be_visible()
    expect(page.get_by_label(AGREED)).to_be_focused()
    page.keyboard.press("Space")
    page.get_by_role("button", name="Start the assessment").click()
    expect(page.get_by_role("alert").filter(has_text="try the camera")).to_be_visible()
    expect(page.locator("#try-webcam")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("[data-check=webcam]")).to_contain_text("It was refused, or there is none")
    assert invited.session() is None
    begin(page)
    until(page, lambda: sorted(violations(invited)) == [("screen_share", 1), ("webcam", 1)])
    write(page, "The test goes on.")
    expect_saved(page)


def test_another_tab_does_not_record_and_the_end_there_ends_the_recording_here(page: Page) -> None:
    invited = invite(TEXT, **asking("session"))
    ready(page, invited)
    begin(page)
    expect(page.locator("#recording-state")).to_have_text("Recording: this page")
    second = page.context.new_page()
    second.goto(f"/take/{invited.token}")
    expect(second.locator("#recording-state")).to_have_text("Recorded in your other tab")
    submit(second)
    expect_done(second)
    expect_done(page)
    expect(page.locator("#done-recording")).to_have_text("The recording has been sent.")
    assert len(chunks(invited)["session"]) == 1


def test_a_full_room_ends_the_recording_and_not_the_test(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "_most", 10)
    invited = invite(TEXT, **asking("session"))
    ready(page, invited)
    begin(page)
    expect(page.locator("#recording-state")).to_have_text("Recording has ended: no room", timeout=20_000)
    write(page, "The test goes on.")
    expect_saved(page)
    submit(page)
    expect_done(page)
    assert (violations(invited), chunks(invited)) == ([], {})


def test_what_a_closed_page_left_on_the_device_is_sent_from_the_links_next_visit(page: Page) -> None:
    invited = invite(TEXT, **asking("session"))
    ready(page, invited)
    page.route(PARTS, lambda route: route.abort())
    begin(page)
    until(page, lambda: page.evaluate(HELD) >= 1)
    page.goto("/")
    invited.ends_in(-1)
    page.unroute(PARTS)
    page.goto(f"/take/{invited.token}")
    expect(page.locator("#done-recording")).to_have_text("The recording has been sent.")
    assert page.evaluate(HELD) == 0
    assert list(chunks(invited)) == ["session"]


def test_a_question_of_each_type_is_practised_and_nothing_of_it_is_kept(
    new_context: Callable[..., BrowserContext],
) -> None:
    page = new_context().new_page()
    invited = invite(TEXT, NUMBER, CHOICE, CODE)
    page.goto(f"/take/{invited.token}")
    for name in ("connection", "browser", "storage"):
        expect(page.locator(f"[data-check={name}]")).to_have_attribute("data-state", "good")
    page.get_by_text("Practise: what answering is like").click()
    types = page.locator("#practice-types")
    types.get_by_role("button", name="A number").click()
    page.locator("#practice-question #answer").fill("1,2.3")
    expect(page.locator("#practice-question [role=alert]")).to_contain_text("thousands separators")
    page.locator("#practice-question #answer").fill("0.5")
    expect(page.locator("#practice-question")).to_contain_text("Understood as 0.5.")
    types.get_by_role("button", name="A choice").click()
    page.locator("#practice-question").get_by_label("An apple").check()
    types.get_by_role("button", name="A text").click()
    page.locator("#practice-question #answer").fill("Novels")
    expect(page.locator("#practice-question")).to_contain_text("1 word")
    types.get_by_role("button", name="A program").click()
    expect(page.locator("#practice-question .editor")).to_be_visible()
    assert invited.session() is None
    begin(page)
    expect(page.locator("#answer")).to_have_value("")
    assert invited.answers() == [None] * 4
    page.goto(f"/take/{invite(NUMBER).token}")
    page.get_by_text("Practise: what answering is like").click()
    expect(page.locator("#practice-types")).to_be_hidden()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1180])
def test_the_engine_finds_nothing_before_the_start_and_where_recordings_are_played(
    new_context: Callable[..., BrowserContext], scheme: str, width: int
) -> None:
    context = new_context(color_scheme=scheme, bypass_csp=True, viewport={"width": width, "height": 800})
    context.add_init_script(WITHOUT_SCREENS)
    page = context.new_page()
    invited = invite(TEXT, CHOICE, **asking(*recording.ALL))
    page.goto(f"/take/{invited.token}")
    page.get_by_text("Practise: what answering is like").click()
    found = {"before": everything(page) + contrast(page)}
    page.get_by_role("button", name="Start the assessment").click()
    expect(page.locator("#recording-problem")).to_be_visible()
    found["not agreed"] = everything(page) + contrast(page)
    page.get_by_label(AGREED).check()
    page.get_by_role("button", name="Start the assessment").click()
    expect(page.locator("#ready-problem")).to_be_visible()
    page.locator("#try-webcam").click()
    expect(page.locator("[data-check=webcam]")).to_have_attribute("data-state", "bad")
    found["refused"] = everything(page) + contrast(page)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    begin(page)
    expect(page.locator("#recording-notice-box")).to_be_visible()
    found["running"] = serious(page) + contrast(page)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    until(page, lambda: chunks(invited))
    page.goto(f"/recordings/{recording.link({'token': invited.token})}")
    expect(page.locator("#stage-session iframe")).to_be_visible()
    found["played"] = serious(page) + contrast(page)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert found == {name: [] for name in found}
