# Tries: to be ended later than others when memory is short.
# Group: its rights.
# Watch: its rights.
# Ends: ok.

try:
    with open("/proc/self/oom_score_adj", "w") as file:
        file.write("-1000")
    print("escaped")
except OSError:
    print("refused")
