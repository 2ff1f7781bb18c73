# Tries: to start processes until nobody else can.
# Group: the count of processes.
# Watch: the count of processes.
# Ends: ok error timeout memory.

bomb() { bomb | bomb & }
bomb
wait
sleep 60
