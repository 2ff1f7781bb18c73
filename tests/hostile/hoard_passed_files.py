# Tries: open files on their way between sockets, which count as nobody's.
# Group: its group's memory and the kernel's count.
# Watch: the kernel's count of files on their way.
# Ends: ok memory error timeout.

import os, socket

left, right = socket.socketpair()
left.setblocking(False)
sent = 0
try:
    while True:
        end = os.open("/dev/null", os.O_RDONLY)
        socket.send_fds(left, [b"x"], [end] * 50)
        os.close(end)
        sent += 50
except OSError:
    print("escaped" if sent > 20000 else f"stopped at {sent}")
