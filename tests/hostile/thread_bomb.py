# Tries: to start so many threads as it can.
# Group: the count of processes.
# Watch: the count of processes.
# Ends: ok memory timeout.

import os, threading, time

number = 0
try:
    for number in range(5000):
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
except RuntimeError:
    pass
print("escaped" if number > 200 else f"stopped at {number}", flush=True)
os._exit(0)
