# Tries: a map of programs in the kernel.
# Group: the filter.
# Watch: the filter.
# Ends: ok.
# Machine: x86_64.

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
result = libc.syscall(321, 0, (ctypes.c_char * 72)(), 72)
print("refused" if result == -1 and ctypes.get_errno() == 38 else "escaped")
