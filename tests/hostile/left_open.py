# Tries: to use what the service left open.
# Group: everything closed.
# Watch: everything closed.
# Ends: ok.

import os

opened = []
for end in range(3, 4096):
    try:
        os.write(end, b"x")
        opened.append(end)
    except OSError:
        try:
            os.fstat(end)
            opened.append(end)
        except OSError:
            pass
print("escaped" if opened else "none", opened)
