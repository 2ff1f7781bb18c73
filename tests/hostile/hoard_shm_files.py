# Tries: files in /dev/shm.
# Group: the folder's size.
# Watch: the folder's size.
# Ends: ok error timeout.

import os

held = 0
try:
    with open("/dev/shm/x", "wb") as file:
        while True:
            held += file.write(bytes(1 << 20))
except OSError:
    print("held", held >> 20)
