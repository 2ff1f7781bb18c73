# Tries: programs that run as root whoever starts them.
# Group: no new rights.
# Watch: no new rights.
# Ends: ok.

import glob, os, subprocess

for path in glob.glob("/usr/bin/*") + glob.glob("/bin/*"):
    if (
        os.path.isfile(path)
        and os.stat(path).st_mode & 0o4000
        and path.endswith(("su", "mount", "passwd", "newgrp"))
    ):
        subprocess.run([path, "--help"], stdin=subprocess.DEVNULL, capture_output=True, timeout=5)
with open("own", "wb") as file:
    file.write(open("/bin/sh", "rb").read()[:100])
os.chmod("own", 0o4755)
print("escaped" if os.geteuid() == 0 else "refused")
