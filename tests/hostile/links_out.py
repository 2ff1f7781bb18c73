# Tries: files of the machine by links in its box.
# Group: its namespace of mounts.
# Watch: its namespace of mounts.
# Ends: ok.

import os

for number, path in enumerate(
    ("/etc/shadow", "/root/.bashrc", "/.old/etc/shadow", "/var/log", "/sys/kernel", "/run")
):
    os.symlink(path, f"link{number}")
    if os.path.exists(f"link{number}"):
        print("escaped", path)
