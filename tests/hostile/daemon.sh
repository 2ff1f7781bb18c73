# Tries: to go on in a session of its own after its end.
# Group: the end of its namespace.
# Watch: the end of its namespace.
# Ends: ok.

setsid nohup sleep 61 > /dev/null 2>&1 &
disown
echo left
