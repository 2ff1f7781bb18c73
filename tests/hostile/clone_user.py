# Tries: a child in a user namespace, by clone.
# Group: the filter.
# Watch: the filter.
# Ends: ok.
# Machine: x86_64.

import ctypes

libc = ctypes.CDLL(None, use_errno=True)

result = libc.syscall(56, 0x10000000 | 17, 0, 0, 0, 0)
if result == 0:
    libc._exit(0)
print("escaped" if result > 0 else "refused")
