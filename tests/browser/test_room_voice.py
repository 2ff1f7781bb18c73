"""Speaking in an interview's room, with browsers whose microphone plays a tone."""

import os
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests import rooms
from tests.browser.accessibility import contrast, serious
from tests.browser.conftest import FLAGS
from tests.browser.test_room import come_in, expect_saved
from tests.live import eventually
from tests.rooms import Prepared

TONE = ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"]
# What the page connects with is its own; the test keeps a hand on it to read what arrives.
WATCHED = """
    window.links = [];
    const Made = RTCPeerConnection;
    window.RTCPeerConnection = class extends Made { constructor(...given) { super(...given); links.push(this); } };
"""
NO_SOCKETS = """
    window.WebSocket = class extends EventTarget {
        constructor() { super(); this.readyState = 3; setTimeout(() => this.onclose?.({ code: 1006 }), 10); }
        close() {}
    };
    window.WebSocket.OPEN = 1;
"""
STATS = """async () => {
    let bytes = 0, energy = 0;
    for (const link of links.filter((one) => one.connectionState === "connected")) {
        for (const one of (await link.getStats()).values()) {
            if (one.type === "inbound-rtp") { bytes += one.bytesReceived; energy += one.totalAudioEnergy ?? 0; }
        }
    }
    return { bytes, energy };
}"""


@pytest.fixture(scope="module")
def browser(launch: Callable[[list[str]], Browser]) -> Iterator[Browser]:
    """A browser with a microphone, which asks nobody."""
    browser = launch([*FLAGS, *TONE])
    yield browser
    browser.close()


@pytest.fixture
def room() -> Prepared:
    return rooms.prepare(voice_mode=True)


def enter(webs, room: Prepared, new_context: Callable[..., BrowserContext], script: str = "") -> list[Page]:
    pages = []
    for web, name in zip(webs, ("Amina Diallo", "Grace Hopper"), strict=True):
        page = new_context().new_page()
        page.add_init_script(WATCHED + script)
        come_in(page, web, room, name)
        pages.append(page)
    return pages


def words(page: Page):
    return page.locator("#voice-text")


def microphone(page: Page):
    return page.get_by_role("button", name="Microphone")


def expect_heard(page: Page) -> None:
    """Wait until sound arrives, and goes on arriving."""
    first = eventually(lambda: found if (found := page.evaluate(STATS))["energy"] > 0 else None)
    eventually(lambda: page.evaluate(STATS)["bytes"] > first["bytes"] + 500)


def expect_silent(page: Page) -> None:
    """Wait until what arrives is silence."""

    def is_silent() -> bool:
        before = page.evaluate(STATS)["energy"]
        page.wait_for_timeout(1_500)
        return page.evaluate(STATS)["energy"] - before < 1e-4

    eventually(is_silent)


@pytest.mark.parametrize("script", ["", NO_SOCKETS], ids=["WebSocket", "stream"])
def test_two_people_speak_mute_and_leave(webs, room: Prepared, new_context, script):
    candidate, interviewer = enter(webs, room, new_context, script)
    expect(words(candidate)).to_have_text("Nobody’s microphone is on.")
    microphone(candidate).click()
    expect(words(interviewer)).to_have_text("You hear the candidate.")
    expect(words(candidate)).to_have_text("The interviewer has no microphone on; you are heard.")
    expect_heard(interviewer)
    microphone(interviewer).press("Enter")
    for page, other in ((candidate, "interviewer"), (interviewer, "candidate")):
        expect(words(page)).to_have_text(f"You hear the {other}.")
        expect_heard(page)
        expect(microphone(page)).to_have_attribute("aria-pressed", "true")
        eventually(lambda page=page: page.locator("#level").evaluate("meter => meter.value") > 0)
        assert serious(page) == []
        assert contrast(page) == []
    candidate.get_by_role("button", name="Mute").click()
    expect(words(interviewer)).to_have_text("The candidate has muted the microphone.")
    expect_silent(interviewer)
    candidate.get_by_role("button", name="Mute").click()
    expect(words(interviewer)).to_have_text("You hear the candidate.")
    expect_heard(interviewer)
    if folder := os.environ.get("SHOTS"):
        candidate.locator("#editor .cm-content").click()
        candidate.screenshot(path=f"{folder}/voice.png", full_page=True)
    microphone(candidate).click()
    expect(microphone(candidate)).to_have_attribute("aria-pressed", "false")
    expect(words(interviewer)).to_have_text("The candidate has no microphone on; you are heard.")
    microphone(candidate).click()
    expect(words(interviewer)).to_have_text("You hear the candidate.")
    expect_heard(interviewer)
    # What a page says when it has left, as its microphone goes, brings nobody back.
    candidate.evaluate("dispatchEvent(new Event('pagehide')); document.querySelector('#microphone').click()")
    candidate.locator("#editor .cm-content").click()
    candidate.keyboard.type("said after it")
    expect(interviewer.locator("#editor .cm-content")).to_contain_text("said after it")
    expect(words(interviewer)).to_have_text("The candidate is not here yet.")
    candidate.close()
    # Nothing of it is kept.
    assert {one.kind for one in room.events()} <= {"join", "leave", "violation"}


def test_both_at_once_and_who_comes_back(webs, room: Prepared, new_context):
    pages = enter(webs, room, new_context)
    for page in pages:
        microphone(page).evaluate("button => button.click()")
    for page in pages:
        expect_heard(page)
    pages[0].reload()
    pages[0].get_by_role("checkbox").check()
    pages[0].get_by_role("button", name="Come in").click()
    expect_saved(pages[0])
    expect(words(pages[0])).to_have_text("You hear the interviewer.")
    expect_heard(pages[0])
    expect(words(pages[1])).to_have_text("The candidate has no microphone on; you are heard.")


# What a browser waits for another is short.
HURRIED = """
    const wait = window.setTimeout;
    window.setTimeout = (then, ms, ...more) => wait(then, ms === 12000 ? 1000 : ms, ...more);
"""
FIRST_OFFER_LOST = """
    const sent = WebSocket.prototype.send;
    window.lost = 0;
    WebSocket.prototype.send = function (said) {
        if (!lost && typeof said === "string" && said.includes('"offer"')) lost += 1; else sent.call(this, said);
    };
"""
# A way that leads nowhere is known at once, and those that lead there later than a browser waits.
LATE_WAYS = """
    const add = RTCPeerConnection.prototype.addIceCandidate;
    RTCPeerConnection.prototype.addIceCandidate = function (given) {
        window.setTimeout(() => add.call(this, given), 3000);
        const nowhere = given.candidate.replace(/ \\S+ (\\d+) typ/, " 192.0.2.1 $1 typ");
        return add.call(this, { ...given, candidate: nowhere });
    };
"""


def test_what_a_lost_signal_asked_for_is_asked_for_again(webs, room: Prepared, new_context):
    pages = enter(webs, room, new_context, HURRIED + FIRST_OFFER_LOST)
    microphone(pages[0]).click()
    expect(words(pages[1])).to_have_text("You hear the candidate.")
    assert sum(page.evaluate("lost") for page in pages) == 1
    expect_heard(pages[1])


def test_who_is_found_slowly_is_not_given_up(webs, room: Prepared, new_context):
    pages = enter(webs, room, new_context, HURRIED + LATE_WAYS)
    microphone(pages[0]).click()
    expect(words(pages[1])).to_contain_text("cannot be heard")
    expect(words(pages[1])).to_have_text("You hear the candidate.")
    assert [page.evaluate("links.length") for page in pages] == [1, 1]
    expect_heard(pages[1])


def test_nobody_is_asked_before_the_button_and_the_consent_says_it(webs, room: Prepared, page: Page):
    page.add_init_script(
        "window.asked = 0; const given = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);"
        "navigator.mediaDevices.getUserMedia = (kind) => { asked += 1; return given(kind); };"
    )
    response = page.goto(f"{webs[0].url}/interview/{room.candidate}")
    assert "microphone=(self)" in response.headers["permissions-policy"]
    expect(page.locator("#spoken")).to_contain_text("is not recorded")
    come_in(page, webs[0], room, "Amina Diallo")
    assert room.row().consent_text.endswith("What is spoken is not recorded.")
    assert page.evaluate("asked") == 0
    microphone(page).click()
    expect(words(page)).to_have_text("The interviewer is not here yet.")
    assert page.evaluate("asked") == 1


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("NotAllowedError", "The microphone is not allowed."),
        ("NotFoundError", "No microphone was found."),
        ("NotReadableError", "Another program is using the microphone."),
        ("TypeError", "This browser cannot use a microphone"),
    ],
)
def test_where_there_is_no_microphone_the_page_says_why(webs, room: Prepared, page: Page, fault, said):
    page.add_init_script(
        f"navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('', '{fault}'));"
    )
    come_in(page, webs[0], room, "Amina Diallo")
    microphone(page).click()
    expect(words(page)).to_contain_text(said)
    expect(microphone(page)).to_have_attribute("aria-pressed", "false")
    assert serious(page) == []


@pytest.mark.parametrize(
    ("fields", "note"),
    [({"voice_mode": False}, 0), ({"voice_mode": True, "interviewer_mode": "ai_only"}, 1)],
)
def test_no_microphone_is_offered_where_there_is_nobody_to_speak_to(webs, page: Page, fields, note):
    room = rooms.prepare(**fields)
    response = page.goto(f"{webs[0].url}/interview/{room.candidate}")
    assert "microphone=()" in response.headers["permissions-policy"]
    come_in(page, webs[0], room, "Amina Diallo")
    expect(microphone(page)).to_have_count(0)
    expect(page.locator("#no-voice")).to_have_count(note)
