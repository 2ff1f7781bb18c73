# Tries: system calls under the numbers of x32.
# Group: the filter ends it.
# Watch: the filter ends it.
# Ends: error.
# Machine: x86_64.

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
print("escaped", libc.syscall(0x40000000 + 39))
