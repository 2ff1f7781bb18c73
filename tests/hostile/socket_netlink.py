# Tries: the kernel's own tables of the network, by a socket of another family.
# Group: the filter.
# Watch: the filter.
# Ends: ok.

import socket

try:
    socket.socket(16, 3)
    print("escaped")
except OSError as error:
    print("refused", error.errno)
