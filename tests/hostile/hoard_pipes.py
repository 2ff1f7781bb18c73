# Tries: memory in the buffers of pipes.
# Group: its group's memory.
# Watch: the limit of each user: 64 MiB.
# Ends: ok memory timeout.

import fcntl, os

held, ends = 0, []
try:
    while True:
        ends += os.pipe()
        try:
            fcntl.fcntl(ends[-1], 1031, 1 << 20)  # F_SETPIPE_SZ
        except OSError:
            pass
        os.set_blocking(ends[-1], False)
        try:
            while True:
                held += os.write(ends[-1], bytes(1 << 16))
        except BlockingIOError:
            pass
except OSError:
    print("held", held >> 20)
