"""What a person at the terminal can put right."""


class Trouble(Exception):  # noqa: N818 - it is shown to people as it stands
    """Something the operator has to change; the text says what is wrong and what helps."""
