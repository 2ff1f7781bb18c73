"""A real server and a real browser."""

import os
import shutil
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import uvicorn
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect, sync_playwright

from app.http.application import create_app
from app.instance.settings import Settings
from tests.webs import Web
from tests.webs import two as start_two

expect.set_options(timeout=10_000)  # several browsers share few cores
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


# What a browser is called on the PATH, unless the variable of its name in capitals says where it is. The same engine
# without a window of its own comes first: around each page that window has others, which cost nearly as much.
NAMES = {
    "chromium": ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"),
    "firefox": ("firefox-esr", "firefox"),
}
KIND = os.environ.get("BROWSER", "chromium")
NOT_IN_FIREFOX = {  # by a part of a test's name: why it cannot be played there
    "phone": "WebDriver BiDi has no touch in Firefox",
    "without_scripts": "WebDriver BiDi cannot switch scripts off in Firefox",
    "without_javascript": "WebDriver BiDi cannot switch scripts off in Firefox",
    "with_a_passkey": "WebDriver BiDi has no devices that keep passkeys",
    "on_what_forms_of_results_answer": "Firefox refuses now and then to move the mouse (input.performActions)",
    "takes_the_whole_assessment": "what Playwright fills into an editor begins with a line of its own in Firefox",
    "keyboard_alone_is_enough": "Firefox stops at what scrolls, so that it takes other numbers of tabs",
}

CUT_OFF = (
    "can’t establish a connection"  # a channel whose server was killed: no fault of the page, says Chromium
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip in Firefox what cannot be played there."""
    for item in items if KIND == "firefox" else ():
        for part, reason in NOT_IN_FIREFOX.items():
            if part in item.name:
                item.add_marker(pytest.mark.skip(reason=reason))


def installed(kind: str) -> str | None:
    """Find a browser."""
    found = (os.environ.get(kind.upper()), *map(shutil.which, NAMES[kind]))
    return next((path for path in found if path and Path(path).exists()), None)


@pytest.fixture(scope="session")
def launch() -> Iterator[Callable[[list[str]], Browser]]:
    """Start browsers with flags; a process has one Playwright for all of them."""
    path = installed(KIND)
    if path is None:
        pytest.skip(f"There is no {KIND} here: set {KIND.upper()}, or put it on the PATH.")
    with sync_playwright() as playwright:
        if KIND == "firefox":  # as it is, by WebDriver BiDi
            yield lambda _: playwright.firefox.launch(executable_path=path, channel="moz-firefox")
        else:
            yield lambda flags: playwright.chromium.launch(executable_path=path, args=flags)


@pytest.fixture(scope="session")
def browser(launch: Callable[[list[str]], Browser]) -> Iterator[Browser]:
    browser = launch(FLAGS)
    yield browser
    browser.close()


@pytest.fixture(scope="session")
def base_url(settings: Settings) -> Iterator[str]:
    """The service on a free port."""
    app = create_app(replace(settings, candidate_limit=100_000))
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="warning"))
    thread = threading.Thread(target=server.run, daemon=True)
    started = threading.Event()
    startup = server.startup

    async def announce(*arguments: object, **options: object) -> None:
        await startup(*arguments, **options)
        started.set()

    server.startup = announce
    thread.start()
    assert started.wait(30)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join(10)


@pytest.fixture
def new_context(browser: Browser, base_url: str) -> Iterator[Callable[..., BrowserContext]]:
    """Open browser profiles; a test fails on any error or forbidden source of their pages."""
    contexts: list[BrowserContext] = []
    errors: list[str] = []

    def note(message: ConsoleMessage) -> None:
        if "Content Security Policy" in message.text:
            errors.append(message.text)

    def fail(fault: str) -> None:
        if CUT_OFF not in fault:
            errors.append(fault)

    def open(**options: object) -> BrowserContext:
        context = browser.new_context(
            **{
                "base_url": base_url,
                "viewport": {"width": 1180, "height": 800},
                "locale": "en-GB",
                "service_workers": "block",  # requests of theirs do not pass the routes that tests make
            }
            | options
        )
        context.on("weberror", lambda error: fail(str(error.error)))
        context.on("console", note)
        context.set_default_timeout(20_000)
        contexts.append(context)
        return context

    yield open
    for context in contexts:
        context.close()
    assert errors == []


@pytest.fixture
def context(new_context: Callable[..., BrowserContext]) -> BrowserContext:
    return new_context()


@pytest.fixture
def page(context: BrowserContext) -> Page:
    return context.new_page()


@pytest.fixture(scope="module")
def webs(settings: Settings) -> Iterator[tuple[Web, Web]]:
    """Two web processes of one instance."""
    made = start_two(settings)
    yield made
    for one in made:
        one.stop()
