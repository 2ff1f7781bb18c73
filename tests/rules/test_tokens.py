"""Tokens, which are typed, pasted and read out of files."""

from rules import audit, tokens


def test_a_token_is_itself_in_a_file_and_no_option_to_a_program() -> None:
    made = [tokens.new_token() for _ in range(2000)]  # of chance alone, one in 64 would begin with "-"
    assert [token for token in made if token.startswith("-") or audit.cell(token) != token] == []
    assert len(set(made)) == 2000
