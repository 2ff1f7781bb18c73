# Tries: to set quotas.
# Group: the filter.
# Watch: the filter.
# Ends: ok.
# Machine: x86_64.

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
result = libc.syscall(179, 0x80000001, b"/dev/vda", 0, None)
print("refused" if result == -1 and ctypes.get_errno() == 38 else "escaped")
