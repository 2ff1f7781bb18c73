from rules import events


def test_names_are_noun_and_past_participle():
    assert all(name.count(".") == 1 and name == name.lower() for name in events.NAMES)


def test_a_star_receives_everything_and_a_name_receives_itself():
    assert all(events.subscribes(["*"], name) for name in events.NAMES)
    assert events.subscribes(["job.created", "job.closed"], "job.closed")
    assert not events.subscribes(["job.created"], "job.closed")
    assert not events.subscribes([], "job.closed")


def test_a_mistyped_name_has_a_nearest_one():
    assert events.nearest("invitation.create") == "invitation.created"
    assert events.nearest("zzz") is None
