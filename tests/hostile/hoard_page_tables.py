# Tries: page tables of an enormous empty area.
# Group: its address space and its group's memory.
# Watch: its address space.
# Ends: ok memory error timeout.

import mmap

try:
    area = mmap.mmap(-1, 1 << 38, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000)
    area.madvise(15)  # small pages only
    for place in range(0, 1 << 38, 1 << 21):
        area[place]
except (OSError, ValueError):
    pass
[size] = [line.split()[1] for line in open("/proc/self/status") if line.startswith("VmPTE")]
print("held", int(size) >> 10)
