# Tries: a queue of messages, whose memory is its user's.
# Group: the filter.
# Watch: the filter.
# Ends: ok.
# Machine: x86_64.

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
result = libc.syscall(240, b"/x", 0o102, 0o600, None)
print("refused" if result == -1 and ctypes.get_errno() == 38 else "escaped")
