# Tries: memory of its own, in one go and bit by bit.
# Group: its group's memory.
# Watch: the watch on memory.
# Ends: memory timeout.

data = []
while True:
    data.append(bytearray(b"x") * (1 << 20))
