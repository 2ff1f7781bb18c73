# Tries: a filter that asks somebody, to hold calls up.
# Group: the filter.
# Watch: the filter.
# Ends: ok.
# Machine: x86_64.

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
result = libc.syscall(317, 1, 8, (ctypes.c_char * 16)())
print("refused" if result == -1 and ctypes.get_errno() == 38 else "escaped")
