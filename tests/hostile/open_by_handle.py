# Tries: to open files by numbers, past every path.
# Group: the filter.
# Watch: the filter.
# Ends: ok.
# Machine: x86_64.

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
result = libc.syscall(304, 0, (ctypes.c_char * 136)(), 0)
print("refused" if result == -1 and ctypes.get_errno() == 38 else "escaped")
