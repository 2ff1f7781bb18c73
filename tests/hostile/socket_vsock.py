# Tries: from a virtual machine to its host, by a socket of another family.
# Group: the filter.
# Watch: the filter.
# Ends: ok.

import socket

try:
    socket.socket(40, 1)
    print("escaped")
except OSError as error:
    print("refused", error.errno)
