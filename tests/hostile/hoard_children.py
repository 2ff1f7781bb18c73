# Tries: memory in many processes, little in each.
# Group: its group's memory.
# Watch: the watch on memory.
# Ends: memory timeout.

import os, time

for number in range(40):
    if os.fork() == 0:
        data = bytearray(b"x") * (20 << 20)
        time.sleep(60)
time.sleep(60)
