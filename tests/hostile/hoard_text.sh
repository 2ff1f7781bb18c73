# Tries: memory by doubling a text in bash.
# Group: its group's memory.
# Watch: the watch on memory.
# Ends: memory error timeout.

text=x
while :; do text="$text$text"; done
