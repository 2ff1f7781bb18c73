# Tries: packets as they are, by an Internet socket.
# Group: its rights.
# Watch: its rights.
# Ends: ok.

import socket

for family in (socket.AF_INET, socket.AF_INET6):
    try:
        socket.socket(family, socket.SOCK_RAW, 1)
        print("escaped")
    except OSError:
        print("refused")
