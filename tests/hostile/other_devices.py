# Tries: devices of the machine.
# Group: its file system.
# Watch: its file system.
# Ends: ok.

import os

for name in (
    "mem",
    "kmem",
    "kmsg",
    "vda",
    "sda",
    "fuse",
    "kvm",
    "net/tun",
    "ptmx",
    "tty",
    "console",
    "vsock",
    "loop0",
):
    if os.path.exists(f"/dev/{name}"):
        print("escaped", name)
