# Tries: watches of epoll, in memory of the kernel.
# Group: its group's memory and the count of open files.
# Watch: the kernel's count.
# Ends: ok memory error timeout.

import os, select

watches, ends = [], list(os.pipe())
try:
    while True:
        watches.append(select.epoll())
        for end in ends:
            watches[-1].register(end)
except OSError:
    print("escaped" if len(watches) > 1000 else f"stopped at {len(watches)}")
