# Tries: to change the input that it is given.
# Group: its seals.
# Watch: its seals.
# Ends: ok.

import os

for act in (lambda: os.ftruncate(0, 0), lambda: os.write(0, b"x"), lambda: os.pwrite(0, b"x", 0)):
    try:
        act()
        print("escaped")
    except OSError:
        print("refused")
