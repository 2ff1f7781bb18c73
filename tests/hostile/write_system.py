# Tries: to change programs of the machine.
# Group: its file system.
# Watch: its file system.
# Ends: ok.

import os

for path in (
    "/usr/bin/env",
    "/bin/sh",
    "/usr/lib/os-release",
    "/etc/passwd",
    "/dev/full",
    "/etc/ld.so.preload",
):
    try:
        os.chmod(path, 0o777)
        print("escaped", path)
    except OSError:
        pass
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT))
        print("escaped" if not path.startswith("/dev") else "", path)
    except OSError:
        pass
