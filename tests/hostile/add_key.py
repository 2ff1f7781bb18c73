# Tries: a key in the keyring of the session.
# Group: the filter.
# Watch: the filter.
# Ends: ok.
# Machine: x86_64.

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
result = libc.syscall(248, b"user", b"name", b"data", 4, -2)
print("refused" if result == -1 and ctypes.get_errno() == 38 else "escaped")
