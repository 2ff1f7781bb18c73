"""Where control groups are looked for, on machines of several kinds."""

import pytest

from gateways.jail import groups
from gateways.jail.groups import Groups

V1 = """30 25 0:26 / {base}/memory rw - cgroup cgroup rw,memory
31 25 0:27 / {base}/pids rw - cgroup cgroup rw,pids
32 25 0:28 / {base}/unified rw - cgroup2 cgroup2 rw
"""
V1_CONTAINER = """30 25 0:26 /docker/abc {base}/memory rw - cgroup cgroup rw,memory
31 25 0:27 /docker/abc {base}/pids rw - cgroup cgroup rw,pids
"""
V2 = "32 25 0:28 / {base} rw - cgroup2 cgroup2 rw\n"


@pytest.mark.parametrize(
    ("mounts", "own", "folders", "expected"),
    [
        (V1, "9:pids:/\n4:memory:/a/b\n0::/", ["memory/a/b", "pids", "unified"], [
            (1, "memory/a/b", "pids"), (2, "unified", "unified")]),
        (V1_CONTAINER, "9:pids:/docker/abc\n4:memory:/docker/abc", ["memory", "pids"], [(1, "memory", "pids")]),
        (V2, "0::/system/hiring/service", ["system/hiring/service"], [
            (2, "system/hiring/service", "system/hiring/service"), (2, "system/hiring", "system/hiring")]),
        ("", "0::/", [], []),
    ],
)  # fmt: skip
def test_groups_are_looked_for_where_the_service_is(monkeypatch, tmp_path, mounts, own, folders, expected):
    for folder in folders:
        (tmp_path / folder).mkdir(parents=True)
    for name, text in (("MOUNTS", mounts.format(base=tmp_path)), ("OWN", own + "\n")):
        (tmp_path / name).write_text(text)
        monkeypatch.setattr(groups, name, str(tmp_path / name))
    wanted = [
        Groups(version, f"{tmp_path}/{memory}", f"{tmp_path}/{pids}") for version, memory, pids in expected
    ]
    assert groups._places() == wanted


def test_a_group_of_version_2_gets_its_limits(monkeypatch, tmp_path):
    written = {}
    monkeypatch.setattr(
        groups, "_write", lambda path, value: written.update({path.rpartition("/")[2]: value})
    )
    group = Groups(2, str(tmp_path), str(tmp_path)).make(1 << 20, 9)
    assert written == {"memory.max": 1 << 20, "memory.swap.max": 0, "memory.oom.group": 1, "pids.max": 9}
    (tmp_path / group.folders[0].rpartition("/")[2] / "memory.events").write_text("low 0\noom_kill 1\n")
    assert len(group.folders) == 1
    assert group.overflowed()


def test_a_machine_without_groups_says_so(monkeypatch, tmp_path):
    monkeypatch.setattr(groups, "OWN", str(tmp_path / "none"))
    assert "cannot be read" in groups.find()
