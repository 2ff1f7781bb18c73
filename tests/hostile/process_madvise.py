# Tries: to have another process's memory written out.
# Group: the filter.
# Watch: the filter.
# Ends: ok.
# Machine: x86_64.

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
result = libc.syscall(440, 0, 0, 0, 0, 0)
print("refused" if result == -1 and ctypes.get_errno() == 38 else "escaped")
