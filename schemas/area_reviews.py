"""The review desk of the area, as a table like that of its other pages."""

from collections.abc import Sequence
from typing import Any

from rules.words import say
from schemas import shared_reports
from schemas.markdown import to_html, to_line
from schemas.sections import Fields, Section

NEXT = 20  # answers of the queue that are read at once to find the next one


def _judged(read: Fields) -> dict[str, Any]:
    """Show an answer as people read it."""
    review = read["review"]
    return {
        "title_html": to_line(review["case_title"]),
        "question_html": to_html(review["question"] or ""),
        "answer": shared_reports.answer(review),
    }


SECTIONS = {
    "reviews": Section(
        say("Reviews"),
        "/area/reviews/",
        "area/reviews.html",
        {"reviews": "list_reviews"},
        "reviews",
        "candidates:read",
        says={
            "nothing": say("Nothing waits that nobody has in hand."),
            "release": say("The answer waits for whoever comes."),
        },
    ),
    "review": Section(
        say("Review"),
        "/area/reviews/{id}/",
        "area/review.html",
        {"review": "get_review"},
        needs="candidates:read",
        is_listed=False,
        says={
            "score": say("Your score is kept. This is the next answer."),
            "claim": say("You have it in hand for 15 minutes."),
            "skip": say("The answer waits for somebody else. This is the next one."),
        },
        makes=_judged,
    ),
}


def score(fields: Fields, order: int) -> dict[str, Any]:
    """Return what the form says of an answer, as `review_result` takes it."""
    points, comment = (str(fields.get(name, "")) for name in ("score", "comment"))
    given = {"case_order": order, "score": points.strip().replace(",", "."), "comment": comment}
    return {"cases": [given]}


def free(queue: Sequence[Fields], me: str, *, but: str) -> list[str]:
    """Return what one may go on with of a queue: what others have in hand is left, and what one comes from."""
    mine = (one["id"] for one in queue if one["claimed_by"] is None or one["claimed_by"]["id"] == me)
    return [id for id in mine if id != but]
