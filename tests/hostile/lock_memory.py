# Tries: memory that may not be written out.
# Group: its limits.
# Watch: its limits.
# Ends: ok.

import ctypes

libc = ctypes.CDLL(None, use_errno=True)

area = ctypes.create_string_buffer(1 << 20)
print("escaped" if libc.mlock(area, 1 << 20) == 0 else "refused")
