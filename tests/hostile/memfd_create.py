# Tries: a file in memory that belongs to no process.
# Group: the filter.
# Watch: the filter.
# Ends: ok.
# Machine: x86_64.

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
result = libc.syscall(319, b"x", 0)
print("refused" if result == -1 and ctypes.get_errno() == 38 else "escaped")
