# Tries: timers by the hundred thousand, in memory of the kernel.
# Group: the filter.
# Watch: the filter.
# Ends: ok.
# Machine: x86_64.

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
result = libc.syscall(222, 1, None, (ctypes.c_int * 1)())
print("refused" if result == -1 and ctypes.get_errno() == 38 else "escaped")
