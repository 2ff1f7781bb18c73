# Tries: the service's own code, settings and what its interpreter knows.
# Group: its file system, and a server that knows nothing.
# Watch: its file system, and a server that knows nothing.
# Ends: ok.

import gc, os, sys

words = ("SECRET_KEY", "DATABASE_URL", "postgresql://", "security.yaml")
if any(word in value for value in (*os.environ, *os.environ.values(), *sys.orig_argv) for word in words):
    print("escaped")
if [
    name for name in sys.modules if name.split(".")[0] in ("gateways", "store", "app", "sqlalchemy", "rules")
]:
    print("escaped: modules")
for folder in sys.path:
    if os.path.exists(f"{folder}/gateways") or os.path.exists(f"{folder}/store"):
        print("escaped: code")
