# Tries: to make the read-only root writable.
# Group: the filter.
# Watch: the filter.
# Ends: ok.
# Machine: x86_64.

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
result = libc.syscall(442, -100, b"/", 0x8000, (ctypes.c_char * 32)(), 32)
print("refused" if result == -1 and ctypes.get_errno() == 38 else "escaped")
