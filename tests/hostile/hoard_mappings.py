# Tries: mappings without end, each with a table of the kernel.
# Group: its group's memory and the kernel's count.
# Watch: the kernel's count.
# Ends: ok error memory timeout.

import mmap

areas = []
try:
    while len(areas) < 100000:
        areas.append(mmap.mmap(-1, 4096, prot=mmap.PROT_READ if len(areas) % 2 else mmap.PROT_WRITE))
    print("escaped")
except OSError:
    print("stopped at", len(areas))
