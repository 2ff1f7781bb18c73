# Tries: to mount a file system over its box.
# Group: the filter.
# Watch: the filter.
# Ends: ok.
# Machine: x86_64.

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
result = libc.syscall(165, b"none", b"/box", b"tmpfs", 0, None)
print("refused" if result == -1 and ctypes.get_errno() == 38 else "escaped")
