# Tries: to start so many processes that sleep as it can.
# Group: the count of processes.
# Watch: the count of processes.
# Ends: ok timeout memory.

import os, time

for number in range(1000):
    try:
        if os.fork() == 0:
            time.sleep(60)
    except OSError:
        break
print("escaped" if number > 200 else f"stopped at {number}")
os._exit(0)
