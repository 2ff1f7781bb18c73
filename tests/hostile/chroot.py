# Tries: another root, to climb out of the present one.
# Group: the filter.
# Watch: the filter.
# Ends: ok.
# Machine: x86_64.

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
result = libc.syscall(161, b"/box")
print("refused" if result == -1 and ctypes.get_errno() == 38 else "escaped")
