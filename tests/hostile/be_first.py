# Tries: a better place before the processor than others.
# Group: its rights.
# Watch: its rights.
# Ends: ok.

import os

for change in (lambda: os.nice(-5), lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))):
    try:
        change()
        print("escaped")
    except OSError:
        print("refused")
