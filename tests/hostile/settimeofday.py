# Tries: to set the machine's clock.
# Group: the filter.
# Watch: the filter.
# Ends: ok.
# Machine: x86_64.

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
result = libc.syscall(164, (ctypes.c_long * 2)(), None)
print("refused" if result == -1 and ctypes.get_errno() == 38 else "escaped")
