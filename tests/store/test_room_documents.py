"""A room's document, whatever the order in which its updates come."""

import random
from typing import Any

import pytest
from pycrdt import Doc, Text

from store.interviewing import documents


def typed(seed: int) -> tuple[str, list[bytes]]:
    """Have two type at once, who now and then hear each other; return what stands there, and the updates."""
    chance = random.Random(seed)
    sides: list[tuple[Any, Any, list[bytes]]] = []
    for _ in range(2):
        doc: Any = Doc()
        sides.append((doc, doc.get("code", type=Text), []))
    made = []
    for number in range(30):
        (doc, text, _), (_, _, others) = sides[number % 2], sides[1 - number % 2]
        before = doc.get_state()
        text.insert(chance.choice((0, len(text))), f"{number}; ")
        made.append(doc.get_update(before))
        others.append(made[-1])
        if chance.random() < 0.7 or number == 29:
            for doc, _, missed in sides:
                while missed:
                    doc.apply_update(missed.pop(0))
    assert str(sides[0][1]) == str(sides[1][1])
    return str(sides[0][1]), made


@pytest.mark.parametrize("seed", range(10))
def test_updates_in_any_order_make_one_document(seed):
    text, made = typed(seed)
    random.Random(seed).shuffle(made)
    assert documents.read(made, ["code"]).texts["code"] == text
    assert documents.read([documents.compact(made)], ["code"]).texts["code"] == text


def test_nothing_is_lost_where_updates_are_put_together_before_what_they_build_upon():
    text, made = typed(0)
    for late in range(len(made)):
        early = documents.compact(made[:late] + made[late + 1 :])
        assert documents.read([early, made[late]], ["code"]).texts["code"] == text


def test_what_was_deleted_is_not_kept():
    doc: Any = Doc()
    text = doc.get("code", type=Text)
    text += "secret " * 100
    before = doc.get_update()
    text.clear()
    assert len(documents.compact([before, doc.get_update()])) < 50
