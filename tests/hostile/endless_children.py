# Tries: the processor with many processes.
# Group: the clock and niceness.
# Watch: the clock and niceness.
# Ends: timeout memory.

import os

for _ in range(6):
    os.fork()
while True:
    pass
