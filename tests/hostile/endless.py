# Tries: the processor without end.
# Group: the clock.
# Watch: the clock.
# Ends: timeout.

while True:
    pass
