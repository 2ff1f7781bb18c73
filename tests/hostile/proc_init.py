# Tries: to look into the first process by /proc.
# Group: its rights.
# Watch: its rights.
# Ends: ok.

import os

for name in ("mem", "environ", "maps", "root", "cwd", "exe", "fd/0", "ns/user"):
    try:
        path = f"/proc/1/{name}"
        os.readlink(path) if name in ("root", "cwd", "exe", "ns/user") else open(path, "rb").read(1)
        print("escaped", name)
    except OSError:
        pass
