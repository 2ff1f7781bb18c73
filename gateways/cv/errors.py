"""Why a file could not be read."""


class UnreadableError(Exception):
    """The file cannot be read; the message says why in a sentence."""
