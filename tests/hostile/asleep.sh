# Tries: its place without using it.
# Group: the clock.
# Watch: the clock.
# Ends: timeout.

trap "" TERM INT HUP XCPU
while :; do sleep 1; done
