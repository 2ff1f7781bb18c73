# Tries: to uncover what a mount hides.
# Group: the filter.
# Watch: the filter.
# Ends: ok.
# Machine: x86_64.

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
result = libc.syscall(166, b"/proc", 2)
print("refused" if result == -1 and ctypes.get_errno() == 38 else "escaped")
