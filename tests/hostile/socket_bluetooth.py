# Tries: bluetooth, by a socket of another family.
# Group: the filter.
# Watch: the filter.
# Ends: ok.

import socket

try:
    socket.socket(31, 3)
    print("escaped")
except OSError as error:
    print("refused", error.errno)
