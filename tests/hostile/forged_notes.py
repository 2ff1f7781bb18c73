# Tries: to write to its supervisor that it ended well.
# Group: everything closed.
# Watch: everything closed.
# Ends: error.

import os

for end in range(256):
    try:
        os.write(end, b"ended 0\ninit 1\n")
    except OSError:
        pass
os._exit(7)
