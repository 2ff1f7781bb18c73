# Tries: more output than anybody can keep.
# Group: the limit of output.
# Watch: the limit of output.
# Ends: output_limit.

import os

while True:
    os.write(1, b"x" * 65536)
