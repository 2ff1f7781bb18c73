# Tries: locks on a file without end.
# Group: its group's memory.
# Watch: the time it has.
# Ends: ok memory timeout error.

import fcntl

with open("f", "w") as file:
    for place in range(300000):
        fcntl.lockf(file, fcntl.LOCK_EX, 1, place * 2)
print("stopped")
