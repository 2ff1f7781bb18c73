# Tries: page tables of an enormous empty area.
# Group: its group's memory.
# Watch: its address space.
# Ends: ok memory error.

import mmap

try:
    area = mmap.mmap(-1, 1 << 36, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000)
    for place in range(0, 1 << 36, 1 << 21):
        area[place]
    print("escaped")
except (OSError, ValueError):
    print("refused")
