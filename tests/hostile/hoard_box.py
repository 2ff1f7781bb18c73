# Tries: files in its box.
# Group: the box's size.
# Watch: the box's size.
# Ends: ok timeout.

held = 0
try:
    for number in range(100):
        with open(f"f{number}", "wb", 0) as file:
            held += file.write(bytes(4 << 20))
except OSError:
    pass
print("held", held >> 20)
