# Tries: the rights of root.
# Group: its rights.
# Watch: its rights.
# Ends: ok.

import os

for change in (
    lambda: os.setuid(0),
    lambda: os.setresuid(0, 0, 0),
    lambda: os.setgid(0),
    lambda: os.setgroups([0]),
):
    try:
        change()
        print("escaped")
    except OSError:
        print("refused")
