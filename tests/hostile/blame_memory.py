# Tries: to look like a neighbour to whoever ends it.
# Group: its namespace of processes.
# Watch: its namespace of processes.
# Ends: ok.

import ctypes, os

ctypes.CDLL(None).prctl(15, b"hiring work", 0, 0, 0)
os.setpgid(0, 0)
print("renamed")
