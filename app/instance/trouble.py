"""What a person at the terminal can put right."""


class Trouble(Exception):
    """Something the operator has to change; the text says what is wrong and what helps."""
