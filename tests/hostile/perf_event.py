# Tries: the processor's counters, to look at neighbours.
# Group: the filter.
# Watch: the filter.
# Ends: ok.
# Machine: x86_64.

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
result = libc.syscall(298, (ctypes.c_char * 120)(), 0, -1, -1, 0)
print("refused" if result == -1 and ctypes.get_errno() == 38 else "escaped")
