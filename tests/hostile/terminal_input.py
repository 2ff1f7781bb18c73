# Tries: to type into a terminal of the service.
# Group: no terminal.
# Watch: no terminal.
# Ends: ok.

import fcntl, termios

for end in range(3):
    try:
        fcntl.ioctl(end, termios.TIOCSTI, b"x")
        print("escaped")
    except OSError:
        print("refused")
