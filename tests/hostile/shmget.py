# Tries: shared memory that outlives its process.
# Group: the filter.
# Watch: the filter.
# Ends: ok.
# Machine: x86_64.

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
result = libc.syscall(29, 0, 1 << 20, 0o1600)
print("refused" if result == -1 and ctypes.get_errno() == 38 else "escaped")
