# Tries: to swap a folder for a link while somebody looks.
# Group: nobody looks into its box.
# Watch: nobody looks into its box.
# Ends: ok.

import os, threading, time


def swap(until=time.monotonic() + 0.5):
    while time.monotonic() < until:
        os.mkdir("d")
        os.rmdir("d")
        os.symlink("/etc", "d")
        os.unlink("d")


threading.Thread(target=swap).start()
