# Tries: to be adopted and to go on after its end.
# Group: the end of its namespace.
# Watch: the end of its namespace.
# Ends: ok.

import os, time

if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.closerange(0, 9)
        time.sleep(61)
    os._exit(0)
print("left")
