-- Tries: another database file, outside of its box.
-- Group: its file system.
-- Watch: its file system.
-- Ends: error.

ATTACH DATABASE '/etc/passwd.db' AS other
