# Tries: the network, the machine itself, and the address of clouds.
# Group: its namespace of networks.
# Watch: its namespace of networks.
# Ends: ok.

import socket

for address in (("127.0.0.1", 5432), ("127.0.0.1", 6379), ("169.254.169.254", 80), ("192.0.2.1", 443)):
    try:
        socket.create_connection(address, 1)
        print("escaped", address)
    except OSError:
        print("refused")
