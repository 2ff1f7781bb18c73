# Tries: to learn the numbers by which files could be opened.
# Group: the filter.
# Watch: the filter.
# Ends: ok.
# Machine: x86_64.

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
result = libc.syscall(303, -100, b"/box", (ctypes.c_char * 136)(), (ctypes.c_int * 1)(), 0)
print("refused" if result == -1 and ctypes.get_errno() == 38 else "escaped")
