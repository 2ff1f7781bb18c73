# Tries: a namespace of time, which no flag of clone names.
# Group: the filter.
# Watch: the filter.
# Ends: ok.
# Machine: x86_64.

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
result = libc.syscall(272, 0x80)
print("refused" if result == -1 and ctypes.get_errno() == 38 else "escaped")
