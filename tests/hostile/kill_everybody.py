# Tries: to end whatever it sees, its supervisor first.
# Group: its namespace of processes.
# Watch: its namespace of processes.
# Ends: ok.

import os, signal

for number in (signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM):
    try:
        os.kill(1, number)
    except OSError:
        pass
seen = (
    sorted(int(name) for name in os.listdir("/proc") if name.isdigit()) if os.path.isdir("/proc/self") else []
)
print("escaped" if set(seen) - {1, os.getpid()} else "alone")
