# Tries: a pair of sockets of another family.
# Group: the filter.
# Watch: the filter.
# Ends: ok.

import ctypes

libc = ctypes.CDLL(None, use_errno=True)

result = libc.socketpair(30, 1, 0, (ctypes.c_int * 2)())
print("escaped" if result == 0 else "refused")
