# Tries: empty files without end.
# Group: the box's count of files.
# Watch: the box's count of files.
# Ends: ok timeout.

number = 0
try:
    for number in range(100000):
        open(f"f{number}", "w").close()
except OSError:
    pass
print("escaped" if number > 5000 else f"stopped at {number}")
