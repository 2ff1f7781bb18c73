# Tries: a copy of the tree of mounts.
# Group: the filter.
# Watch: the filter.
# Ends: ok.
# Machine: x86_64.

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
result = libc.syscall(428, -100, b"/", 1)
print("refused" if result == -1 and ctypes.get_errno() == 38 else "escaped")
