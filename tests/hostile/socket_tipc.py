# Tries: a cluster of machines, by a socket of another family.
# Group: the filter.
# Watch: the filter.
# Ends: ok.

import socket

try:
    socket.socket(30, 1)
    print("escaped")
except OSError as error:
    print("refused", error.errno)
