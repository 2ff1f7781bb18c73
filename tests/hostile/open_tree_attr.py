# Tries: a copy of the tree of mounts, by a new call that older lists do not know.
# Group: the filter.
# Watch: the filter.
# Ends: ok.
# Machine: x86_64.

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
result = libc.syscall(467, -100, b"/", 1, None, 0)
print("refused" if result == -1 and ctypes.get_errno() == 38 else "escaped")
