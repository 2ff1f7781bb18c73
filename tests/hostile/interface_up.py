# Tries: to switch its own network on.
# Group: its rights.
# Watch: its rights.
# Ends: ok.

import fcntl, socket, struct

end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
try:
    fcntl.ioctl(end, 0x8914, struct.pack("16sh", b"lo", 1) + bytes(22))
    print("escaped")
except OSError:
    print("refused")
