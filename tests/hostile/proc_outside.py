# Tries: files of the machine by links in /proc.
# Group: its namespace of mounts.
# Watch: its namespace of mounts.
# Ends: ok.

import glob, os

for path in [
    *glob.glob("/proc/*/root/etc/shadow"),
    *glob.glob("/proc/*/cwd/../etc/shadow"),
    "/proc/self/root/root/.bashrc",
]:
    if os.path.exists(path):
        print("escaped", path)
