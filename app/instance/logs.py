"""Structured logs: one JSON object a line, without secrets."""

import logging
import re
import sys
import time
import traceback
from contextvars import ContextVar
from functools import lru_cache

import orjson

# Stands in every line of one request.
request_id: ContextVar[str | None] = ContextVar("request_id", default=None)

# API keys, webhook secrets and bearer headers never reach a log, whoever wrote the line.
_SECRETS = re.compile(r"(ct_(?:live|test)_|whsec_|[Bb]earer )[A-Za-z0-9+/=_-]+")
# What follows these in a path is somebody's credential.
_TOKENS = re.compile(
    r"(/(?:take|offer|join|report|interview(?:/shared)?|invites|offers|interviews)/)[A-Za-z0-9_-]{24,}"
)
# Where the database explains a fault, it quotes the row.
_ROWS = re.compile(r"(DETAIL: )(?:(?!\\n|\n).)*")
# Most lines hold none of these: one look instead of three.
_SUSPECT = re.compile(
    r"ct_|whsec_|earer |/(?:take|offer|join|report|interview|invites|offers|interviews)/|DETAIL"
)
_STANDARD = set(vars(logging.makeLogRecord({}))) | {"message", "taskName", "asctime", "color_message"}


def redact(text: str) -> str:
    """Blank out what must not be read in a log."""
    if not _SUSPECT.search(text):
        return text
    return _ROWS.sub(r"\1…", _TOKENS.sub(r"\1…", _SECRETS.sub(r"\1…", text)))


@lru_cache(1)
def _second(moment: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(moment))


class _Lines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": f"{_second(int(record.created))}.{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if current := request_id.get():
            line["request_id"] = current
        line |= {key: value for key, value in vars(record).items() if key not in _STANDARD}
        if record.exc_info and record.exc_info[0]:
            line["traceback"] = "".join(traceback.format_exception(*record.exc_info))
        return redact(orjson.dumps(line, default=str).decode())


def configure(level: str) -> None:
    """Send every logger's lines to standard error."""
    # Nobody reads these, and each record would look them up.
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Lines())
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level.upper())
    for name, quiet in {
        "httpx": "WARNING",
        "httpcore": "WARNING",
        "httpx2": "WARNING",
        "httpcore2": "WARNING",
        "dramatiq": "WARNING",
        "connexion": "ERROR",
    }.items():
        logging.getLogger(name).setLevel(quiet)
