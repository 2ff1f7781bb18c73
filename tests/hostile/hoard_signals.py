# Tries: signals that wait, in memory of the kernel.
# Group: the count of signals.
# Watch: the count of signals.
# Ends: ok timeout.

import ctypes, os, signal

signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGRTMIN])
libc, sent = ctypes.CDLL(None), 0
while sent < 100000 and libc.sigqueue(os.getpid(), int(signal.SIGRTMIN), 0) == 0:
    sent += 1
print("escaped" if sent > 5000 else f"stopped at {sent}")
