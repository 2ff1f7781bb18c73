# Tries: a key that somebody else keeps.
# Group: the filter.
# Watch: the filter.
# Ends: ok.
# Machine: x86_64.

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
result = libc.syscall(249, b"user", b"name", None, -2)
print("refused" if result == -1 and ctypes.get_errno() == 38 else "escaped")
