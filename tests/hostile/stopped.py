# Tries: to stop itself, so that it never ends.
# Group: the clock.
# Watch: the clock.
# Ends: timeout.

import os, signal

os.kill(os.getpid(), signal.SIGSTOP)
