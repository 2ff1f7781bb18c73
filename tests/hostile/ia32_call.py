# Tries: system calls of 32 bits, by `int 0x80`.
# Group: the filter ends it.
# Watch: the filter ends it.
# Ends: error.
# Machine: x86_64.

import ctypes, mmap

area = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
area.write(bytes.fromhex("b814000000cd80c3"))  # mov eax, 20 (getpid); int 0x80; ret
call = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(area)))
print("escaped" if call() > 0 else "refused")
