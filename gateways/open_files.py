"""How many files a process may have open: connections are files too."""

import resource
from contextlib import suppress

WEB = 65_536  # two addresses with all connections that they may have would take up 1,024
WORK = 4_096  # connections under way and kept, with room beside them


def allow(wanted: int) -> None:
    """Raise the limit of open files as far as this user may: many systems start with 1,024."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    with suppress(ValueError, OSError):  # some systems name no limit, and have one
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
