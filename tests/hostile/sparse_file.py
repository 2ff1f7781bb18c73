# Tries: a file that is larger than the disk.
# Group: the limit of files.
# Watch: the limit of files.
# Ends: ok error.

import signal

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
try:
    with open("f", "wb") as file:
        file.truncate(1 << 40)
    print("escaped")
except OSError:
    print("refused")
