# Tries: a child in a user namespace, with flags behind a pointer.
# Group: the filter.
# Watch: the filter.
# Ends: ok.
# Machine: x86_64.

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
result = libc.syscall(435, (ctypes.c_ulong * 11)(0x10000000), 88)
print("refused" if result == -1 and ctypes.get_errno() == 38 else "escaped")
