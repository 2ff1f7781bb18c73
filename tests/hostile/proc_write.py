# Tries: to change the kernel by /proc.
# Group: its rights.
# Watch: its rights.
# Ends: ok.

for path in (
    "/proc/sys/kernel/core_pattern",
    "/proc/sysrq-trigger",
    "/proc/self/uid_map",
    "/proc/sys/kernel/modprobe",
    "/proc/sys/vm/overcommit_memory",
    "/proc/self/setgroups",
    "/proc/sys/kernel/ns_last_pid",
    "/proc/1/oom_score_adj",
):
    try:
        with open(path, "w") as file:
            file.write("1")
        print("escaped", path)
    except OSError:
        pass
