# Tries: to have everybody's files written out, which all wait for.
# Group: the filter.
# Watch: the filter.
# Ends: ok.
# Machine: x86_64.

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
result = libc.syscall(162)
print("refused" if result == -1 and ctypes.get_errno() == 38 else "escaped")
