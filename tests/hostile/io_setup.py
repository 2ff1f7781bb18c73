# Tries: a ring for asynchronous input and output, whose pages nobody counts.
# Group: the filter.
# Watch: the filter.
# Ends: ok.
# Machine: x86_64.

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
result = libc.syscall(206, 64, (ctypes.c_ulong * 1)())
print("refused" if result == -1 and ctypes.get_errno() == 38 else "escaped")
