# Tries: a number that no kernel has yet.
# Group: the filter.
# Watch: the filter.
# Ends: ok.
# Machine: x86_64.

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
result = libc.syscall(600)
print("refused" if result == -1 and ctypes.get_errno() == 38 else "escaped")
