# Tries: to end all processes that it may.
# Group: its namespace of processes.
# Watch: its namespace of processes.
# Ends: ok error memory.

kill -9 -1
echo went on
