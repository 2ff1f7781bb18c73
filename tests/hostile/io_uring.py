# Tries: a ring by which calls are made that no filter sees.
# Group: the filter.
# Watch: the filter.
# Ends: ok.
# Machine: x86_64.

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
result = libc.syscall(425, 8, (ctypes.c_char * 120)())
print("refused" if result == -1 and ctypes.get_errno() == 38 else "escaped")
