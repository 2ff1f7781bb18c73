"""Identifiers: made one after the other, they are listed so, also within one millisecond."""

import threading
from itertools import pairwise

from store.database.ids import new_id


def test_ids_of_one_process_sort_as_they_were_made_whichever_thread_makes_them() -> None:
    made: list[list[int]] = [[] for _ in range(4)]
    turn = threading.Lock()
    ids: list[int] = []

    def make(mine: list[int]) -> None:
        for _ in range(20_000):
            mine.append(new_id().int)
            with turn:
                ids.append(new_id().int)

    threads = [threading.Thread(target=make, args=(mine,)) for mine in made]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert all(before < after for mine in (*made, ids) for before, after in pairwise(mine))
    assert len({id >> 80 for id in ids}) < len(ids) / 10, "many ids of each millisecond"
