"""Open files: a process has as many as it needs, where a system begins with few."""

import contextlib
import resource
from collections.abc import Iterator

from app.instance.settings import Settings
from gateways import open_files
from tests.webs import Web


@contextlib.contextmanager
def few_at_first(soft: int = 1_024) -> Iterator[int]:
    """Begin with few, as many systems do; yields how many this user may have."""
    before, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    try:
        yield hard
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (before, hard))


def test_a_web_process_has_as_many_open_files_as_it_may(settings: Settings) -> None:
    web = Web(settings)
    try:
        with few_at_first() as hard:
            web.start()
        assert web.process
        soft, _ = resource.prlimit(web.process.pid, resource.RLIMIT_NOFILE)
        assert soft == min(open_files.WEB, hard)
    finally:
        web.stop()


def test_a_limit_that_is_higher_stays() -> None:
    with few_at_first(2_000):
        open_files.allow(1_500)
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == 2_000
