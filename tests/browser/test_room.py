"""An interview's room in real browsers: two people, two web processes, and what can go wrong between them."""

import os
import re
from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

import pytest
from playwright.sync_api import BrowserContext, Page, expect
from sqlalchemy import select, text

import store
from rules import rooms as limits
from rules.clock import now
from store.interviewing import documents
from store.interviewing.presence import InterviewPresence
from tests import interviews, rooms
from tests.browser.accessibility import contrast, serious
from tests.live import eventually
from tests.rooms import Prepared
from tests.webs import Web


def come_in(page: Page, web: Web, room: Prepared, name: str) -> None:
    """Open one's link and join: the candidate by the candidate's, all others by the interviewers'."""
    is_candidate = name == "Amina Diallo"
    page.goto(f"{web.url}/interview/{room.candidate if is_candidate else room.interviewer}")
    if is_candidate:
        page.get_by_role("checkbox").check()
    page.get_by_label("Your name").fill(name)
    page.get_by_role("button", name="Come in").click()
    expect(page.locator("#room")).to_be_visible()
    expect_saved(page)


def expect_saved(page: Page, timeout: float = 20_000) -> None:
    expect(page.locator("#save-state")).to_have_text("Connected", timeout=timeout)


def say(page: Page, words: str) -> None:
    page.get_by_label("Your message").fill(words)
    page.get_by_label("Your message").press("Enter")


def heard(page: Page) -> list[str]:
    return page.locator(".said .what").all_inner_texts()


def editor(page: Page):
    return page.locator("#editor .cm-content")


def code(page: Page) -> str:
    """What stands in the editor, without the names at others' cursors."""
    lines = page.locator("#editor .cm-line").evaluate_all(
        """lines => lines.map((line) => {
            const copy = line.cloneNode(true);
            for (const one of copy.querySelectorAll(".cm-other")) one.remove();
            return copy.textContent;
        })"""
    )
    return "\n".join(lines)


def type_at_end(page: Page, words: str) -> None:
    editor(page).click()
    page.keyboard.press("Control+End")
    page.keyboard.type(words)


def kept(room: Prepared) -> str:
    name = documents.name_of(UUID(room.questions[0]))
    return documents.read(room.updates(), [name]).texts[name]


@pytest.fixture
def room() -> Prepared:
    return rooms.prepare()


@pytest.fixture
def two(webs, room: Prepared, new_context: Callable[..., BrowserContext]) -> tuple[Page, Page]:
    """The candidate at one process, the interviewer at the other."""
    pages = new_context().new_page(), new_context().new_page()
    come_in(pages[0], webs[0], room, "Amina Diallo")
    come_in(pages[1], webs[1], room, "Grace Hopper")
    return pages


def test_nobody_comes_in_without_agreeing(webs, page: Page, room: Prepared):
    page.goto(f"{webs[0].url}/interview/{room.candidate}")
    expect(page.locator("#recorded")).to_contain_text("The code, as it is typed and run")
    page.get_by_role("button", name="Come in").click()
    expect(page.locator("#join-problem")).to_contain_text("Please tick the box")
    assert room.row().candidate_joined_at is None
    page.get_by_role("checkbox").check()
    page.get_by_role("button", name="Come in").click()
    expect(page.locator("#waiting-text")).to_contain_text("You are in the waiting room")
    assert room.row().consent_text.startswith("This interview is recorded for Northwind Labs")
    assert "SECRET" not in page.content()


def test_who_interviews_with_an_ai_is_told_of_it(webs, page: Page):
    room = rooms.prepare(interviewer_mode="hybrid")
    page.goto(f"{webs[0].url}/interview/{room.candidate}")
    expect(page.locator("#ai-notice")).to_contain_text("An AI takes part")


def test_two_people_talk_type_draw_and_end_on_two_processes(two, room: Prepared):
    candidate, interviewer = two
    expect(candidate.locator("#waiting")).to_be_hidden()
    expect(candidate.get_by_role("timer")).to_contain_text(re.compile(r"5\d:\d\d|1:00:00"))
    say(candidate, "Hello from here")
    say(interviewer, "And from there")
    for page in two:
        expect(page.locator(".said .what")).to_have_text(["Hello from here", "And from there"])
    type_at_end(candidate, "total = 1")
    expect(editor(interviewer)).to_contain_text("total = 1")
    type_at_end(interviewer, " + 2")
    for page in two:
        eventually(lambda page=page: code(page).endswith("total = 1 + 2"))
    expect(candidate.locator("#editor .cm-other-name")).to_have_text("Grace Hopper")
    # The interviewer alone sees what is hers, and chooses the question.
    expect(interviewer.locator("#question")).to_contain_text("only you see this")
    assert "SECRET" not in candidate.content()
    interviewer.locator("#question-list button", has_text="A hard bug").click()
    for page in two:
        expect(page.locator("#question h2")).to_have_text("A hard bug")
    expect(editor(candidate)).to_have_text("")
    # The whiteboard.
    for page in two:
        page.get_by_role("tab", name="Whiteboard").click()
    box = candidate.locator("#board").bounding_box()
    candidate.mouse.move(box["x"] + 40, box["y"] + 40)
    candidate.mouse.down()
    candidate.mouse.move(box["x"] + 200, box["y"] + 120, steps=5)
    candidate.mouse.up()
    eventually(lambda: documents.read(room.updates(), []).strokes)
    eventually(lambda: _ink(interviewer) > 0)
    interviewer.get_by_role("button", name="End the interview").click()
    interviewer.get_by_role("dialog").get_by_role("button", name="End it").click()
    for page in two:
        expect(page.get_by_role("heading", name="The interview has ended")).to_be_visible()
    row = room.row()
    assert row.status == "ended"
    assert len(row.whiteboard_snapshot["strokes"]) == 1
    assert room.told() == ["interview.started", "interview.completed"]


def _ink(page: Page) -> int:
    return page.evaluate(
        """() => { const c = document.getElementById('board');
        const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
        let n = 0; for (let i = 3; i < d.length; i += 4) if (d[i]) n++; return n; }"""
    )


def test_an_interviewer_who_gives_no_name_is_called_so(webs, room: Prepared, new_context):
    pages = new_context().new_page(), new_context().new_page()
    come_in(pages[0], webs[0], room, "Amina Diallo")
    come_in(pages[1], webs[1], room, "")
    for page in pages:
        expect(page.locator("#people")).to_have_text(re.compile("^Here: .+, .+"))
        assert set(page.locator("#people").inner_text()[6:].split(", ")) == {"Amina Diallo", "Interviewer"}


def test_nothing_is_lost_over_a_reload_no_network_and_a_process_that_is_killed(two, webs, room: Prepared):
    candidate, interviewer = two
    say(candidate, "c1")
    type_at_end(candidate, "# c1\n")
    expect_saved(candidate)
    candidate.context.set_offline(True)
    say(candidate, "c2")
    type_at_end(candidate, "# c2\n")
    say(interviewer, "i1")
    type_at_end(interviewer, "# i1\n")
    candidate.wait_for_timeout(10_000)
    candidate.context.set_offline(False)
    for page in two:
        expect_saved(page)
    webs[1].kill()
    say(interviewer, "i2")
    type_at_end(interviewer, "# i2\n")
    say(candidate, "c3")
    expect(interviewer.locator("#save-state")).to_contain_text(re.compile("No connection|Connecting"))
    webs[1].start()
    for page in two:
        expect_saved(page, 30_000)
    interviewer.reload()
    interviewer.get_by_label("Your name").fill("Grace Hopper")
    interviewer.get_by_role("button", name="Come in").click()
    for page in two:
        expect(page.locator(".said .what")).to_have_count(5)
        expect_saved(page)
    said = room.said()
    assert sorted(said) == ["c1", "c2", "c3", "i1", "i2"]
    for page in two:
        eventually(lambda page=page: sorted(heard(page)) == sorted(said))
        eventually(lambda page=page: code(page).strip() == kept(room).strip())
    for words in ("# c1", "# c2", "# i1", "# i2"):
        assert code(candidate).count(words) == 1


def test_who_closes_the_page_has_left_after_a_while_and_is_back_by_coming_in(two, webs, room: Prepared):
    candidate, interviewer = two
    here = interviewer.locator("#people")
    for page in two:
        expect(page.locator("#people")).to_contain_text("Amina Diallo")
        expect(page.locator("#people")).to_contain_text("Grace Hopper")
    eventually(lambda: ends_of_presence(room) == {"candidate", "interviewer"})
    candidate.close()
    eventually(lambda: ends_of_presence(room, within=limits.GRACE) == {"candidate"})
    age = "UPDATE interview_presences SET here_until = now() WHERE interview_id = :id AND side = 'candidate'"
    with store.transaction() as session:
        session.execute(text(age), {"id": room.id})
    interviews.run("presences")
    expect(here).to_have_text("Here: Grace Hopper", timeout=20_000)
    expect(interviewer.locator(".told").last).to_have_text("Amina Diallo left")
    again = candidate.context.new_page()
    come_in(again, webs[0], room, "Amina Diallo")
    expect(here).to_contain_text("Amina Diallo", timeout=20_000)


def ends_of_presence(room: Prepared, within: timedelta = limits.HERE) -> set[str]:
    """The sides that are there for no longer than that."""
    with store.transaction() as session:
        asked = select(InterviewPresence.side).where(
            InterviewPresence.interview_id == room.id, InterviewPresence.here_until <= now() + within
        )
        return set(session.scalars(asked))


def test_an_interviewer_judges_by_keyboard_during_the_interview_and_after_it(two, webs, room: Prepared):
    candidate, interviewer = two
    assert candidate.locator("#judge").count() == 0
    interviewer.get_by_role("radio", name="Goes on", exact=True).focus()
    interviewer.keyboard.press("Space")
    interviewer.keyboard.press("Tab")
    interviewer.keyboard.press("4")
    interviewer.get_by_label("Why").fill("Clear explanations.")
    interviewer.keyboard.press("Tab")
    interviewer.keyboard.press("Enter")
    expect(interviewer.get_by_text("Your judgement is kept.")).to_be_visible()
    row = room.row()
    assert (row.recommendation, row.outcome_comment, row.status) == (
        "advance",
        "Clear explanations.",
        "active",
    )
    expect_accessible(interviewer)
    candidate.get_by_role("button", name="End the interview").click()
    candidate.get_by_role("dialog").get_by_role("button", name="End it").click()
    expect(interviewer.get_by_role("heading", name="The interview has ended")).to_be_visible()
    interviewer.reload()
    expect(interviewer.get_by_role("heading", name="This interview has ended")).to_be_visible()
    expect(interviewer.get_by_role("radio", name="Goes on", exact=True)).to_be_checked()
    expect(interviewer.get_by_label("Why")).to_have_value("Clear explanations.")
    interviewer.get_by_role("radio", name="Does not go on").check()
    interviewer.get_by_role("button", name="Keep the judgement").click()
    expect(interviewer.get_by_text("Your judgement is kept.")).to_be_visible()
    assert room.row().recommendation == "reject"
    expect_accessible(interviewer)


def test_where_websockets_are_refused_a_stream_does(webs, room: Prepared, new_context):
    pages = []
    for web, name in zip(webs, ("Amina Diallo", "Grace Hopper"), strict=True):
        page = new_context().new_page()
        page.add_init_script(
            "window.WebSocket = class extends EventTarget { constructor() { super(); this.readyState = 3;"
            " setTimeout(() => this.onclose?.({ code: 1006 }), 10); } close() {} }; window.WebSocket.OPEN = 1;"
        )
        come_in(page, web, room, name)
        pages.append(page)
    say(pages[0], "By stream")
    type_at_end(pages[1], "# typed")
    expect(pages[1].locator(".said .what")).to_have_text(["By stream"])
    expect(editor(pages[0])).to_contain_text("# typed")
    for page in pages:
        expect_saved(page)


def test_the_replay_shows_what_there_was(two, webs, room: Prepared, page: Page):
    say(two[0], "Hello")
    type_at_end(two[0], "print(42)")
    expect_saved(two[0])
    two[0].get_by_role("button", name="End the interview").click()
    two[0].get_by_role("dialog").get_by_role("button", name="End it").click()
    expect(two[1].get_by_role("heading", name="The interview has ended")).to_be_visible()
    assert [one.data["code"] for one in room.events("code")][-1].endswith("print(42)")
    page.goto(f"{webs[0].url}/interview/shared/{room.share()}")
    expect(page.get_by_role("button", name="Play")).to_be_enabled()  # the script knows how long it is
    page.locator("#seek").fill(page.locator("#seek").get_attribute("max"))
    expect(page.locator(".said .what")).to_have_text(["Hello"])
    expect(page.locator("#editor .cm-content")).to_contain_text("print(42)")
    page.get_by_role("button", name="Play").click()
    expect(page.get_by_role("button", name="Pause")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [(1380, 900), (390, 780)])
def test_the_pages_are_for_everybody(webs, room: Prepared, new_context, scheme, size, tmp_path):
    options = {"color_scheme": scheme, "viewport": {"width": size[0], "height": size[1]}}
    pages = new_context(**options).new_page(), new_context(**options).new_page()
    pages[0].goto(f"{webs[0].url}/interview/{room.candidate}")
    expect(pages[0].get_by_role("button", name="Come in")).to_be_enabled()
    expect_accessible(pages[0])
    shot(pages[0], "intro", scheme, size)
    come_in(pages[0], webs[0], room, "Amina Diallo")
    expect_accessible(pages[0])
    come_in(pages[1], webs[1], room, "Grace Hopper")
    say(pages[0], "Shall I handle empty input first?")
    say(pages[1], "Yes, please do.")
    type_at_end(pages[0], "def total(text):\n# sums a line\nreturn sum(map(int, text.split()))\n")
    for page, name in zip(pages, ("candidate", "interviewer"), strict=True):
        expect(page.locator(".said .what")).to_have_count(2)
        expect_saved(page)
        expect_accessible(page)
        width = page.evaluate("() => document.documentElement.scrollWidth")
        assert width <= size[0]
        shot(page, name, scheme, size)
    pages[0].get_by_role("tab", name="Whiteboard").click()
    expect_accessible(pages[0])
    shot(pages[0], "board", scheme, size)
    page = new_context(**options).new_page()
    page.goto(f"{webs[0].url}/interview/shared/{room.share()}")
    expect(page.locator("#editor .cm-content")).to_be_visible()
    page.locator("#seek").fill(page.locator("#seek").get_attribute("max"))
    expect_accessible(page)
    shot(page, "replay", scheme, size)


def expect_accessible(page: Page) -> None:
    assert serious(page) == []
    assert contrast(page) == []


def shot(page: Page, name: str, scheme: str, size: tuple[int, int]) -> None:
    if folder := os.environ.get("SHOTS"):
        page.screenshot(path=f"{folder}/{name}-{scheme}-{size[0]}.png", full_page=True)
