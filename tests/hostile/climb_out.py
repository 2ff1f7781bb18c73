# Tries: out of its root by a folder that it keeps open.
# Group: its namespace of mounts.
# Watch: its namespace of mounts.
# Ends: ok.

import os

end = os.open("/", os.O_RDONLY)
os.chdir("/")
for _ in range(50):
    os.chdir("..")
print(
    "escaped" if os.path.exists("etc/shadow") or os.path.exists("root/.profile") else "inside",
    os.listdir(".")[:0],
)
