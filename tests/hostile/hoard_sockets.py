# Tries: memory in the buffers of sockets, which no process owns.
# Group: its group's memory.
# Watch: nothing but the count of open files: up to about 1.5 GiB, until it ends.
# Ends: ok memory error timeout.

import os, socket, time

held, pairs = 0, []
for child in range(60):
    if os.fork() == 0:
        try:
            while True:
                one, other = socket.socketpair()
                pairs += [one, other]
                for end in (one, other):
                    end.setblocking(False)
                    end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 22)
                    try:
                        while True:
                            end.send(bytes(1 << 16))
                    except BlockingIOError:
                        pass
        except OSError:
            time.sleep(60)
time.sleep(1.5)
