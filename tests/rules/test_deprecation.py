"""What is going to go says so in headers that clients know."""

from rules import deprecation


def test_an_answer_says_since_when_and_until_when() -> None:
    assert deprecation.notices("2027-01-01", "2028-01-01", "https://hiring.example.com/docs/") == {
        "Deprecation": "@1798761600",
        "Sunset": "Sat, 01 Jan 2028 00:00:00 GMT",
        "Link": '<https://hiring.example.com/docs/>; rel="deprecation"',
    }
