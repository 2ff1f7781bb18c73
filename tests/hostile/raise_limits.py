# Tries: to raise the limits that it has.
# Group: its limits.
# Watch: its limits.
# Ends: ok.

import resource

for name in ("RLIMIT_NPROC", "RLIMIT_NOFILE", "RLIMIT_DATA", "RLIMIT_FSIZE", "RLIMIT_CPU", "RLIMIT_MEMLOCK"):
    try:
        _, hard = resource.getrlimit(getattr(resource, name))
        resource.setrlimit(getattr(resource, name), (hard + 1, hard + 1))
        print("escaped", name)
    except (OSError, ValueError):
        pass
