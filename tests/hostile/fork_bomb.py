# Tries: to start processes until nobody else can.
# Group: the count of processes.
# Watch: the count of processes.
# Ends: ok error timeout memory.

import os

while True:
    try:
        os.fork()
    except OSError:
        pass
