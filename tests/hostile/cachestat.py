# Tries: to see which files of the machine others use.
# Group: the filter.
# Watch: the filter.
# Ends: ok.
# Machine: x86_64.

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
result = libc.syscall(451, 0, (ctypes.c_ulong * 2)(), (ctypes.c_ulong * 5)(), 0)
print("refused" if result == -1 and ctypes.get_errno() == 38 else "escaped")
