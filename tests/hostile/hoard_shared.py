# Tries: shared memory without a name.
# Group: its group's memory.
# Watch: the watch on memory.
# Ends: memory timeout.

import mmap

areas = []
while True:
    areas.append(mmap.mmap(-1, 8 << 20))
    areas[-1].write(b"x" * (8 << 20))
