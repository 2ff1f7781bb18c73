# Tries: to keep its output open after its end.
# Group: the end of its namespace.
# Watch: the end of its namespace.
# Ends: ok.

sleep 61 &
echo left
