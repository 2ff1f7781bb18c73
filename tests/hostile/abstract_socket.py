# Tries: abstract sockets of the machine.
# Group: its namespace of networks.
# Watch: its namespace of networks.
# Ends: ok.

import socket

for name in ("\0/tmp/.X11-unix/X0", "\0dbus", "\0hiring"):
    try:
        socket.socket(socket.AF_UNIX).connect(name)
        print("escaped")
    except OSError:
        print("refused")
if any(line for line in open("/proc/net/unix").readlines()[1:]):
    print("escaped: others are seen")
