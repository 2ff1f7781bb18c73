# Tries: capabilities back.
# Group: its rights.
# Watch: its rights.
# Ends: ok.

status = dict(line.split(":", 1) for line in open("/proc/self/status"))
held = [name for name in ("CapInh", "CapPrm", "CapEff", "CapAmb") if int(status[name], 16)]
print("escaped" if held or status["NoNewPrivs"].strip() != "1" else "none", held)
